"""A git in front of the real one on PATH that never comes back from one of its commands."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = """\
#!/bin/sh
for word in "$@"; do
    if [ "$word" = {command} ]; then
        {first}
        touch {mark}
        {wait}
    fi
done
exec {git} "$@"
"""
_FOR_EVER = "sleep 1000  # a child, as git has its helpers"


@dataclass(frozen=True)
class HangingGit:
    """`hangs`: whether somebody waits for it."""

    directory: Path

    @property
    def path(self) -> str:
        """PATH with this git first."""
        return f"{self.directory}{os.pathsep}{os.environ['PATH']}"

    @property
    def hangs(self) -> bool:
        return self._mark.exists()

    @property
    def _mark(self) -> Path:
        return self.directory / "hangs"

    @property
    def _go(self) -> Path:
        return self.directory / "go"

    def let_go(self) -> None:
        """Whoever waits goes on, if it `may_go_on`."""
        self._go.touch()

    def put(self, command: str, *, done_first: bool = False, may_go_on: bool = False) -> "HangingGit":
        """Write it; it hangs in this command, before or after it has done what it is for."""
        real = shutil.which("git")
        assert real is not None
        self.directory.mkdir()
        script = self.directory / "git"
        first = f'{real} "$@"' if done_first else ":"
        wait = f"while [ ! -e {self._go} ]; do sleep 0.02; done" if may_go_on else _FOR_EVER
        script.write_text(_SCRIPT.format(command=command, mark=self._mark, git=real, first=first, wait=wait))
        script.chmod(0o755)
        return self
