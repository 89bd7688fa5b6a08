"""A step in the making: what of its lines is kept."""

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

from sweeper.policy.triage.joblog import Line, Part, StepLog
from sweeper.policy.triage.pattern import Clue

MOST_HEAD, MOST_TAIL = 20, 60
FIRST_CLUES, LAST_CLUES = 60, 100
MOST_SCRIPT = 1 << 16
KEPT_OF_A_LINE = 500
_SHELL = "shell: "

T = TypeVar("T")


class Ends(Generic[T]):
    """The first and the last of a row."""

    def __init__(self, first: int, last: int) -> None:
        self._most = first
        self._first: list[T] = []
        self._last: deque[T] = deque(maxlen=last)
        self.count = 0

    def add(self, item: T) -> None:
        """The next one."""
        self.count += 1
        if len(self._first) < self._most:
            self._first.append(item)
        else:
            self._last.append(item)

    @property
    def head(self) -> tuple[T, ...]:
        """The first ones."""
        return tuple(self._first)

    @property
    def tail(self) -> tuple[T, ...]:
        """The last ones that are not among the first."""
        return tuple(self._last)

    def __iter__(self) -> Iterator[T]:
        yield from self._first
        yield from self._last


class StepBuilder:
    """Takes a step's lines one by one."""

    def __init__(self, part: Part, first_line: int, name: str = "", job: str = "") -> None:
        self.part = part
        self.name = name[:KEPT_OF_A_LINE]
        self.job = job
        self.column = ""
        self.is_excused = False
        self._first_line = self._last_line = first_line
        self._exit_code: int | None = None
        self._script: list[str] = []
        self._script_size = 0
        self._output: Ends[Line] = Ends(MOST_HEAD, MOST_TAIL)
        self._clues: Ends[Clue] = Ends(FIRST_CLUES, LAST_CLUES)
        self._errors: Ends[Line] = Ends(FIRST_CLUES, LAST_CLUES)
        self._last_clue = ""

    @property
    def is_blank(self) -> bool:
        """Whether nothing was said of it or by it."""
        return not self.name and not self._output.count and self._exit_code is None

    @property
    def is_fresh(self) -> bool:
        """Whether it has only been opened."""
        return not self._output.count and not self._script and self._exit_code is None

    def echo(self, line: str) -> None:
        """A line of its script."""
        self._script_size += len(line) + 1
        if self._script_size <= MOST_SCRIPT:
            self._script.append(line)

    def add(self, text: str, number: int, clue: Clue | None = None) -> None:
        """A line of output, and what it says. The same said twice in a row counts once."""
        self._last_line = number
        if text or self._output.count:
            self._output.add(Line(number, text[:KEPT_OF_A_LINE]))
        if clue is not None and clue.text != self._last_clue:
            self._clues.add(clue)
            self._last_clue = clue.text

    def error(self, text: str, number: int, clue: Clue | None) -> None:
        """A line that was marked as an error."""
        self._errors.add(Line(number, text[:KEPT_OF_A_LINE]))
        self.add(text, number, clue)

    def exit(self, code: int, number: int) -> None:
        """How its script ended: so it was a step, even if the log is cut where it began."""
        self.part = Part.STEP
        self._exit_code = code
        self._last_line = number

    def adopt_header(self) -> None:
        """A log that is cut in the middle of a step's header has its script without colours before `shell: `."""
        lines = [line.text for line in self._output]
        shell = next((n for n, text in enumerate(lines) if text.startswith(_SHELL)), None)
        if shell is None or self._script or self._output.tail:
            return
        for text in lines[:shell]:
            self.echo(text)
        self._output = Ends(MOST_HEAD, MOST_TAIL)
        self._clues = Ends(FIRST_CLUES, LAST_CLUES)

    def build(self) -> StepLog:
        """What is kept: of a step with nothing to tell only its last lines."""
        is_cut = self._script_size > MOST_SCRIPT
        tells = self._exit_code is not None or self._clues.count or self._errors.count
        head, tail = (self._output.head, self._output.tail) if tells else ((), tuple(self._output)[-10:])
        return StepLog(
            part=self.part,
            name=self.name,
            job=self.job,
            script=None if is_cut else "\n".join(self._script) or None,
            script_is_cut=is_cut,
            exit_code=self._exit_code,
            is_excused=self.is_excused,
            first_line=self._first_line,
            last_line=self._last_line,
            head=head,
            tail=tail,
            left_out=self._output.count - len(head) - len(tail),
            clues=tuple(self._clues),
            errors=tuple(self._errors),
        )
