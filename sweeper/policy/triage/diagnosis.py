"""What failed: deterministic, explainable, cheap. One answer for a run, with a reason for each cause in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sweeper.model import (
    Action,
    Background,
    CheckPlan,
    Diagnosis,
    FailureClass,
    JobEvidence,
    RunFacts,
)
from sweeper.policy.redaction import redact_text
from sweeper.policy.triage.cause import Cause, cause_of
from sweeper.policy.triage.paths import is_absolute
from sweeper.policy.triage.pattern import Clue
from sweeper.policy.triage.reader import read_log
from sweeper.policy.triage.signature import cause_signature, joint_signature, normalised

MAX_LINES = 12
MAX_LINE = 200
MOST_NAMED = 20
OPERATORS_CHECKS = "operator's checks"

_BY_SERIOUSNESS = (
    FailureClass.BUILD,
    FailureClass.DEPENDENCY,
    FailureClass.CONFIGURATION,
    FailureClass.TEST,
    FailureClass.TYPE,
    FailureClass.LINT,
    FailureClass.FORMAT,
    FailureClass.INFRASTRUCTURE,
    FailureClass.OUTSIDE_CODE,
    FailureClass.FLAKY,
    FailureClass.UNKNOWN,
)
"""What code can mend goes first, and of that what keeps the rest from being seen."""

_ALONE = Background()
_NOT_FOR_CODE = frozenset({FailureClass.FLAKY, FailureClass.INFRASTRUCTURE, FailureClass.OUTSIDE_CODE})


@dataclass(frozen=True)
class _Found:
    """A job's cause and its signature."""

    job: str
    command: str
    cause: Cause
    signature: str


def diagnose(
    facts: RunFacts,
    jobs: Sequence[JobEvidence],
    logs: Sequence[bytes | None],
    plan: CheckPlan,
    background: Background = _ALONE,
) -> Diagnosis:
    """One diagnosis for the run. All failing jobs count: jobs that fail for the same cause give one signature.

    `logs`: one for each of `jobs`, redacted; None: there is none.
    """
    found = [_found(facts, job, log, plan) for job, log in zip(jobs, logs, strict=True)]
    own = [item for item in found if not item.cause.was_stopped] or found
    if not own:
        return _without_jobs(facts, plan, background)
    own = sorted(own, key=lambda item: _BY_SERIOUSNESS.index(item.cause.failure_class))
    first = own[0]
    failure_class, action, why = _decide(facts, first.cause, plan, background)
    clues = [clue for item in own for clue in item.cause.clues]
    return Diagnosis(
        job=first.job,
        step=first.cause.step,
        command=first.command,
        failure_class=failure_class,
        action=action,
        reasons=tuple(_shown((*why, *_reasons(own), *_of_background(background)))),
        error_lines=tuple(_shown(_lines_in_turn([item.cause.lines for item in own]))),
        files=_files(clues) or _files([clue for item in own for clue in item.cause.hints]),
        tests=_first(clue.test for clue in clues),
        signature=joint_signature(item.signature for item in own),
        jobs=tuple(sorted({item.job for item in found})),
        background=background,
    )


def _found(facts: RunFacts, evidence: JobEvidence, log: bytes | None, plan: CheckPlan) -> _Found:
    job = evidence.job.name
    command = _planned(job, plan)
    cause = cause_of(evidence, read_log([log]) if log else None, command)
    fallback = (facts.workflow_path, _without_matrix(job), normalised(cause.step))
    signature = cause_signature(cause.clues, (*fallback, normalised(cause.reason)))
    return _Found(job=job, command=command or cause.script, cause=cause, signature=signature)


def _planned(job: str, plan: CheckPlan) -> str:
    of_job = [check.command for check in plan.checks if check.job in (job, "")]
    return of_job[0] if of_job else ""


def _without_matrix(job: str) -> str:
    """GitHub names the jobs of a matrix `name (values)`."""
    return job.partition(" (")[0]


def _decide(
    facts: RunFacts, cause: Cause, plan: CheckPlan, background: Background
) -> tuple[FailureClass, Action, tuple[str, ...]]:
    """Class, action and what people have to know of how they came about."""
    is_first = facts.run.run_attempt == 1
    if background.green_attempts:
        attempts = ", ".join(map(str, background.green_attempts))
        why = f"the same commit passed in attempt {attempts}: it fails by chance"
        return FailureClass.FLAKY, Action.RERUN_ONCE if is_first else Action.TELL_HUMAN, (why,)
    if cause.failure_class is FailureClass.UNKNOWN:
        return FailureClass.UNKNOWN, *_of_unknown(cause, plan)
    return cause.failure_class, *_of_known(cause, is_first)


def _of_unknown(cause: Cause, plan: CheckPlan) -> tuple[Action, tuple[str, ...]]:
    if not cause.has_evidence and plan.checks and plan.source == OPERATORS_CHECKS:
        return Action.FIX, ("the operator's checks show the failure, whatever the log would say",)
    if cause.has_evidence and not cause.was_stopped and plan.checks:
        return Action.FIX, ("the class is not known, the check shows the failure",)
    return Action.TELL_HUMAN, ()


def _of_known(cause: Cause, is_first: bool) -> tuple[Action, tuple[str, ...]]:
    wish = cause.wish
    if wish is None:
        is_code = cause.failure_class not in _NOT_FOR_CODE
        wish = Action.FIX if is_code else Action.RERUN_ONCE
        if cause.failure_class is FailureClass.OUTSIDE_CODE:
            wish = Action.TELL_HUMAN
    if wish in (Action.RERUN_ONCE, Action.WAIT) and not is_first:
        return Action.TELL_HUMAN, ("it failed like that after it was run again, too",)
    return wish, ()


def _reasons(own: Sequence[_Found]) -> Iterable[str]:
    """One for each cause, with the jobs that show it."""
    groups: dict[str, list[_Found]] = {}
    for item in own:
        groups.setdefault(item.signature, []).append(item)
    for same in groups.values():
        cause = same[0].cause
        names = sorted({item.job for item in same})
        one = f"job {names[0]!r}" if names[0] else "the job"
        who = one if len(names) == 1 else f"{len(names)} jobs alike ({', '.join(names)})"
        where = f", step {cause.step!r}" if cause.step else ""
        prefix = "" if cause.has_evidence else "no evidence: "
        yield f"{prefix}{cause.failure_class}: {who}{where}: {cause.reason.removeprefix('no evidence: ')}"


def _of_background(background: Background) -> Iterable[str]:
    if background.head_fails_alike is not None:
        word = "fails the same way" if background.head_fails_alike else "does not fail"
        yield f"the newest commit of the branch {word}"
    if background.target_fails_alike:
        yield "the target of the pull request fails in the same job"
    if background.seen_in:
        yield f"seen before in {', '.join(background.seen_in[:3])}"
    if background.last_green:
        count = len(background.commits_since_green)
        yield f"last passed at {background.last_green[:12]}, {count} known commits ago"


def _without_jobs(facts: RunFacts, plan: CheckPlan, background: Background) -> Diagnosis:
    """GitHub could not start the run, or lists no job of it."""
    is_file = facts.conclusion == "startup_failure"
    reason = "no evidence: GitHub lists no failing job of this run"
    if is_file:
        reason = "configuration: GitHub could not start the run, mostly because its workflow file is not valid"
    return Diagnosis(
        job="",
        step="",
        command=_planned("", plan),
        failure_class=FailureClass.CONFIGURATION if is_file else FailureClass.UNKNOWN,
        action=Action.FIX if plan.checks and (is_file or plan.source == OPERATORS_CHECKS) else Action.TELL_HUMAN,
        reasons=(reason, *_of_background(background)),
        files=(facts.workflow_path,) if is_file and facts.workflow_path else (),
        signature=cause_signature((), (facts.workflow_path, facts.conclusion or "")),
        background=background,
    )


def _lines_in_turn(of_jobs: Sequence[Sequence[str]]) -> list[str]:
    """The first line of each, then the second of each, so that no job's words crowd out another's."""
    longest = max(map(len, of_jobs), default=0)
    return [lines[n] for n in range(longest) for lines in of_jobs if n < len(lines)]


def _shown(texts: Iterable[str]) -> list[str]:
    distinct: Mapping[str, None] = dict.fromkeys(redact_text(text)[:MAX_LINE] for text in texts if text)
    return list(distinct)[:MAX_LINES]


def _files(clues: Sequence[Clue]) -> tuple[str, ...]:
    """Those of the repository: what lies elsewhere on a machine is nobody's to mend."""
    return _first(clue.file for clue in clues if not is_absolute(clue.file))


def _first(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(redact_text(name)[:MAX_LINE] for name in names if name))[:MOST_NAMED]
