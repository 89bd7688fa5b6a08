"""Every write that goes by git against every fault, before and after its effect: the branch moves once.

git has few words for what HTTP says, so nothing it is told is taken for a refusal except what names one; whoever is
refused by 401 or 403 is let in again by an operator, so such a call is repeated too.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from inspect import get_annotations
from itertools import count
from pathlib import Path
from typing import get_args

import pytest
import pytest_asyncio

from adapters.github import GitHubHost
from adapters.loopback.drive.requests import FaultKind, FaultRule
from adapters.loopback.drive_client import DriveClient
from sweeper.errors import AuthBroken, Retry, SweeperError
from sweeper.model import Effect, EffectState
from sweeper.ports import Workspaces
from tests.contract.test_worktrees_port import META, REF
from tests.support.github_loopback import access_by_token
from tests.support.loopback import running_loopback
from tests.support.loopback_scene import LoopbackScene
from tests.support.recording import RecordingStore

pytestmark = pytest.mark.slow

BRANCH = "sweeper/1-1"
KINDS: tuple[str, ...] = get_args(FaultKind)
TRIES = 5
NUMBERS: Iterator[int] = count(1)
Call = Callable[[], Awaitable[Effect]]


@dataclass(frozen=True)
class Stage:
    """A GitHub with its git, and this host's worktrees."""

    drive: DriveClient
    host: GitHubHost
    store: RecordingStore


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with running_loopback(tmp_path_factory.mktemp("github")) as (info, drive):
        host = GitHubHost(access_by_token(info))
        yield Stage(drive, host, RecordingStore(tmp_path_factory.mktemp("state"), "here"))
        host.close()


@pytest_asyncio.fixture(loop_scope="module")
async def scene(stage: Stage) -> AsyncIterator[LoopbackScene]:
    """A repository of its own."""
    scene = LoopbackScene(stage.drive, stage.host, f"octo/app{next(NUMBERS)}")
    await scene.begin()
    yield scene
    await stage.drive.faults()


async def _push(stage: Stage, scene: LoopbackScene) -> Call:
    seen, access = await scene.seen(), await stage.host.git_access(scene.repository)
    await stage.store.fetch(seen.id, [seen.branches["main"]], access)
    workspace = await stage.store.create(seen.id, "sweep-1-1", seen.branches["main"])
    Path(workspace.path, "README").write_text("fixed\n")
    patch = await stage.store.snapshot(workspace, META, REF)
    assert patch is not None
    fix = patch.commit
    return lambda: stage.store.push(seen.id, BRANCH, fix, None, access, "k")


async def _delete(stage: Stage, scene: LoopbackScene) -> Call:
    call = await _push(stage, scene)
    ours = (await call()).ref.rpartition("@")[2]
    seen, access = await scene.seen(), await stage.host.git_access(scene.repository)
    return lambda: stage.store.delete_branch(seen.id, BRANCH, ours, access, "k")


WRITES: dict[str, Callable[[Stage, LoopbackScene], Awaitable[Call]]] = {"push": _push, "delete_branch": _delete}
EFFECTS = {"push": "branch.push", "delete_branch": "branch.delete"}


async def times(scene: LoopbackScene, effect: str) -> int:
    calls = await scene.calls()
    return sum(call.effect == effect and (call.key or "").startswith(f"{scene.repository} ") for call in calls)


async def settle(call: Call) -> Effect:
    for _ in range(TRIES):
        try:
            return await call()
        except AuthBroken:
            continue
        except SweeperError as error:
            if error.retry is not Retry.SOON:
                raise
    raise AssertionError("it never settled")


async def spoil(scene: LoopbackScene, kind: str, when: str) -> None:
    rule = {"method": "POST", "path": f"/{scene.repository}.git/git-receive-pack$", "kind": kind, "when": when}
    await scene.drive.faults(FaultRule.model_validate({**rule, "seconds": 0.2}))


def test_every_write_of_the_port_is_here() -> None:
    methods = {name: method for name, method in vars(Workspaces).items() if callable(method) and name[0] != "_"}
    assert {name for name, method in methods.items() if get_annotations(method).get("return") is Effect} == set(WRITES)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("hold", "stale_read")])
@pytest.mark.parametrize("write", WRITES)
async def test_the_branch_moves_once_whatever_github_answers(
    stage: Stage, scene: LoopbackScene, write: str, kind: str, when: str
) -> None:
    call = await WRITES[write](stage, scene)
    await spoil(scene, kind, when)

    await settle(call)

    assert (await call()).state is EffectState.DEDUPLICATED
    assert await times(scene, EFFECTS[write]) == 1


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("write", WRITES)
async def test_one_that_lands_late_finds_that_another_was_first(
    stage: Stage, scene: LoopbackScene, write: str, when: str
) -> None:
    """Held on its way, while the same write is asked for again."""
    call = await WRITES[write](stage, scene)
    await spoil(scene, "hold", when)
    late = asyncio.ensure_future(call())
    async with asyncio.timeout(20):
        while not any(seen.fault == "hold" and scene.repository in seen.path for seen in await scene.calls()):
            await asyncio.sleep(0.02)

    await settle(call)
    await stage.drive.faults()
    await asyncio.gather(late, return_exceptions=True)

    assert (await call()).state is EffectState.DEDUPLICATED
    assert await times(scene, EFFECTS[write]) == 1
