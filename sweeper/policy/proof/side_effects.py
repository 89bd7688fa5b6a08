"""What a job's commands did besides passing: files of the checkout, variables and paths left for later steps.

Code under test may write where it is tested. If it writes what judges it, a later command of the same job is judged by
another exam than the tree's. Honest tools write as well, so what they also do without the change is never held against
it. Environment files: GitHub's "Workflow commands for GitHub Actions".
"""

import re
from collections.abc import Iterator, Sequence

from sweeper.model import Check, Finding, Severity, Strict, Touched
from sweeper.policy.tampering import Exam
from sweeper.policy.tampering.places import (
    MIXED,
    base,
    is_checker_config,
    is_collected,
    is_conftest,
    is_script,
    is_snapshot,
)

EXAM_TOUCHED = "exam_touched_while_run"
FILES_TOUCHED = "files_touched_while_run"
STEPS_STEERED = "later_steps_steered"
MOST_SHOWN = 5
MOST_OF_A_NAME = 80

_STEERS = re.compile(
    r"PATH|HOME|ENV|BASH_ENV|SHELL|(?:PYTHON|PYTEST|COVERAGE|TOX|NOX|PIP|NODE|NPM|JEST|VITEST|LD|GO)\w*"
)
_COMMANDS = re.compile(r"(?:^|/)[^./]+$|\.(?:py|[cm]?[jt]s|rb|pl)$")


class SideEffects(Strict):
    """Of one run of a check's job. `env` and `path`: what its steps left for later ones."""

    touched: Touched = Touched()
    env: dict[str, str] = {}
    path: tuple[str, ...] = ()

    def without(self, other: "SideEffects") -> "SideEffects":
        """What another run did not do as well."""
        mine, known = self.touched, {*other.touched.changed, *other.touched.rewritten, *other.touched.added}
        return SideEffects(
            touched=Touched(
                changed=tuple(path for path in mine.changed if path not in known),
                rewritten=tuple(path for path in mine.rewritten if path not in known),
                added=tuple(path for path in mine.added if path not in known),
            ),
            env={name: value for name, value in self.env.items() if other.env.get(name) != value},
            path=tuple(entry for entry in self.path if entry not in other.path),
        )


def side_effect_findings(effects: SideEffects, check: Check, exam: Exam) -> tuple[Finding, ...]:
    """What judges the code and was written while it ran rejects; other files are shown, at most MOST_SHOWN of them.

    Variables and paths that a command of the plan names itself are CI's own doing.
    """
    touched = effects.touched
    judging = [path for path in (*touched.changed, *touched.rewritten) if _is_exam(path, exam)]
    judging += [path for path in touched.added if _takes_part(path, exam)]
    others = [path for path in touched.changed if path not in judging]
    detail = "was written while the checks ran, which it is not without the change"
    found = [*_at(EXAM_TOUCHED, judging, Severity.REJECT, detail), *_at(FILES_TOUCHED, others, Severity.SHOW, detail)]
    steered = list(_steered(effects, "\n".join(_texts(check))))
    # Where settings are what failed, a script that sets them may be the honest fix.
    severity = Severity.SHOW if exam.is_about_settings else Severity.REJECT
    return (*found, *_at(STEPS_STEERED, steered, severity, "was left for later steps by code that a step ran"))


def _is_exam(path: str, exam: Exam) -> bool:
    """Of the files that the tree has."""
    if is_checker_config(path) or is_conftest(path) or base(path) in MIXED:
        return True
    if is_collected(path) and not path.endswith(".rs"):  # Rust's tests lie in its products
        return True
    holds_commands = is_script(path) or bool(_COMMANDS.search(path))
    return (holds_commands and exam.calls(path)) or (is_snapshot(path) and exam.failing(path))


def _takes_part(path: str, exam: Exam) -> bool:
    """Of new files: what tools look for by name. A new test file takes nothing away, and tests do write some."""
    if is_checker_config(path) or is_conftest(path) or base(path) in MIXED:
        return True
    return is_script(path) and exam.calls(path)


def _steered(effects: SideEffects, commands: str) -> Iterator[str]:
    for name in effects.env:
        if _STEERS.fullmatch(name) and not re.search(rf"(?<!\w){re.escape(name)}(?:=|<<)", commands):
            yield name
    for entry in effects.path:
        if "/".join(entry.rstrip("/").split("/")[-2:]) not in commands:
            yield entry


def _texts(check: Check) -> Iterator[str]:
    yield check.command
    yield from (step.command for step in (*check.before, *check.after))


def _at(name: str, places: Sequence[str], severity: Severity, detail: str) -> Iterator[Finding]:
    more = len(places) - MOST_SHOWN
    for number, place in enumerate(places[:MOST_SHOWN], start=1):
        rest = f" (and {more} more)" if more > 0 and number == MOST_SHOWN else ""
        place = place[:MOST_OF_A_NAME]
        yield Finding(name=name, place=place, severity=severity, detail=f"{place} {detail}{rest}")
