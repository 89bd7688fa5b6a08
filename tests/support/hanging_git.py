"""A git in front of the real one on PATH that never comes back from one of its commands."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = """\
#!/bin/sh
for word in "$@"; do
    if [ "$word" = {command} ]; then
        touch {mark}
        sleep 1000  # a child, as git has its helpers
    fi
done
exec {git} "$@"
"""


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

    def put(self, command: str) -> "HangingGit":
        """Write it; it hangs in this command."""
        real = shutil.which("git")
        assert real is not None
        self.directory.mkdir()
        script = self.directory / "git"
        script.write_text(_SCRIPT.format(command=command, mark=self._mark, git=real))
        script.chmod(0o755)
        return self
