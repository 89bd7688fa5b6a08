"""How a tool's words are recognised: one row per kind of line, so that a new tool is a few rows and nothing else."""

import re
from dataclasses import dataclass

from sweeper.model import Action, FailureClass

LONGEST_LINE = 2000
"""Characters of a line that patterns see; patterns take time linear in it."""

WEAK, PLAIN, VERDICT = 1, 2, 3
"""How much a line says: a hint that counts only if there is nothing better; an error; the tool's own last word."""


@dataclass(frozen=True)
class Pattern:
    """A kind of line of one tool.

    `line` is searched in plain lines (no timestamp, no colours, no `##[error]` in front). Its named groups, all
    optional: `file`, `line`, `test` (the tool's id of a test), `code` (the rule or error code), `message` (what tells
    this cause from another). `reason`: a clause for people, completed by the quoted line. `action`: if another one than
    the class's.
    """

    tool: str
    failure_class: FailureClass
    line: re.Pattern[str]
    reason: str
    strength: int = PLAIN
    action: Action | None = None


@dataclass(frozen=True)
class Command:
    """What a failing command runs: gives a class where its output says nothing that is known."""

    tool: str
    failure_class: FailureClass
    command: re.Pattern[str]


@dataclass(frozen=True)
class Clue:
    """A line that a pattern recognised. `number`: of the line in the log, from 0."""

    tool: str
    failure_class: FailureClass
    text: str
    number: int
    reason: str
    strength: int = PLAIN
    action: Action | None = None
    file: str = ""
    test: str = ""
    code: str = ""
    message: str = ""
