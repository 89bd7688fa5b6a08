"""Malicious repositories through the real verifier, git and sandbox: nothing gets out or stays, no wrong answer."""

from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap
from tests.security.malicious import MALICIOUS, Malicious
from tests.security.malicious.running import contained, planted_host
from tests.support.sandboxes import usable


@pytest.fixture(scope="module")
def sandbox() -> Bubblewrap:
    return Bubblewrap()


@pytest.mark.slow
@pytest.mark.parametrize("case", MALICIOUS, ids=lambda case: case.name.replace(" ", "-"))
async def test_is_contained_and_rightly_answered(case: Malicious, tmp_path: Path, sandbox: Bubblewrap) -> None:
    found = await contained(case, tmp_path, await usable(sandbox))
    assert found.wrongs == (), found.verdict.reason


def test_what_is_done_to_the_host_is_seen(tmp_path: Path) -> None:
    with planted_host(tmp_path) as host:
        assert list(host.wrongs()) == []
        (tmp_path / "outside" / "written").touch()
        assert list(host.wrongs()) == ["something was written or run on the host"]


def test_the_corpus_is_large_and_its_names_differ() -> None:
    assert len(MALICIOUS) >= 30
    assert len({case.name for case in MALICIOUS}) == len(MALICIOUS)
