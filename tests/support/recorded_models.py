"""Recorded models for tests: as a process of its own, which outlives whoever is killed around it, or in this one."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from adapters.models.recorded.control import FaultsWanted
from adapters.models.recorded.faults import FaultRule
from adapters.models.recorded.ledger import Entry, LedgerView
from adapters.models.recorded.options import RecordedInfo, RecordedOptions
from adapters.models.recorded.script import Script, ToolCall, Turn
from adapters.models.recorded.server import recorded_models

_LOOK_EVERY = 0.02
_ROOT = Path(__file__).parents[2]


def says(name: str, **arguments: str) -> Turn:
    """A turn that calls one tool."""
    return Turn(calls=(ToolCall(name=name, arguments=dict(arguments)),))


class RecordedModel:
    """One that runs: where it is, what it was asked, and the way to spoil it. An async context manager."""

    def __init__(self, info: RecordedInfo, process: subprocess.Popen[bytes] | None = None) -> None:
        self.info = info
        self._process = process
        self._http = httpx.AsyncClient(base_url=info.url, timeout=30, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def ledger(self) -> LedgerView:
        """Everything it was asked so far."""
        answer = (await self._http.get("/_ledger")).raise_for_status()
        return LedgerView.model_validate_json(answer.content)

    async def calls(self) -> list[Entry]:
        """The model calls among it."""
        return [entry for entry in (await self.ledger()).entries if entry.is_model_call]

    async def until(self, reached: Callable[[LedgerView], bool]) -> LedgerView:
        """Wait until its ledger is so, e.g. `lambda ledger: ledger.open == 1` for a call under way."""
        while not reached(ledger := await self.ledger()):
            await asyncio.sleep(_LOOK_EVERY)
        return ledger

    async def spoil(self, *rules: FaultRule) -> None:
        """These faults from now on, instead of those before; none without rules."""
        answer = await self._http.post("/_faults", content=FaultsWanted(rules=rules).model_dump_json())
        answer.raise_for_status()

    def kill(self) -> None:
        """kill -9 of the server itself, where it is a process of its own."""
        assert self._process is not None
        self._process.kill()

    async def release(self) -> None:
        """Answer what is held."""
        (await self._http.post("/_release")).raise_for_status()


@asynccontextmanager
async def recorded_process(
    script: Script, state_dir: Path, key: str | None = None, port: int = 0
) -> AsyncIterator[RecordedModel]:
    """A process in a session of its own. It ends with the context."""
    state_dir.mkdir(parents=True, exist_ok=True)
    file = state_dir / "script.json"
    file.write_text(script.model_dump_json())
    process = _start(file, state_dir, key, port)
    try:
        info = RecordedInfo.model_validate_json(await asyncio.to_thread(_first_line, process))
        async with RecordedModel(info, process) as model:
            yield model
    finally:
        process.terminate()
        await asyncio.to_thread(process.communicate)


def _start(script: Path, state_dir: Path, key: str | None, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "adapters.models.recorded", "--script", str(script), "--state", str(state_dir)]
    command += ["--port", str(port), *(("--key", key) if key else ())]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment, start_new_session=True)


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    if line := process.stdout.readline():
        return line
    _, said = process.communicate()
    raise AssertionError(said.decode(errors="replace"))


@asynccontextmanager
async def recorded_here(script: Script, state_dir: Path) -> AsyncIterator[RecordedModel]:
    """In this process: quicker to start, and gone with it."""
    async with recorded_models(RecordedOptions(script=script, state_dir=state_dir)) as info, RecordedModel(info) as one:
        yield one
