"""Applying the tables to lines and commands."""

from collections.abc import Iterable, Sequence
from functools import cache

from sweeper.policy.triage.needles import needles
from sweeper.policy.triage.paths import in_repository
from sweeper.policy.triage.pattern import Clue, Command, Pattern
from sweeper.policy.triage.sieve import Sieve
from sweeper.policy.triage.tables import ALL, COMMANDS

KEPT_OF_A_LINE = 500


class Recogniser:
    """Tells what a line says by a table: the strongest pattern that fits counts, of equals the first."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._patterns = sorted(patterns, key=lambda pattern: -pattern.strength)
        self._sieve = Sieve([needles(pattern.line) for pattern in self._patterns])

    def clue(self, text: str, number: int) -> Clue | None:
        """What the line says, if anything. `text`: plain, at most `LONGEST_LINE` characters."""
        if not text:
            return None
        for row in self._sieve.rows(text):
            pattern = self._patterns[row]
            if found := pattern.line.search(text):
                return _clue(pattern, found.groupdict(), text, number)
        return None


def _clue(pattern: Pattern, groups: dict[str, str | None], text: str, number: int) -> Clue:
    said = {name: (groups.get(name) or "").strip()[:KEPT_OF_A_LINE] for name in ("file", "test", "code", "message")}
    return Clue(
        tool=pattern.tool,
        failure_class=pattern.failure_class,
        text=text.strip()[:KEPT_OF_A_LINE],
        number=number,
        reason=pattern.reason,
        strength=pattern.strength,
        action=pattern.action,
        file=in_repository(said["file"]),
        test=in_repository(said["test"]),
        code=said["code"],
        message=said["message"],
    )


@cache
def recogniser() -> Recogniser:
    """The one of all tables; made once, because it reads every pattern."""
    return Recogniser(ALL)


def command_of(script: str, commands: Sequence[Command] = COMMANDS) -> tuple[Command, str] | None:
    """What a script runs, by the first row of the table that fits, and the words it shows by."""
    for command in commands:
        if found := command.command.search(script):
            return command, found[0].strip()
    return None
