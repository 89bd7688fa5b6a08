"""A greedy or stubborn command in the sandbox: every bound holds, names itself, and leaves no process."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap
from adapters.sandbox.cgroups import Parents
from tests.support.sandboxes import Room, alive, limits, until, usable

pytestmark = pytest.mark.slow

FORKS = """
import os, sys, time
made = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        made += 1
except OSError:
    print(made, flush=True)
    sys.exit(3)
print("all", flush=True)
"""
HOG = "import time; a = bytearray(400 << 20); time.sleep(600)"
DETACHED = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
for n in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open("/dev/null", os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            open(f"ready{n}", "w").close()
            os.execvp("sleep", ["sleep", sys.argv[1]])
        os._exit(0)
"""


@pytest.fixture(params=["groups", "polling"])
async def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    sandbox = Bubblewrap() if request.param == "groups" else Bubblewrap(groups=Parents())
    return Room(await usable(sandbox), tmp_path)


async def held(room: Room) -> tuple[str, ...]:
    return (await room.sandbox.probe()).held


async def test_a_command_ends_when_the_disk_of_its_workspace_is_almost_full(room: Room) -> None:
    result = await room.run("sleep", "60", limits=limits(spare_disk_bytes=1 << 60))
    assert (result.exit_code, result.limit) == (None, "disk")
    assert "disk:polling" in await held(room)


async def test_a_fork_bomb_stops_at_the_bound(room: Room) -> None:
    result = await room.run("python3", "-c", FORKS, limits=limits(processes=40))
    assert result.exit_code == 3
    assert int(result.output) <= 48
    if "processes:cgroup" in await held(room):
        assert result.limit == "processes"


async def test_a_memory_hog_is_ended_and_the_bound_named(room: Room) -> None:
    result = await room.run("python3", "-c", HOG, limits=limits(memory_bytes=100 << 20))
    assert result.limit == "memory"


async def test_memory_is_counted_over_the_whole_tree(room: Room) -> None:
    script = 'for n in 1 2 3 4; do python3 -c "import time; a = bytearray(60 << 20); time.sleep(600)" & done; wait'
    result = await room.sh(script, limits=limits(memory_bytes=150 << 20, seconds=60))
    assert result.limit == "memory"


async def test_a_large_file_is_refused_and_the_bound_named(room: Room) -> None:
    result = await room.sh("exec head -c 3000000 /dev/zero >big", limits=limits(file_bytes=1 << 20))
    assert result.limit == "file_size"
    assert (room.path / "big").stat().st_size == 1 << 20


async def test_the_private_tmp_is_bounded(room: Room) -> None:
    sizes = await room.text("df -B1 --output=size /tmp /dev/shm | tail -n +2")
    assert all(int(size) <= 1 << 30 for size in sizes.split())


async def test_no_core_is_dumped(room: Room) -> None:
    result = await room.sh("ulimit -Hc; kill -SEGV $$")
    assert (result.exit_code, result.output.splitlines()[0]) == (139, b"0")


async def test_bounds_cannot_be_raised_from_inside(room: Room) -> None:
    assert (await room.sh("prlimit --nproc=100000:100000 true || ulimit -u 100000")).exit_code != 0


async def test_detached_children_that_ignore_signals_are_dead_on_return(room: Room) -> None:
    unique = f"63{id(room)}"
    room.write({"detach.py": DETACHED})
    script = f"python3 detach.py {unique}; until [ -e ready0 ] && [ -e ready1 ] && [ -e ready2 ]; do :; done"
    assert (await room.sh(script)).exit_code == 0
    assert alive(unique) == []


async def test_detached_children_that_ignore_signals_are_dead_after_the_time_limit(room: Room) -> None:
    unique = f"64{id(room)}"
    room.write({"detach.py": DETACHED})
    result = await room.sh(f"python3 detach.py {unique}; trap '' TERM; sleep {unique}", limits=limits(seconds=1.0))
    assert result.limit == "time"
    assert alive(unique) == []


async def test_detached_children_that_ignore_signals_are_dead_after_cancellation(room: Room) -> None:
    unique = f"65{id(room)}"
    room.write({"detach.py": DETACHED})
    running = asyncio.ensure_future(room.sh(f"python3 detach.py {unique}; trap '' TERM; sleep {unique}"))
    await until(lambda: len(alive(unique)) == 4)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert alive(unique) == []


async def test_cancelling_while_the_output_floods_does_not_hang(room: Room) -> None:
    running = asyncio.ensure_future(room.sh("touch ready; exec yes"))
    await until((room.path / "ready").exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


WORKER = """
import asyncio, sys
from adapters.sandbox import Bubblewrap
from sweeper.ports import SandboxRun
script = f"touch ready; trap '' TERM; sleep {sys.argv[2]} & sleep {sys.argv[2]}"
asyncio.run(Bubblewrap().run(SandboxRun(workspace=sys.argv[1], argv=("sh", "-c", script))))
"""


async def test_killing_the_worker_ends_its_sandboxes(room: Room) -> None:
    unique = f"66{id(room)}"
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, str(room.path), unique)
    await until((room.path / "ready").exists)
    await until(lambda: len(alive(unique)) >= 3)
    os.kill(worker.pid, signal.SIGKILL)
    await worker.wait()
    await until(lambda: alive(unique) == [])


STARTING = """
import asyncio, sys
from adapters.sandbox import Bubblewrap
from sweeper.ports import SandboxRun

async def main():
    sandbox = Bubblewrap()
    await sandbox.probe()
    while True:
        print("next", flush=True)
        await sandbox.run(SandboxRun(workspace=sys.argv[1], argv=("true", sys.argv[2])))

asyncio.run(main())
"""


async def test_killing_the_worker_while_it_starts_a_sandbox_leaves_nothing_to_the_next_one(room: Room) -> None:
    unique = f"67{id(room)}"
    for pause in range(10):
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", STARTING, str(room.path), unique), stdout=asyncio.subprocess.PIPE
        )
        assert worker.stdout is not None
        await worker.stdout.readline()
        await asyncio.sleep(pause * 0.006)  # a different point of the start each time
        worker.kill()
        await worker.wait()
    await Bubblewrap().probe()  # the next worker's
    await until(lambda: alive(unique) == [])


async def test_no_control_group_is_left(room: Room) -> None:
    await room.sh("true")
    left = [path for base in Path("/sys/fs/cgroup").glob("*") for path in base.rglob(f"sweeper-{os.getpid()}-*")]
    assert left == []
