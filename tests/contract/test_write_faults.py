"""Every write against every fault, before and after its effect: it happens once, or not at all where it is refused.

A call is repeated as Temporal repeats it, by the class of its error, and once more when all that was under way has
landed: the next look is what brings doubles down to one.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import count
from typing import get_args

import pytest
import pytest_asyncio

from adapters.github import GitHubHost
from adapters.loopback.drive.requests import FaultKind
from adapters.loopback.drive_client import DriveClient
from sweeper.errors import MergeRefused, RateLimited, Retry, SweeperError
from sweeper.model import Effect, EffectState
from tests.support.github_loopback import access_by_token
from tests.support.loopback import running_loopback
from tests.support.loopback_scene import LoopbackScene
from tests.support.write_rows import ROWS, Call, Row, writes_of_the_port

pytestmark = pytest.mark.slow

KINDS: tuple[str, ...] = get_args(FaultKind)
REFUSALS = {"405", "422", "403_resource"}
LATE = {"hold", "slow"}
TRIES = 10
CASES = [(kind, when) for kind in KINDS for when in ("before", "after") if (kind, when) != ("stale_read", "after")]
"""A stale read has no before and after."""


@dataclass(frozen=True)
class Stage:
    """The write at hand, a GitHub, and two clients: one that waits for answers and one that soon does not."""

    row: Row
    drive: DriveClient
    patient: GitHubHost
    impatient: GitHubHost


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=ROWS)
async def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One GitHub for each write."""
    async with running_loopback(tmp_path_factory.mktemp("github")) as (info, drive):
        access = access_by_token(info)
        patient, impatient = GitHubHost(access), GitHubHost(access.model_copy(update={"timeout_seconds": 1}))
        yield Stage(ROWS[request.param], drive, patient, impatient)
        patient.close()
        impatient.close()


NUMBERS: Iterator[int] = count(1)


@pytest_asyncio.fixture(loop_scope="module")
async def scene(stage: Stage) -> AsyncIterator[LoopbackScene]:
    """A repository of its own."""
    scene = LoopbackScene(stage.drive, stage.patient, f"octo/app{next(NUMBERS)}")
    await scene.begin()
    yield scene
    await stage.drive.faults()


async def settle(scene: LoopbackScene, call: Call) -> Effect | None:
    """Until it is answered or refused for good (None)."""
    for _ in range(TRIES):
        try:
            return await call()
        except RateLimited:
            await scene.drive.faults()
        except MergeRefused:
            continue
        except SweeperError as error:
            if error.retry is not Retry.SOON:
                return None
    raise AssertionError("it never settled")


async def all_landed(scene: LoopbackScene, kind: str, when: str, since: int) -> None:
    """A held call is noted when it is held and when it is done, a slow one when it is done."""
    notes = 2 if (kind, when) == ("hold", "before") else 1
    async with asyncio.timeout(20):
        while sum(call.fault == kind for call in (await scene.calls())[since:]) < notes:
            await asyncio.sleep(0.02)


def is_refused(row: Row, kind: str, when: str) -> bool:
    """Whether it must not happen. A merge that may not be yet (405) is asked for again."""
    return when == "before" and kind in REFUSALS and (row.method, kind) != ("merge_pull", "405")


def test_every_write_of_the_port_has_a_row() -> None:
    assert {row.method for row in ROWS.values()} == writes_of_the_port()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("kind", "when"), CASES)
async def test_it_happens_once_whatever_github_answers(
    stage: Stage, scene: LoopbackScene, kind: str, when: str
) -> None:
    row = stage.row
    call = await row.prepare(scene)
    if kind == "stale_read":
        await call()
    since = len(await scene.calls())
    await scene.drive.faults(row.fault(scene, kind, when))

    scene.host = stage.impatient if kind in LATE else stage.patient
    effect = await settle(scene, call)
    scene.host = stage.patient
    await scene.drive.faults()
    await all_landed(scene, kind, when, since)

    if is_refused(row, kind, when):
        assert effect is None or effect.state is EffectState.SKIPPED
        assert await row.times(scene) == 0
        return
    last = await call()
    assert last.state is EffectState.DEDUPLICATED, "the look finds what happened"
    assert await row.times(scene) == 1
    assert (await call()).note == "", "nothing is left to be brought down"
