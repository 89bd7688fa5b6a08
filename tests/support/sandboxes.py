"""Real sandboxes for tests: a workspace they may write, and a look at which processes are alive."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap, Unsandboxed
from sweeper.ports import SandboxLimits, SandboxResult, SandboxRun

WAIT_SECONDS = 20.0


async def usable(sandbox: Bubblewrap) -> Bubblewrap:
    """The sandbox if this machine can have one; else the test is skipped with the probe's sentence.

    Where bwrap does run, a wall that is missing is our own mistake and no reason to skip.
    """
    facts = await sandbox.probe()
    if facts.problem is not None and "so it is no sandbox" in facts.problem:
        pytest.fail(facts.problem)
    if facts.problem is not None:
        pytest.skip(facts.problem)
    return sandbox


class Room:
    """A workspace on disk and the sandbox to run in it."""

    def __init__(self, sandbox: Bubblewrap | Unsandboxed, place: Path) -> None:
        self.sandbox = sandbox
        self.path = place / "work"
        self.path.mkdir()
        self._own(self.path)

    def write(self, files: dict[str, str]) -> None:
        """Put files into the workspace."""
        for name, text in files.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            self._own(file)
            self._own(file.parent)

    def _own(self, path: Path) -> None:
        if owner := self.sandbox.owner():
            os.chown(path, *owner)

    async def run(self, *argv: str, **asked: object) -> SandboxResult:
        """Run a command; `asked` are further fields of SandboxRun."""
        return await self.sandbox.run(SandboxRun.model_validate({"workspace": str(self.path), "argv": argv, **asked}))

    async def sh(self, script: str, **asked: object) -> SandboxResult:
        """Run a shell script."""
        return await self.run("sh", "-c", script, **asked)

    async def text(self, script: str, **asked: object) -> str:
        """What a script prints."""
        return (await self.sh(script, **asked)).output.decode()


def limits(**bounds: float) -> SandboxLimits:
    """Defaults with some bounds changed."""
    return SandboxLimits.model_validate(bounds)


def alive(mark: str) -> list[int]:
    """Host pids whose command line has this word; zombies have none."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; the test fails if it does not come about."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)
