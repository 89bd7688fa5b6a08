"""The service as an operator runs it: processes of their own, against a GitHub on loopback, driven from outside."""

import asyncio
import secrets
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx

from adapters.loopback.drive.answers import PullSeen, RepoSeen
from adapters.loopback.drive.requests import NewReview, PullAct
from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo
from sweeper import ids
from sweeper.model import Outcome, Step
from sweeper.reporting import ShowReport
from tests.support.commands import as_from_a_login, command_line, environment
from tests.support.red_run import AGENT, MAINTAINER, RedRun, red_run

SECRET = "the webhook's secret"
_LOOK_EVERY = 0.1
_PATIENCE = 90.0
_END_SECONDS = 40.0
_PORTS = range(10_000, 20_000)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Ask other processes again and again until it is so."""
    async with asyncio.timeout(_PATIENCE):
        while not await condition():
            await asyncio.sleep(_LOOK_EVERY)


def free_port() -> int:
    """A port that is free now and stays so until it is listened on.

    From below the range that the kernel gives to outgoing connections (there, any client beside us may take it in the
    meantime) and the one of embedded Temporal servers; drawn at random, so that test runs side by side do not meet.
    """
    while True:
        port = _PORTS.start + secrets.randbelow(len(_PORTS))
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Process:
    """A command that stays."""

    def __init__(
        self, words: tuple[str, ...], env: Mapping[str, str], log: Path, ignoring: Collection[signal.Signals] = ()
    ) -> None:
        self._log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command_line(*words),
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                preexec_fn=partial(as_from_a_login, ignoring),
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def gets(self, sign: signal.Signals) -> None:
        """Somebody sends a signal; one that has ended gets none."""
        if self.is_alive:
            self._process.send_signal(sign)

    async def ends(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal and wait; its exit code."""
        self.gets(by)
        return await asyncio.to_thread(self._process.wait, _END_SECONDS)

    def said(self) -> str:
        """What it wrote so far."""
        return self._log.read_text(errors="replace")


@dataclass
class Service:
    """A state directory, a GitHub, and whatever processes a test starts on them."""

    root: Path
    github: LoopbackInfo
    drive: DriveClient
    port: int
    settings: dict[str, str]
    stack: AsyncExitStack
    started: list[Process] = field(default_factory=list)
    http: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(trust_env=False, timeout=30))

    @property
    def state_dir(self) -> Path:
        return self.root / "state"

    @property
    def env(self) -> dict[str, str]:
        """For commands on this state directory."""
        return environment(self.state_dir, **self.settings)

    @property
    def url(self) -> str:
        """The public listener."""
        return f"http://127.0.0.1:{self.port}"

    def starts(self, command: str, *words: str, **settings: str) -> Process:
        """A staying command; ended with the service at the latest. Settings win over the service's own."""
        return self.starts_in(environment(self.state_dir, **{**self.settings, **settings}), command, *words)

    def starts_in(self, env: Mapping[str, str], command: str, *words: str) -> Process:
        """The same in an environment of its own."""
        process = Process((command, *words), env, self.root / f"{command}.log")
        self.started.append(process)
        self.stack.push_async_callback(process.ends)
        return process

    async def is_ready(self, url: str | None = None) -> bool:
        """Whether its health says so."""
        try:
            return (await self.http.get(f"{url or self.url}/healthz")).status_code == 200
        except httpx.TransportError:
            return False

    async def ready(self) -> None:
        """Wait for it; with what it said if it will never be."""

        async def is_ready() -> bool:
            running = [process for process in self.started if process.is_alive]
            assert running, self.started[-1].said()
            return await self.is_ready()

        await until(is_ready)

    async def shown(self, sweep_id: str) -> ShowReport | None:
        """The sweep by the admin API; None if it is not there (yet)."""
        answer = await self._ask_office(f"/api/sweeps/{sweep_id}")
        return ShowReport.model_validate_json(answer.content) if answer.status_code == 200 else None

    async def _ask_office(self, path: str) -> httpx.Response:
        token = (self.state_dir / "admin-token").read_text().strip()
        office = f"http://{self.settings['admin_listen']}"
        return await self.http.get(office + path, headers={"Authorization": f"Bearer {token}"})

    async def red_run(self, name: str) -> "Case":
        """A repository whose CI has just failed; the webhook is on its way."""
        red = await red_run(self.drive, f"octo/{name}")
        return Case(self, red, ids.sweep_id(red.ref, self.github.url))


@dataclass(frozen=True)
class Case:
    """One red run and its sweep."""

    service: Service
    red: RedRun
    sweep_id: str

    async def answers(self) -> list[int]:
        """What the service has answered to the webhook so far, one status for each time it was delivered."""
        seen = (await self.service.drive.world()).deliveries
        return [
            delivery.status_code for delivery in seen if delivery.guid == self.red.delivery and delivery.state != "held"
        ]

    async def until(self, told: Callable[[ShowReport], bool]) -> ShowReport:
        """Wait until the sweep shows it."""
        found: ShowReport | None = None

        async def shows() -> bool:
            nonlocal found
            found = await self.service.shown(self.sweep_id)
            return found is not None and told(found)

        try:
            await until(shows)
        except TimeoutError:
            raise AssertionError(f"it never came to that, but to {found}") from None
        assert found is not None
        return found

    async def waits_for(self, what: str) -> ShowReport:
        """Wait until the sweep names this wait."""
        return await self.until(lambda told: told.waiting_for is not None and told.waiting_for.what == what)

    async def parked(self) -> ShowReport:
        """Wait until a human is asked."""
        return await self.until(lambda told: told.current_step is Step.AWAIT_REVIEW and told.waiting_for is not None)

    async def ends_as(self, outcome: Outcome) -> ShowReport:
        """Wait for its end, which has to be this one."""
        told = await self.until(lambda told: told.outcome is not None)
        assert told.outcome is outcome, told.reason
        return told

    async def repository(self) -> RepoSeen:
        """As GitHub has it now."""
        return next(repo for repo in (await self.service.drive.world()).repos if repo.id == self.red.ref.repository_id)

    async def pull(self) -> PullSeen:
        """The only pull request there is."""
        (only,) = (await self.repository()).pulls
        return only

    async def reviewed(self, state: str, body: str = "") -> None:
        """The maintainer's word."""
        word = {"repo": self.red.ref.repository, "pr": (await self.pull()).number, "user": MAINTAINER}
        await self.service.drive.review(NewReview.model_validate({**word, "state": state, "body": body}))

    async def merged(self) -> None:
        """The maintainer presses the button."""
        await self.service.drive.merge_pull(await self._by_maintainer())

    async def closed(self) -> None:
        """The maintainer does not want it."""
        await self.service.drive.close_pull(await self._by_maintainer())

    async def _by_maintainer(self) -> PullAct:
        return PullAct(repo=self.red.ref.repository, pr=(await self.pull()).number, user=MAINTAINER)


@asynccontextmanager
async def service(root: Path, **settings: str) -> AsyncIterator[Service]:
    """A GitHub on loopback and all that is needed to start the service beside it; everything ends with the block."""
    port, office = free_port(), free_port()
    async with AsyncExitStack() as stack:
        info = await _start_github(root, f"http://127.0.0.1:{port}/webhooks/github", stack)
        drive = await stack.enter_async_context(DriveClient(info.drive_url))
        known = {
            "listen": f"127.0.0.1:{port}",
            "admin_listen": f"127.0.0.1:{office}",
            "github_url": info.url,
            "github_token": info.token,
            "webhook_secrets": SECRET,
            "agents": "command",
            "agent_command": AGENT,
            "heartbeat": "1s",
        }
        made = Service(root, info, drive, port, {**known, **settings}, stack)
        stack.push_async_callback(made.http.aclose)
        yield made


async def _start_github(root: Path, hook: str, stack: AsyncExitStack) -> LoopbackInfo:
    place = root / "github"
    words = ("loopback", "--state", str(place), "--hook", hook, "--secret", SECRET, "--json")
    process = Process(words, environment(root / "state"), root / "loopback.log")
    stack.push_async_callback(process.ends)

    async def is_up() -> bool:
        assert process.is_alive, process.said()
        return (place / "loopback.json").exists()

    await until(is_up)
    return LoopbackInfo.model_validate_json((place / "loopback.json").read_text())
