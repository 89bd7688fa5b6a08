"""What is kept of a job's log: its steps, how each ended, what was recognised in it, and both ends of its output."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from sweeper.policy.triage.pattern import Clue

CANCELLED = ("The operation was canceled.", "The run was canceled by ")
"""How the runner says that it was told to stop: by a person, a newer push or a time limit."""


class Part(StrEnum):
    """Which part of a job lines belong to."""

    SETUP = "setup"
    STEP = "step"
    BETWEEN = "between"
    CLEANUP = "cleanup"


class Line(NamedTuple):
    """A line without timestamp and colours, cut. `number`: in the log, from 0."""

    number: int
    text: str


@dataclass(frozen=True)
class StepLog:
    """A step, or what stands before, between and after steps.

    `name` as GitHub names a step that has no name of its own: `Run <first line>`; in `gh run view --log` its real one.
    `script`: what the log echoes of it; None if it does not, or if it is cut (`script_is_cut`). `errors`: lines marked
    `##[error]`, but for the one that tells the exit code. `is_excused`: it failed, and the workflow goes on as if not.
    """

    part: Part
    name: str
    job: str
    script: str | None
    script_is_cut: bool
    exit_code: int | None
    is_excused: bool
    first_line: int
    last_line: int
    head: tuple[Line, ...]
    tail: tuple[Line, ...]
    left_out: int
    clues: tuple[Clue, ...]
    errors: tuple[Line, ...]

    @property
    def command(self) -> str:
        """What it ran: its script, or the first line, which is in its name; empty if neither is told."""
        if self.script is None and self.exit_code is not None and not self.script_is_cut:
            return self.name.removeprefix("Run ") if self.name.startswith("Run ") else ""
        return self.script or ""

    @property
    def failed(self) -> bool:
        """Whether its log says so: a non-zero exit code that was not excused."""
        return self.exit_code not in (None, 0) and not self.is_excused


@dataclass(frozen=True)
class JobLog:
    """The log of a job. Bounded whatever the log's size: of very many steps some in the middle are missing.

    `name` as the log tells it, which it does since 2024, and `gh` always. `checkouts`: lines that name a commit.
    """

    steps: tuple[StepLog, ...]
    lines: int
    size: int
    name: str = ""
    is_cancelled: bool = False
    checkouts: tuple[str, ...] = ()

    def failing_step(self, name: str | None = None, number: int | None = None) -> StepLog | None:
        """The step that made the job fail: the one that GitHub names, else the last with a non-zero exit code.

        A step that may fail (`continue-on-error`) tells its exit code too, so what the API says goes first. Names that
        a workflow gives its steps are not in a log; then the step's `number` there, counted from 1, which is the one
        that sets the job up, at least rules out later ones.
        """
        steps = [step for step in self.steps if step.part is Part.STEP]
        called = [step for step in steps if name and step.name == name]
        if called:
            return next((step for step in reversed(called) if step.failed), called[-1])
        if failed := [step for step in steps if step.failed]:
            early = steps[: number - 1] if number else steps
            return next((step for step in reversed(early) if step.failed), failed[-1])
        return next((step for step in reversed(steps) if step.errors and not step.is_excused), None)
