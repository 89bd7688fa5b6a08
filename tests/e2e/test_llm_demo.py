"""`sweeper demo --agent llm`: a model mends the sample, without an account and without a network."""

from pathlib import Path

import pytest

from adapters.models.recorded.ledger import read_ledger
from tests.support.commands import environment, running_on, sweeper

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_a_model_mends_the_sample_and_each_answer_was_asked_for_once(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    told = sweeper("demo", "--agent", "llm", "--json", env=environment(state_dir)).document_as(0)
    assert told["outcome"] == "merged"
    assert told["worker_kills"] == 1
    (ledger,) = state_dir.rglob("model/ledger.jsonl")
    asked = read_ledger(ledger)
    assert asked.total == asked.distinct == 5
    assert running_on(state_dir) == []
