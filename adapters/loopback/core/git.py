"""The one door to git: a scrubbed environment, a bound on time, errors that carry what git said."""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sweeper.errors import MissingTool

TIMEOUT_S = 120.0
OLDEST = (2, 38)
"""The first git whose merge-tree writes a tree without a working copy."""
_IDENTITY = {
    "GIT_AUTHOR_NAME": "GitHub",
    "GIT_AUTHOR_EMAIL": "noreply@github.com",
    "GIT_COMMITTER_NAME": "GitHub",
    "GIT_COMMITTER_EMAIL": "noreply@github.com",
}


@dataclass(frozen=True)
class GitResult:
    """How a git command ended."""

    argv: tuple[str, ...]
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Its output, without the last line end."""
        return self.out.decode(errors="replace").rstrip("\n")


class GitFailed(Exception):
    """git ended with a code that was not expected."""

    def __init__(self, result: GitResult) -> None:
        super().__init__(f"{' '.join(result.argv)} ended with {result.code}: {result.err.strip()[-400:]}")
        self.result = result


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Nothing of the caller's git: no system or user configuration, no prompts, a fixed identity."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        **_IDENTITY,
        **(extra or {}),
    }


async def git(
    args: Sequence[str],
    *,
    cwd: Path,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    ok: tuple[int, ...] = (0,),
) -> GitResult:
    """Run git and wait for it. Raises GitFailed for any other exit code than `ok` and after TIMEOUT_S seconds."""
    argv = ("git", *args)
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env=environment(env),
        # A pipe that nobody writes to has raced with git http-backend; no input means /dev/null.
        stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(stdin), TIMEOUT_S)
    except BaseException as error:
        if process.returncode is None:
            process.kill()
            await process.wait()
        if isinstance(error, TimeoutError):
            raise GitFailed(GitResult(argv, -1, b"", f"no end within {TIMEOUT_S:.0f} s")) from error
        raise
    result = GitResult(argv, process.returncode or 0, out, err.decode(errors="replace"))
    if result.code not in ok:
        raise GitFailed(result)
    return result


async def require_git() -> None:
    """Raises MissingTool when there is no git, or one too old."""
    needed = f"git {OLDEST[0]}.{OLDEST[1]} or newer is needed for the loopback GitHub"
    try:
        said = (await git(["--version"], cwd=Path("/"))).text
    except FileNotFoundError:
        raise MissingTool(f"{needed}; install git.") from None
    version = re.search(r"(\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < OLDEST:
        raise MissingTool(f"{needed}; this machine has {said!r}.")
