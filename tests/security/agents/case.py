"""One hostile agent, and what it may achieve."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sweeper.model import FixOutcome

if TYPE_CHECKING:
    from tests.security.agents.leavings import Left

BREACH = "BREACH"
OVER = "the attack is over"
TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
"""Of a known shape, and nobody's."""

ANY_END = (FixOutcome.EDITED, FixOutcome.FAILED)

_SHELL = f"""
breach() {{ echo "{BREACH} $*"; }}
attempt() {{ what=$1; shift; if "$@" >/dev/null 2>&1; then breach "$what"; fi; }}
"""
_PYTHON = f"""
import ctypes, os, signal, socket, struct, subprocess, sys, time
def breach(what): print("{BREACH}", what, flush=True)
def attempt(what, call, *given):
    try: found = call(*given)
    except Exception as error: return print(what, "->", type(error).__name__, flush=True)
    breach(what)
    return found
def read(path):
    with open(path, "rb", buffering=0) as file: return file.read(4096)
def syscall(number, *given):
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    return call(*map(ctypes.c_long, (number, *given)))
"""

Look = Callable[["Left"], Iterator[str]]
"""What must hold of what an agent left: a sentence for each thing that does not."""


@dataclass(frozen=True)
class Hostile:
    """`name` is a sentence about it. `program` is Python, or `shell`; it calls `breach` or `attempt` by itself.

    `ends`: how it may end. `stopped_by`: the limit that has to end it. `gets_through`: it says so when it is done.
    `refused`: words of the refusal of its tree; else the tree becomes a patch, in which `edits` may stand without a
    finding and each path of `found` has that finding. `files`: what lies in the repository beside the usual.
    `looks`: what else must hold. `has_model`: it is given a door to a model; `scolds`: one that refuses everything.
    `disk_bytes`: how much of the disk it may take.
    """

    name: str
    program: str = ""
    shell: str = ""
    ends: tuple[FixOutcome, ...] = (FixOutcome.EDITED,)
    stopped_by: str = ""
    gets_through: bool = True
    refused: str = ""
    edits: tuple[str, ...] = ()
    found: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 25.0
    looks: tuple[Look, ...] = ()
    has_model: bool = False
    scolds: bool = False
    disk_bytes: int | None = None

    def command(self, fill: Callable[[str], str], mark: str) -> str:
        """The agent's command line. `mark` is an argument of each process that it forks."""
        end = f'\nprint("{OVER}", flush=True)\n' if self.program else f'\necho "{OVER}"\n'
        text = (_PYTHON + self.program if self.program else _SHELL + self.shell) + (end if self.gets_through else "\n")
        runner = "exec python3 -c" if self.program else "exec sh -c"
        name = "" if self.program else "agent"
        return f"{runner} {shlex.quote(fill(text))} {name} {mark}"
