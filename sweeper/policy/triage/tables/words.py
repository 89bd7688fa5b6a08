"""Rows of one tool, written shortly."""

import re
from dataclasses import dataclass

from sweeper.model import Action, FailureClass
from sweeper.policy.triage.pattern import PLAIN, VERDICT, WEAK, Command, Pattern


@dataclass(frozen=True)
class Words:
    """The words of one tool that mean one class of failure.

    A row's regular expression takes time linear in the line: it begins at the line's start (`^`) or with a fixed word,
    and holds at most one open-ended part that could also match what follows it.
    """

    tool: str
    failure_class: FailureClass
    action: Action | None = None

    def last_word(self, line: str, reason: str) -> Pattern:
        """What the tool says when it gives up, or names as the failure."""
        return self._row(line, reason, VERDICT)

    def error(self, line: str, reason: str) -> Pattern:
        """What the tool says of one error."""
        return self._row(line, reason, PLAIN)

    def hint(self, line: str, reason: str) -> Pattern:
        """What counts only where nothing better is found."""
        return self._row(line, reason, WEAK)

    def _row(self, line: str, reason: str, strength: int) -> Pattern:
        return Pattern(self.tool, self.failure_class, re.compile(line), reason, strength, self.action)


INSTALLING = (
    r"[ \t]*(?:sudo )?(?:python[\d.]* -m )?"
    r"(?:pip[\d.]*|pipx|uv(?: pip| tool)?|poetry|pipenv|conda|mamba|npm|pnpm|yarn|bun|"
    r"apt|apt-get|brew|choco|dnf|apk|go|cargo|gem) (?:-\S{1,80} )?(?:install|i|add|get)(?![\w-])"
)
"""What installs a tool does not run it."""


def run_by(tool: str, failure_class: FailureClass, command: str) -> Command:
    """A command somewhere in a script, after whatever starts it, but not as what is to be installed."""
    return Command(tool, failure_class, re.compile(rf"(?<![^\n;&|])(?!{INSTALLING}){_started(command)}"))


def installed_by(tool: str, command: str) -> Command:
    """A command that gets packages."""
    return Command(tool, FailureClass.DEPENDENCY, re.compile(rf"(?<![^\n;&|]){_started(command)}"))


def _started(command: str) -> str:
    return rf"(?:[^\n;&|]{{0,300}}?[\s(/'\"=])?(?:{command})(?![\w./-])"
