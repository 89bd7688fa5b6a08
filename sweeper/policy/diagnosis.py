"""What failed: deterministic, explainable, cheap. Lint, format, test, or an honest unknown."""

import hashlib
import re
from collections.abc import Iterable, Sequence

from sweeper.model import Action, Check, CheckPlan, Diagnosis, FailureClass, JobEvidence, RunFacts
from sweeper.policy.joblog import failing_section
from sweeper.policy.redaction import redact

MAX_LINES = 12
MAX_LINE = 200

_BY_COMMAND: tuple[tuple[FailureClass, re.Pattern[str]], ...] = (
    (FailureClass.TEST, re.compile(r"\bpytest\b|\bunittest\b|\btox\b|\bnox\b|\b(npm|go|cargo|make)\s+test\b|\bjest\b")),
    (FailureClass.LINT, re.compile(r"\bruff\s+check\b|\bflake8\b|\bpylint\b|\beslint\b|\bclippy\b|\bnpm run lint\b")),
    (FailureClass.FORMAT, re.compile(r"\bruff\s+format\b|\bblack\b.*--check|\bprettier\b.*--check|\bgofmt\b")),
)
"""The most serious first: a command that tests and lints is judged by its tests."""

_BY_SERIOUSNESS = (FailureClass.TEST, FailureClass.LINT, FailureClass.FORMAT, FailureClass.UNKNOWN)
_ERROR_LINE = re.compile(
    r"^##\[error\](?!Process completed)|^E  |^FAILED |^ERROR |^\[ERROR\] \S|\berror(\[\w+\])?:|^(?:--- )?FAIL[:\t]|"
    r"^\S+:\d+:\d+: |^--> \S+:\d+:\d+|^[A-Z]{1,4}\d{3,4} \S|^Would reformat: |^(AssertionError|[A-Za-z]+Error)\b"
)
_FILE = re.compile(r"(?:^|[\s(\"'])((?:[\w.-]+/)*[\w.-]+\.(?:py|pyi|js|jsx|ts|tsx|go|rs|java|c|cc|cpp|h|toml|ya?ml))\b")
_TEST = re.compile(r"^(?:FAILED|ERROR)\s+(\S+::\S+)|^(?:FAIL|ERROR): (\S+ \([\w.]+\))")
_ACTIONS_PREFIX = re.compile(r"^/home/runner/work/[^/]+/[^/]+/")


def diagnose(facts: RunFacts, jobs: Sequence[JobEvidence], logs: Sequence[bytes | None], plan: CheckPlan) -> Diagnosis:
    """One diagnosis for the run; the first failing job gives class and command, all jobs give lines and names.

    The signature is coarse: workflow, failing jobs and steps. The same failure of another run has the same one.
    """
    lines = [line for log in logs if log is not None for line in _error_lines(log)]
    first = jobs[0].job if jobs else None
    step = first.failing_step() if first else None
    check = plan.checks[0] if plan.checks else None
    failure_class, reasons = _classify(plan.checks)
    reasons += [f"job {j.job.name!r}: no log ({j.log_missing})" for j in jobs if j.log is None]
    names = tuple(sorted({evidence.job.name for evidence in jobs}))
    return Diagnosis(
        job=first.name if first else "",
        step=step.name if step else "",
        command=check.command if check else "",
        failure_class=failure_class,
        action=Action.FIX if plan.checks else Action.TELL_HUMAN,
        reasons=tuple(reasons),
        error_lines=tuple(_first(lines)),
        files=tuple(_first(match for line in lines for match in _FILE.findall(_ACTIONS_PREFIX.sub("", line)))),
        tests=tuple(_first(a or b for line in lines for a, b in _TEST.findall(line))),
        signature=_signature(facts, jobs),
        jobs=names,
    )


def _classify(checks: Sequence[Check]) -> tuple[FailureClass, list[str]]:
    """The most serious class of all failing commands, and for each command why."""
    found = [_class_of(check) for check in checks] or [(FailureClass.UNKNOWN, "no failing command is known")]
    worst = next(cls for cls in _BY_SERIOUSNESS if any(cls is of_check for of_check, _ in found))
    return worst, [reason for _, reason in found]


def _class_of(check: Check) -> tuple[FailureClass, str]:
    job = check.job or check.name
    for failure_class, pattern in _BY_COMMAND:
        if tool := pattern.search(check.command):
            return failure_class, f"{failure_class}: job {job!r} runs {tool[0]!r}"
    return FailureClass.UNKNOWN, f"job {job!r} runs no tool that is known"


def _error_lines(log: bytes) -> list[str]:
    section = failing_section(redact(log))
    return [line.strip()[:MAX_LINE] for line in section if _ERROR_LINE.search(line.strip())]


def _first(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))[:MAX_LINES]


def _signature(facts: RunFacts, jobs: Sequence[JobEvidence]) -> str:
    parts = [facts.workflow_path]
    for evidence in sorted(jobs, key=lambda item: item.job.name):
        step = evidence.job.failing_step()
        parts += [evidence.job.name, step.name if step else ""]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
