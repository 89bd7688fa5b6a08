"""Plain commands, as somebody would run them by hand."""

import asyncio
import os
import sysconfig
from collections.abc import Mapping
from pathlib import Path


def path() -> str:
    """The programs of this installation first."""
    return f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"


async def run(*argv: str | Path, cwd: Path | None = None) -> int:
    """Run to the end; the exit code."""
    process = await asyncio.create_subprocess_exec(
        *map(str, argv),
        cwd=cwd,
        env={"PATH": path(), "HOME": str(cwd or Path.cwd()), "LC_ALL": "C.UTF-8"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    return await process.wait()


async def repository(place: Path, files: Mapping[str, str]) -> str:
    """A git repository with one commit of these files on `main`; the commit's id."""
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost.invalid")
    await must("git", "init", "-q", "-b", "main", cwd=place)
    await must("git", "add", "-A", cwd=place)
    await must("git", *identity, "commit", "-q", "-m", "sample", cwd=place)
    return (place / ".git" / "refs" / "heads" / "main").read_text().strip()


async def must(*argv: str | Path, cwd: Path | None = None) -> None:
    """Run to the end; it has to succeed."""
    code = await run(*argv, cwd=cwd)
    if code != 0:
        raise RuntimeError(f"{' '.join(map(str, argv))} ended with {code}")
