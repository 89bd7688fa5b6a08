"""Hostile agents in the real sandbox, on real worktrees: none of them gets anything out, or leaves anything behind."""

from collections.abc import Iterator

import pytest

from adapters.sandbox import Bubblewrap
from tests.security.agents import HOSTILE, Hostile
from tests.security.agents.running import Arena, arena
from tests.security.selection import commit, part
from tests.support.sandboxes import usable


@pytest.fixture(scope="module")
def sandbox() -> Bubblewrap:
    return Bubblewrap()


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory, sandbox: Bubblewrap) -> Iterator[Arena]:
    place = tmp_path_factory.mktemp("agents")
    place.parent.chmod(0o755)
    with arena(place, sandbox) as made:
        yield made


AT_ONCE = 30
"""Agents that a run of `make test` takes; `make security-report` takes all."""


@pytest.mark.slow
@pytest.mark.parametrize("case", part(HOSTILE, AT_ONCE, commit()), ids=lambda case: case.name.replace(" ", "-"))
async def test_a_hostile_agent_is_contained(case: Hostile, ground: Arena, sandbox: Bubblewrap) -> None:
    await usable(sandbox)
    assert (await ground.attack(case)).wrongs() == []


def test_the_corpus_is_large_and_its_names_differ() -> None:
    assert len(HOSTILE) >= 30
    assert len({case.name for case in HOSTILE}) == len(HOSTILE)
