"""git calls can be ended all at once, each with whatever it started."""

import asyncio
import os
from pathlib import Path

import pytest

from sweeper.errors import Transient
from tests.support.commands import nothing_runs_on, running_on
from tests.support.hanging_git import HangingGit
from worktrees.git import GitCall, GitDoor
from worktrees.running import UnderWay

pytestmark = pytest.mark.slow


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HangingGit:
    hanging = HangingGit(tmp_path / "shim").put("rev-parse")
    monkeypatch.setenv("PATH", hanging.path)
    return hanging


async def test_at_the_end_a_call_is_ended_with_its_helpers_and_no_other_begins(tmp_path: Path, git: HangingGit) -> None:
    under_way = UnderWay()
    door = GitDoor(tmp_path / "home", under_way)
    asking = asyncio.create_task(asyncio.to_thread(door.ask, GitCall(("rev-parse", "HEAD"))))
    while not git.hangs:
        await asyncio.sleep(0.01)
    assert running_on(tmp_path)
    under_way.end()
    with pytest.raises(Transient, match="was killed"):
        await asking
    nothing_runs_on(tmp_path)
    with pytest.raises(Transient, match="taken over"):
        door.ask(GitCall(("version",)))


async def test_a_call_over_its_time_is_ended_with_its_helpers(tmp_path: Path, git: HangingGit) -> None:
    door = GitDoor(tmp_path / "home", UnderWay())
    with pytest.raises(Transient, match="took too long"):
        await asyncio.to_thread(door.ask, GitCall(("rev-parse", "HEAD"), seconds=0.2))
    nothing_runs_on(tmp_path)


async def test_a_call_leads_a_session_of_its_own_so_that_ctrl_c_is_not_for_it(tmp_path: Path, git: HangingGit) -> None:
    under_way = UnderWay()
    door = GitDoor(tmp_path / "home", under_way)
    asking = asyncio.create_task(asyncio.to_thread(door.ask, GitCall(("rev-parse", "HEAD"))))
    while not git.hangs:
        await asyncio.sleep(0.01)
    sessions = {os.getsid(int(entry.name)) for entry in Path("/proc").iterdir() if _is_ours(entry, tmp_path)}
    assert sessions
    assert os.getsid(0) not in sessions
    under_way.end()
    with pytest.raises(Transient):
        await asking


def _is_ours(entry: Path, place: Path) -> bool:
    if not entry.name.isdigit():
        return False
    try:
        return str(place).encode() in (entry / "cmdline").read_bytes() and int(entry.name) != os.getpid()
    except OSError:
        return False
