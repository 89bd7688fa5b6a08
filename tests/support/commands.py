"""`sweeper` as a person or a script runs it: a process with an environment of its own."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

PATIENCE = 180.0
END_SECONDS = 30.0
SENT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it said."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, JsonValue]:
        """The last line of stdout as JSON."""
        found: dict[str, JsonValue] = json.loads(self.stdout.splitlines()[-1])
        return found

    def document_as(self, code: int) -> dict[str, JsonValue]:
        """The same, and it has to have ended so; a failure shows what it said."""
        assert self.code == code, f"exit code {self.code}\n{self.stdout}\n{self.stderr}"
        return self.document


def environment(state_dir: Path, **settings: str) -> dict[str, str]:
    """What a fresh login has, plus our settings: upper case names without `SWEEPER_` are theirs."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(state_dir.parent),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SWEEPER_STATE_DIR": str(state_dir),
        **{f"SWEEPER_{name.upper()}": value for name, value in settings.items()},
    }


def command_line(*words: str | Path) -> list[str]:
    """`sweeper` of this checkout, whatever PATH says."""
    return [sys.executable, "-m", "sweeper", *map(str, words)]


def as_from_a_login(ignoring: Collection[signal.Signals] = ()) -> None:
    """In a child before it becomes the command: signals as a terminal gives them, whoever started the tests.

    Background jobs of shells and nohup have some ignored, and children inherit that; `ignoring` does as they do.
    """
    for sign in SENT:
        signal.signal(sign, signal.SIG_IGN if sign in ignoring else signal.SIG_DFL)


def sweeper(*words: str | Path, env: Mapping[str, str], cwd: Path | None = None, patience: float = PATIENCE) -> Ended:
    """Run it to its end, with no terminal anywhere near."""
    done = subprocess.run(
        command_line(*words),
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=as_from_a_login,
        timeout=patience,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


class Terminal:
    """A command on a pseudo-terminal: stdin and stderr are the terminal, stdout is read at the end."""

    def __init__(self, words: Sequence[str | Path], env: Mapping[str, str]) -> None:
        self._ours, theirs = os.openpty()
        self._process = subprocess.Popen(
            command_line(*words),
            env=dict(env),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            preexec_fn=as_from_a_login,
        )
        os.close(theirs)
        self._shown = ""

    def waits_for(self, pattern: str) -> re.Match[str]:
        """Read until the terminal shows it."""
        deadline = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self._shown)) is None:
            assert time.monotonic() < deadline, f"it never showed {pattern!r}:\n{self._shown}"
            assert self._read(), f"it ended without showing {pattern!r}:\n{self._shown}"
        return found

    def gets(self, sign: signal.Signals) -> None:
        """Somebody sends a signal."""
        self._process.send_signal(sign)

    def press_enter(self) -> None:
        os.write(self._ours, b"\n")

    def ends(self) -> Ended:
        """Read to its end."""
        while self._read():
            pass
        stdout, _ = self._process.communicate(timeout=PATIENCE)
        return Ended(self._process.returncode, stdout, self._shown)

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=PATIENCE)
        os.close(self._ours)

    def _read(self) -> bool:
        """A bit more; False once the other side is closed."""
        if not select.select([self._ours], [], [], 1.0)[0]:
            return True
        try:
            said = os.read(self._ours, 65536)
        except OSError:  # EIO: nobody has the terminal open any more
            return False
        self._shown += _SEQUENCE.sub("", said.decode(errors="replace")).replace("\r", "")
        return bool(said)


@contextmanager
def on_terminal(*words: str | Path, env: Mapping[str, str]) -> Iterator[Terminal]:
    """A command on a pseudo-terminal, ended with the block."""
    terminal = Terminal(words, env)
    try:
        yield terminal
    finally:
        terminal.close()


def nothing_runs_on(state_dir: Path) -> None:
    """Wait until all that works on that directory has ended."""
    deadline = time.monotonic() + END_SECONDS
    while left := running_on(state_dir):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def running_on(state_dir: Path) -> list[str]:
    """Command lines of processes that work on that directory, by command line or by environment."""
    mark = str(state_dir).encode()
    return [said for entry in Path("/proc").iterdir() if entry.name.isdigit() and (said := _said(entry, mark))]


def _said(process: Path, mark: bytes) -> str:
    try:
        line, env = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
    except OSError:
        return ""
    return line.replace(b"\0", b" ").decode(errors="replace") if line and (mark in line or mark in env) else ""
