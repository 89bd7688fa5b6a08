"""The tables applied: what came, what went, what is left of it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sweeper.model import Finding
from sweeper.policy.tampering.exam import Exam
from sweeper.policy.tampering.places import base, is_checker_config, is_script
from sweeper.policy.tampering.seen import Line, Seen, reject, show
from sweeper.policy.tampering.tables import CHECKERS, COMMANDS, RULES, Rule

_SUPPRESSIONS = ("lint_ignore",)
_NAMED_FOR_CHECKS = ("test", "check", "lint", "ci", "verify", "build")


def by_words(files: Sequence[Seen], exam: Exam) -> Iterator[Finding]:
    """Rows of the tables of which more came than went."""
    for rule in RULES:
        concerned = [seen for seen in files if _applies(rule, seen)]
        came = [(seen, line) for seen in concerned for line in _lines(rule, seen, is_new=True)]
        went = sum(len(_lines(rule, seen, is_new=False)) for seen in concerned)
        if len(came) > went:
            for seen, (number, _) in came:
                honest = rule.is_shown or _is_far(rule, seen, exam)
                yield (show if honest else reject)(rule.name, seen.at(number), rule.detail)
        elif rule.name in _SUPPRESSIONS:
            for seen, (number, _) in came:
                yield show("suppression_changed", seen.at(number), "what a checker is told to look away from changed")
    yield from _replaced(files, exam)


def _is_far(rule: Rule, seen: Seen, exam: Exam) -> bool:
    """A script that no check is known to call may hide an exit code for reasons of its own."""
    if rule not in COMMANDS or not base(seen.path).endswith((".sh", ".bash", "dockerfile")):
        return False
    return not (exam.calls(seen.path) or any(word in base(seen.path) for word in _NAMED_FOR_CHECKS))


def _lines(rule: Rule, seen: Seen, *, is_new: bool) -> list[Line]:
    if rule.is_comment:
        lines = seen.added_comments if is_new else seen.removed_comments
    elif rule.is_code:
        lines = seen.added_code if is_new else seen.removed_code
    else:
        lines = seen.added if is_new else seen.removed
    return [(number, line) for number, line in lines if rule.pattern.search(line) and not _is_prose(rule, seen, line)]


def _is_prose(rule: Rule, seen: Seen, line: str) -> bool:
    """A whole-line comment in code does nothing unless a checker reads it."""
    if rule.is_comment or seen.language not in ("python", "js", "java", "rust", "c", "shell"):
        return False
    text = line.lstrip()
    return text.startswith("#" if seen.language in ("python", "shell") else "//") and not text.startswith("#[")


def _applies(rule: Rule, seen: Seen) -> bool:
    kinds = {seen.language, base(seen.path).rpartition(".")[2], *(("shell",) if is_script(seen.path) else ())}
    if kinds.isdisjoint(rule.languages):
        return False
    if rule.where == "any":
        return True
    is_exam = is_checker_config(seen.path) or is_script(seen.path)
    is_test = seen.is_test or base(seen.path) == "conftest.py"
    return {"tests": is_test, "product": not is_test and not is_exam, "exam": is_test or is_exam}[rule.where]


def _replaced(files: Sequence[Seen], exam: Exam) -> Iterator[Finding]:
    """Checkers that fewer commands call than before."""
    scripts = [seen for seen in files if is_script(seen.path) or exam.calls(seen.path)]
    calls: Counter[str] = Counter()
    for seen in scripts:
        for sign, lines in ((1, seen.added), (-1, seen.removed)):
            for _, line in lines:
                if not line.lstrip().startswith("#"):
                    for tool in {found[0] for found in CHECKERS.finditer(line)}:
                        calls[tool] += sign
    gone = {tool for tool, count in calls.items() if count < 0}
    found = show if exam.is_about_settings else reject
    for seen in scripts:
        for number, line in seen.removed:
            missing = sorted(gone.intersection(match[0] for match in CHECKERS.finditer(line)))
            if missing:
                yield found("command_replaced", seen.before(number), f"{missing[0]} is not called here any more")
