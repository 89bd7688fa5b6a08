"""The checkpoint is a published document: what outside scripts read must not change by accident."""

import json
from pathlib import Path

from sweeper.model import Checkpoint

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden" / "checkpoint-1.json"
PUBLISHED = ROOT / ".github" / "schemas" / "checkpoint-1.json"


def test_the_published_schema_is_the_models_own() -> None:
    assert json.loads(PUBLISHED.read_text()) == Checkpoint.model_json_schema()


def test_a_checkpoint_written_by_the_first_version_is_read_whole() -> None:
    written = json.loads(GOLDEN.read_text())
    assert json.loads(Checkpoint.model_validate(written).model_dump_json()) == written
