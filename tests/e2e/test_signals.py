"""How commands that stay are stopped: in order, whatever signals their starter ignored, and at once if one insists."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from adapters.loopback.drive.requests import FaultRule
from sweeper.model import Step
from sweeper.reporting import ShowReport
from tests.support.commands import environment, running_on
from tests.support.hanging_git import HangingGit
from tests.support.service import Process, Service, service, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]


class Ready:
    """A small command that stays."""

    def __init__(self, root: Path) -> None:
        self.state_dir = root / "github"
        self._root = root

    async def started(self, *ignoring: signal.Signals) -> Process:
        words = ("loopback", "--state", str(self.state_dir), "--json")
        process = Process(words, environment(self._root / "state"), self._root / "log", ignoring)

        async def is_up() -> bool:
            assert process.is_alive, process.said()
            return (self.state_dir / "loopback.json").exists()

        await until(is_up)
        return process


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_each_signal_stops_it_well(sign: signal.Signals, tmp_path: Path) -> None:
    process = await Ready(tmp_path).started()
    assert await process.ends(sign) == 0


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
async def test_a_shell_that_has_it_ignored_does_not_make_it_unstoppable(sign: signal.Signals, tmp_path: Path) -> None:
    process = await Ready(tmp_path).started(signal.SIGINT, signal.SIGTERM)
    assert await process.ends(sign) == 0


async def test_under_nohup_a_closed_terminal_does_not_stop_it(tmp_path: Path) -> None:
    process = await Ready(tmp_path).started(signal.SIGHUP)
    process.gets(signal.SIGHUP)
    assert signal_is_ignored(process, signal.SIGHUP)
    assert await process.ends(signal.SIGTERM) == 0


def signal_is_ignored(process: Process, sign: signal.Signals) -> bool:
    """As the kernel has it: then a signal that was sent has done nothing and will do nothing."""
    line = next(line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if "SigIgn" in line)
    return bool(int(line.split()[1], 16) & (1 << (sign - 1)))


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Service]:
    async with service(tmp_path, stop_grace="1s") as made:
        yield made


async def works_on(served: Service, git: HangingGit) -> Process:
    """A service whose git hangs while a sweep needs it."""
    process = served.starts_in({**served.env, "PATH": git.path}, "serve")
    await served.ready()
    return process


def proposed(told: ShowReport) -> list[str]:
    """How the branch and the pull request came to be, each of which there may be one of."""
    states = {effect.name: effect.state.value for effect in told.effects}
    return [states["branch.push"], states["pull.create"]]


def left_of(served: Service) -> list[str]:
    """What still runs for it, GitHub aside."""
    return [line for line in running_on(served.state_dir) if "loopback" not in line]


async def truth(condition: Callable[[], bool]) -> bool:
    return condition()


class TestWithAHangingGit:
    @pytest.mark.parametrize(("command", "step"), [("fetch", Step.PREPARE), ("push", Step.PROPOSE)])
    async def test_it_ends_within_its_grace_and_the_next_one_goes_on(
        self, command: str, step: Step, served: Service, tmp_path: Path
    ) -> None:
        git = HangingGit(tmp_path / "shim").put(command)
        process = await works_on(served, git)
        case = await served.red_run("hangs")
        await until(lambda: truth(lambda: git.hangs))
        assert (told := await served.shown(case.sweep_id)) is not None
        assert told.current_step is step
        assert await process.ends() == 0
        assert left_of(served) == []
        served.starts("serve")
        await served.ready()
        parked = await case.parked()
        assert proposed(parked) == ["created", "created"]

    async def test_the_second_signal_ends_it_at_once(self, served: Service, tmp_path: Path) -> None:
        git = HangingGit(tmp_path / "shim").put("fetch")
        process = served.starts_in({**served.env, "PATH": git.path, "SWEEPER_STOP_GRACE": "10m"}, "serve")
        await served.ready()
        await served.red_run("impatient")
        await until(lambda: truth(lambda: git.hangs))
        process.gets(signal.SIGTERM)
        while process.is_alive:
            await asyncio.sleep(0.1)
            process.gets(signal.SIGTERM)
        assert await process.ends() == 130
        await until(lambda: truth(lambda: left_of(served) == []))


class TestWithAGitHubThatDoesNotAnswer:
    @pytest.mark.parametrize(
        ("method", "path", "effects"),
        [
            ("GET", r"/actions/runs/\d+/attempts/\d+/jobs", ["created", "created"]),
            # The pull request was opened and nobody has heard of it: the next one finds it.
            ("POST", r"/pulls$", ["created", "deduplicated"]),
        ],
    )
    async def test_it_ends_within_its_grace_and_the_next_one_goes_on(
        self, method: str, path: str, effects: list[str], served: Service
    ) -> None:
        rule = FaultRule(method=method, path=path, when="after", kind="hold")
        await served.drive.faults(rule)
        process = served.starts("serve")
        await served.ready()
        case = await served.red_run("silent")
        await until(lambda: self.is_held(served))
        assert await process.ends() == 0
        assert left_of(served) == []
        await served.drive.faults()
        served.starts("serve")
        await served.ready()
        parked = await case.parked()
        assert proposed(parked) == effects
        written = (await served.drive.ledger()).effects
        assert (written["branch.push"], written["pull.create"]) == (1, 1)

    async def is_held(self, served: Service) -> bool:
        return any(call.fault == "hold" for call in (await served.drive.ledger()).calls)
