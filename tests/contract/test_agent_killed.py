"""A worker is killed while its agent works: the next one begins only when nothing of the old one runs any more."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.agents.command import CommandAgent
from adapters.artifacts import FileArtifacts
from adapters.sandbox import Bubblewrap, Unsandboxed
from adapters.sandbox.underway import Process, Underway, end_left_runs
from sweeper.model import FixOutcome, FixReport, Workspace
from tests.contract.test_agents import task
from tests.support.sandboxes import Room, until, usable

pytestmark = pytest.mark.slow

KINDS: dict[str, Callable[[], Bubblewrap | Unsandboxed]] = {"Bubblewrap": Bubblewrap, "Unsandboxed": Unsandboxed}
OLD = "trap '' TERM; (while :; do echo old >>said; sleep 0.005; done) & while :; do echo old >>said; sleep 0.005; done"
NEW = "echo new >>said; sleep 0.5"
WORKER = """
import asyncio, sys
from datetime import timedelta
from adapters.agents.command import CommandAgent
from adapters.artifacts import FileArtifacts
from adapters.sandbox import Bubblewrap, Unsandboxed
from sweeper.model import Workspace
from sweeper.model.task import Task

kind, work, told, command, store = sys.argv[1:]
agent = CommandAgent(command, globals()[kind](), FileArtifacts(store))
workspace = Workspace(host="h", name="w", repository_id=1, commit="0" * 40, path=work)
asyncio.run(agent.fix(Task.model_validate_json(told), workspace, timedelta(minutes=1)))
"""


@pytest.fixture(params=list(KINDS))
async def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    sandbox = KINDS[request.param]()
    return Room(await usable(sandbox) if isinstance(sandbox, Bubblewrap) else sandbox, tmp_path)


async def killed_worker(room: Room) -> None:
    """It has begun to work when it is killed."""
    kind = type(room.sandbox).__name__
    told = task().model_dump_json()
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WORKER, kind, str(room.path), told, OLD, str(room.path.parent / "artefacts")
    )
    await until((room.path / "said").exists)
    os.kill(worker.pid, signal.SIGKILL)
    await worker.wait()


async def fix(command: str, room: Room, store: FileArtifacts) -> FixReport:
    workspace = Workspace(host="h", name="w", repository_id=1, commit="0" * 40, path=str(room.path))
    return await CommandAgent(command, room.sandbox, store).fix(task(), workspace, timedelta(minutes=1))


async def test_the_old_agent_is_dead_before_a_second_one_starts(room: Room, tmp_path: Path) -> None:
    store = FileArtifacts(str(tmp_path / "artefacts"))
    await killed_worker(room)
    report = await fix(NEW, room, store)
    said = (room.path / "said").read_text().split()
    assert report.outcome is FixOutcome.EDITED
    assert said[0] == "old"
    assert said[-1] == "new"
    assert said.count("new") == 1


async def test_what_a_living_worker_runs_is_left_alone(room: Room) -> None:
    running = asyncio.ensure_future(room.sh("touch ready; sleep 1; echo whole"))
    await until((room.path / "ready").exists)
    await end_left_runs()
    assert b"whole" in (await running).output


async def test_a_note_about_a_number_that_now_is_another_process_ends_nobody(tmp_path: Path) -> None:
    bystander = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    try:
        with Underway() as underway:
            underway.led_by(bystander.pid)
            left = tmp_path / underway.place.name
            left.mkdir()
            _make_older(underway.place, left)
        assert await end_left_runs(tmp_path) == 1
        assert not left.exists()
        running = Process.running(bystander.pid)
        assert running is not None
        assert running.is_alive
    finally:
        bystander.kill()
        await bystander.wait()


def _make_older(note: Path, left: Path) -> None:
    """As a worker left it whose number, and whose agent's number, others have got since."""
    for name in ("owner", "leader"):
        pid, start, world = (note / name).read_text().split(" ", 2)
        (left / name).write_text(f"{pid} {int(start) + 1} {world}")


async def test_a_note_of_another_pid_namespace_is_not_read(tmp_path: Path) -> None:
    left = tmp_path / "sweeper-run-1-x"
    left.mkdir()
    (left / "owner").write_text("999999999 1 elsewhere")
    assert await end_left_runs(tmp_path) == 0
    assert left.exists()
