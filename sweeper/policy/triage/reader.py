"""Reading the log of an Actions job, once and from front to back, in bounded memory.

A step opens with `##[group]Run <first line>`; up to `##[endgroup]` its script is echoed in cyan, then its shell and
environment. `##[error]Process completed with exit code N.` ends a failing one, `##[end-action ...]` (since 2026) any.
`Post job cleanup.` begins what concerns nobody. Problem matchers put `##[error]` before lines of tools. None of these
has to be there: a log may be cut at both ends, or be the bare output of a command.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from sweeper.policy.triage.clues import Recogniser, recogniser
from sweeper.policy.triage.joblog import CANCELLED, JobLog, Part, StepLog
from sweeper.policy.triage.lines import LineReader, RawLine, plain, split_lines
from sweeper.policy.triage.steps import StepBuilder

MOST_STEPS = 200
MOST_CHECKOUTS = 5
MOST_NAME = 300
_JOB_NAME = "Complete job name: "
_GROUP_RUN = "##[group]Run "
_END_GROUP = "##[endgroup]"
_ERROR = "##[error]"
_SCRIPT_LINE = re.compile(r"\x1b\[36;1m(.*?)(?:\x1b\[0m)?$")
_HEADER_LINE = re.compile(r"\s|shell: |env:|with:|$")
_EXIT = re.compile(r"(?:##\[error\])?Process completed with exit code (-?\d{1,10})\b")
_END_ACTION = re.compile(r"##\[end-action [^\]]{0,300}?outcome=(\w+);conclusion=(\w+)")
_CLEANUP = ("Post job cleanup.", "Cleaning up orphan processes")
_CHECKED_OUT = re.compile(r"HEAD is now at [0-9a-f]{7,40} ")


def read_log(chunks: Iterable[bytes]) -> JobLog:
    """The job's steps and what is recognised in them. Where chunks end makes no difference; nothing makes it fail.

    Holds a few hundred lines of each of at most `MOST_STEPS` steps, never the log.
    """
    reader = _Reader(recogniser())
    for raw in split_lines(chunks):
        reader.take(raw)
    return reader.job_log()


class _Reader:
    """Where in the job the next line belongs."""

    def __init__(self, words: Recogniser) -> None:
        self._words = words
        self._lines = LineReader()
        self._number = -1
        self._size = 0
        self._done: list[StepLog] = []
        self._step = StepBuilder(Part.SETUP, first_line=0)
        self._is_in_header = False
        self._is_cancelled = False
        self._checkouts: list[str] = []
        self._name = ""

    def take(self, raw: bytes) -> None:
        """The next line."""
        self._number += 1
        self._size += len(raw) + 1
        line = self._lines.read(raw)
        self._follow_columns(line)
        if line.text.startswith(_GROUP_RUN):
            self._open(Part.STEP, plain(line.text.removeprefix("##[group]")), line)
            self._is_in_header = True
        elif not (self._is_in_header and self._header(line)):
            self._output(line)

    def job_log(self) -> JobLog:
        """All that was taken."""
        self._close()
        return JobLog(
            steps=tuple(self._done),
            lines=self._number + 1,
            size=self._size,
            name=self._name or next((step.job for step in self._done if step.job), ""),
            is_cancelled=self._is_cancelled,
            checkouts=tuple(self._checkouts),
        )

    def _follow_columns(self, line: RawLine) -> None:
        """In `gh run view --log` each line names its step."""
        if line.step and (line.job, line.step) != (self._step.job, self._step.column):
            self._open(Part.STEP, line.step, line)
            self._is_in_header = False

    def _open(self, part: Part, name: str, line: RawLine) -> None:
        if line.step and self._step.column == line.step and self._step.is_fresh:
            return
        self._close()
        self._step = StepBuilder(part, first_line=self._number, name=line.step or name, job=line.job)
        self._step.column = line.step

    def _close(self) -> None:
        if self._step.is_blank:
            return
        self._done.append(self._step.build())
        if len(self._done) > MOST_STEPS:
            del self._done[MOST_STEPS // 4]

    def _header(self, line: RawLine) -> bool:
        """Whether the line belongs to what a step says of itself before it runs."""
        if line.text.startswith(_END_GROUP):
            self._is_in_header = False
        elif echoed := _SCRIPT_LINE.match(line.text):
            self._step.echo(echoed[1])
        elif line.has_timestamp and not _HEADER_LINE.match(line.text):
            self._is_in_header = False
            return False
        return True

    def _output(self, line: RawLine) -> None:
        text = plain(line.text)
        if "Process completed" in text and (ended := _EXIT.match(text)):
            self._step.exit(int(ended[1]), self._number)
            self._after()
        elif text.startswith("##["):
            self._marker(text)
        elif text.startswith(_CLEANUP):
            self._open(Part.CLEANUP, "", line)
            self._step.add(text, self._number)
        else:
            self._words_of_a_step(text)

    def _after(self) -> None:
        """A step that has ended says nothing more; what follows belongs to none, unless a column says so."""
        if not self._step.column:
            self._close()
            self._step = StepBuilder(Part.BETWEEN, first_line=self._number + 1)

    def _marker(self, text: str) -> None:
        if ended := _END_ACTION.match(text):
            self._excuse(outcome=ended[1], conclusion=ended[2])
        elif text.startswith(_END_GROUP):
            self._step.adopt_header()
        elif text.startswith(_ERROR):
            said = text.removeprefix(_ERROR)
            self._is_cancelled = self._is_cancelled or said.startswith(CANCELLED)
            self._step.error(said, self._number, self._words.clue(said, self._number))
        else:
            self._words_of_a_step(text.removeprefix("##[warning]"))

    def _excuse(self, outcome: str, conclusion: str) -> None:
        """`continue-on-error`: the outcome is a failure, the conclusion is not. It may stand after the exit code."""
        if outcome != "failure" or conclusion != "success":
            return
        if self._step.part is Part.BETWEEN and self._step.is_blank and self._done:
            self._done[-1] = replace(self._done[-1], is_excused=True)
        else:
            self._step.is_excused = True

    def _words_of_a_step(self, text: str) -> None:
        if text.startswith("HEAD") and _CHECKED_OUT.match(text) and len(self._checkouts) < MOST_CHECKOUTS:
            self._checkouts.append(text)
        elif self._step.part is Part.SETUP and not self._name and text.startswith(_JOB_NAME):
            self._name = text.removeprefix(_JOB_NAME)[:MOST_NAME]
        self._step.add(text, self._number, self._words.clue(text, self._number))
