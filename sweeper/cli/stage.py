"""The stage that `demo` and `try` play on: a loopback GitHub, Temporal, the public listener and a worker to kill.

GitHub and the worker are processes of their own, as in real life; Temporal and the listener live with the command.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from secrets import token_hex

from pydantic import SecretStr, ValidationError

from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo
from adapters.temporal.sweeps import TemporalSweeps
from sweeper.cli.composition import git_version
from sweeper.cli.listeners import Listeners
from sweeper.cli.temporal import serve_temporal, sweeps_of
from sweeper.config import Settings, StateDir, only_settings, prepare_state_dir
from sweeper.errors import OutOfReach

START_SECONDS = 30.0
_NOTHING = asyncio.subprocess.DEVNULL


class WorkerProcess:
    """A worker as a process, so that it can be killed in plain sight."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self._environment = environment
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self.kills = 0

    async def start(self) -> None:
        """Start one; it is ready when Temporal gives it work."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *_ending_with_us(),
                "worker",
                env=self._environment,
                cwd=self._log.parent,  # a sweeper.toml where the command was called is not the worker's business
                stdin=_NOTHING,
                stdout=log,
                stderr=log,
            )

    async def kill(self) -> int:
        """kill -9; its process id."""
        process = self._running()
        process.send_signal(signal.SIGKILL)
        await process.wait()
        self.kills += 1
        return process.pid

    async def stop(self) -> None:
        """SIGTERM, then wait."""
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            try:
                async with asyncio.timeout(START_SECONDS):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()

    def last_words(self) -> str:
        """The end of its log."""
        return self._log.read_text(errors="replace")[-2000:] if self._log.exists() else ""

    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise OutOfReach("The worker was not started; please report this.")
        return self._process


class Stage:
    """What a story needs: the drive of the loopback, the sweeps, the worker."""

    def __init__(self, info: LoopbackInfo, drive: DriveClient, sweeps: TemporalSweeps, worker: WorkerProcess) -> None:
        self.info = info
        self.drive = drive
        self.sweeps = sweeps
        self.worker = worker


@asynccontextmanager
async def stage(root: Path, overrides: Mapping[str, object]) -> AsyncIterator[Stage]:
    """Everything up and ready in `root`; all of it ends with the block.

    `overrides` are settings by field name. Raises BadInput, MissingTool, OutOfReach.
    """
    async with AsyncExitStack() as stack:
        secret = SecretStr(token_hex(16))
        state = prepare_state_dir(only_settings({"state_dir": root}))
        await git_version(state)
        settings = _settings(root, overrides, {"webhook_secrets": (secret,)})
        listeners = Listeners(settings)
        stack.callback(listeners.close)
        hook = f"{listeners.public_url}/webhooks/github"
        info, server = await asyncio.gather(
            _start_loopback(state, hook, secret.get_secret_value(), stack),
            stack.enter_async_context(serve_temporal(settings, state)),
        )
        github = {"webhook_secrets": (secret,), "github_url": info.url, "github_token": info.token}
        settings = _settings(root, overrides, github)
        await listeners.start(settings, state, server.client, stack, with_worker=False)
        worker = WorkerProcess(_environment(settings), _log_file(state, "worker.log"))
        stack.push_async_callback(worker.stop)
        await worker.start()
        drive = await stack.enter_async_context(DriveClient(info.drive_url))
        sweeps = sweeps_of(server.client, settings, state)
        await _somebody_works(sweeps, worker)
        yield Stage(info, drive, sweeps, worker)


async def _somebody_works(sweeps: TemporalSweeps, worker: WorkerProcess) -> None:
    """Another process: it has to be asked until it shows a pulse."""
    try:
        async with asyncio.timeout(START_SECONDS):
            while not (await sweeps.worker_life()).alive:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    except TimeoutError:
        words = worker.last_words()[-300:].strip() or "none"
        raise OutOfReach(f"The worker did not start; its last words were: {words}") from None


def _settings(root: Path, *layers: Mapping[str, object]) -> Settings:
    merged: dict[str, object] = {"state_dir": root, "listen": "127.0.0.1:0", "admin_listen": "127.0.0.1:0"}
    for layer in layers:
        merged |= layer
    return only_settings(merged)


def _environment(settings: Settings) -> dict[str, str]:
    """The worker's environment: our settings and what a program needs to start, nothing else of the caller's."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH")
        if name in os.environ
    }
    token = settings.github_token.get_secret_value() if settings.github_token else ""
    wanted = {
        "SWEEPER_STATE_DIR": str(settings.state_dir),
        "SWEEPER_GITHUB_URL": settings.github_url,
        "SWEEPER_GITHUB_TOKEN": token,
        "SWEEPER_AGENTS": ",".join(settings.agents),
        "SWEEPER_AGENT_COMMAND": settings.agent_command or "",
        "SWEEPER_AGENT_PRESET": settings.agent_preset or "",
        "SWEEPER_AGENT_PATH": ",".join(map(str, settings.agent_path)),
        "SWEEPER_MODEL": settings.model or "",
        "SWEEPER_MODEL_URL": settings.model_url or "",
        "SWEEPER_MODEL_KEY": settings.model_key.get_secret_value() if settings.model_key else "",
        "SWEEPER_MODEL_PROVIDERS": ",".join(settings.model_providers),
        "SWEEPER_PRICES": _prices(settings),
        "SWEEPER_ALLOW_UNSANDBOXED": "1" if settings.allow_unsandboxed else "",
        "SWEEPER_LOG_LEVEL": settings.log_level,
        "SWEEPER_RECONCILE_INTERVAL": "0s",  # what an earlier play left behind is its own business
        "PYTHONUNBUFFERED": "1",
    }
    return kept | {name: value for name, value in wanted.items() if value}


def _prices(settings: Settings) -> str:
    """As the setting is written."""
    prices = {name: price.model_dump(mode="json") for name, price in settings.prices.items()}
    return json.dumps(prices) if prices else ""


def _log_file(state: StateDir, name: str) -> Path:
    state.logs.mkdir(mode=0o700, exist_ok=True)
    return state.logs / name


async def _start_loopback(state: StateDir, hook: str, secret: str, stack: AsyncExitStack) -> LoopbackInfo:
    command = [*_ending_with_us(), "loopback", "--state", str(state.loopback)]
    command += ["--hook", hook, "--secret", secret, "--json"]
    with _log_file(state, "loopback.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=state.logs, stdin=_NOTHING, stdout=asyncio.subprocess.PIPE, stderr=log
        )
    stack.push_async_callback(_stop, process)
    assert process.stdout is not None  # noqa: S101 - piped above
    try:
        async with asyncio.timeout(START_SECONDS):
            line = await process.stdout.readline()
        return LoopbackInfo.model_validate_json(line)
    except (TimeoutError, ValidationError):
        words = (state.logs / "loopback.log").read_text(errors="replace")[-300:].strip()
        raise OutOfReach(f"The loopback GitHub did not start; its last words were: {words or 'none'}") from None


def _ending_with_us() -> list[str]:
    """`sweeper` as a process that is ended when we are killed (where `setpriv` can arrange that)."""
    tether = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
    # -P: packages lying in the working directory must not take the place of ours.
    return [*tether, sys.executable, "-P", "-m", "sweeper"]


async def _stop(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    await process.wait()
