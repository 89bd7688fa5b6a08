"""Programs put before the machine's own on PATH: they log that they were called, and can be made to hang."""

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from sweeper.model import Instant, Strict

PROGRAMS = ("git", "grep", "sed")
"""What a sweep of a small run calls: git by ourselves, the others by its check and its agent."""
LABEL = ".label"
"""A file in a program's directory that says whose it is: in a sandbox all directories have one name."""
_SCRIPT = """\
#!/bin/bash
here={here}
echo "$EPOCHREALTIME {name} $* $PWD" 2>/dev/null >>"$here/log"
for hang in "$here"/{name}.hang.*; do
  [ -e "$hang" ] || continue
  key="${{hang##*.hang.}}"
  whose="$* $PWD $(cat {label} 2>/dev/null)"
  case "$whose" in *"/$key"[./]*) bash -c 'while [ -e "$0" ]; do sleep 0.05; done' "$hang" ;; esac
done
exec {real} "$@"
"""


class ProgramCall(Strict):
    """A program that was called, with its arguments and its directory."""

    name: str
    words: str
    time: Instant


class ToolsOnPath:
    """A directory for PATH. A key stands after a slash in a program's arguments, its directory or the label there."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(mode=0o755)
        for name in PROGRAMS:
            script = place / name
            script.write_text(_SCRIPT.format(here=place, name=name, real=_real(name), label=LABEL))
            script.chmod(0o755)

    def hang(self, name: str, key: str) -> None:
        """The program waits from now on when it is about the key."""
        self._hang(name, key).touch()

    def is_waiting(self, name: str, key: str) -> bool:
        """Whether such a process is there, in a sandbox or not."""
        return bool(processes_with(re.escape(str(self._hang(name, key)))))

    def go(self) -> None:
        """Whatever waits goes on."""
        for hang in self.place.glob("*.hang.*"):
            hang.unlink()

    def calls(self, key: str) -> list[ProgramCall]:
        """Every call about the key, in order; what is called in a sandbox is not logged."""
        log = self.place / "log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        found = [_call(line) for line in lines if re.match(r"\d+[.,]\d+ \w+ ", line)]
        return [call for call in found if re.search(rf"/{key}[./]", call.words)]

    def _hang(self, name: str, key: str) -> Path:
        return self.place / f"{name}.hang.{key}"


def processes_with(pattern: str) -> list[int]:
    """Ids of the processes whose command line or directory matches, ourselves left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid() and re.search(pattern, _described(entry)):
            found.append(int(entry.name))
    return found


def _described(entry: Path) -> str:
    try:
        words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return f"{words} {(entry / 'cwd').readlink()}"
    except OSError:
        return ""


def _call(line: str) -> ProgramCall:
    moment, name, words = line.split(" ", 2)
    return ProgramCall(name=name, words=words, time=datetime.fromtimestamp(float(moment.replace(",", ".")), UTC))


def _real(name: str, path: Sequence[str] = ("/usr/local/bin", "/usr/bin", "/bin")) -> str:
    return next(str(Path(place, name)) for place in path if Path(place, name).exists())
