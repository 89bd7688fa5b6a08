"""The check plan: which commands show the failure, and why these.

Asked in turn: the operator, the repository's own configuration, the workflow file at the failing commit (never from a
tree an agent has touched), and, when there is no such file, the scripts that the jobs' logs echo.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sweeper.errors import Unverifiable
from sweeper.model import Check, CheckPlan, JobEvidence, PlanStep, RunFacts
from sweeper.policy.planning.evaluation import literally
from sweeper.policy.planning.jobs import JobIndex, Located
from sweeper.policy.planning.walk import Walk
from sweeper.policy.planning.workflow_file import WorkflowFile, read_workflow

if TYPE_CHECKING:  # it is read with the same hardened reader, which is part of this package
    from sweeper.policy.repository_config import RepositoryConfig

MOST_CHECK_BYTES = 12 * 1024
MOST_REASON_BYTES = 3 * 1024
"""A plan is kept in a workflow's history, which holds nothing big."""

MOST_ALIKE = 16
_ADVICE = "(`checks` in .github/sweeper.yml can name commands instead)"
_MASK = "***"


@dataclass(frozen=True, slots=True)
class _Planned:
    """What became of one failing job."""

    job: str
    check: Check | None = None
    problem: str = ""
    reasons: tuple[str, ...] = ()


def check_plan(
    jobs: Sequence[JobEvidence],
    scripts: Sequence[str | None],
    workflow: bytes | None,
    facts: RunFacts,
    config: "RepositoryConfig | None" = None,
    operator_checks: Sequence[str] = (),
) -> CheckPlan:
    """One check per failing job, exact duplicates once; what cannot be run here is said, never guessed.

    `scripts`: for each job the failing step's script as its log echoes it, for when `workflow` is None. A job without
    a check is named in `uncovered`; if there is no check at all, the plan is unverifiable.
    """
    if operator_checks:
        return _given(operator_checks, (), "operator's checks")
    if config is not None and config.checks:
        return _given(config.checks, config.setup, ".github/sweeper.yml")
    notes = ("`setup` in .github/sweeper.yml is not used: it belongs to `checks`.",) if config and config.setup else ()
    if workflow is None:
        return _gathered(_from_scripts(jobs, scripts), "job log", notes)
    try:
        file = read_workflow(workflow)
        index = JobIndex(file, facts)
    except Unverifiable as problem:
        return CheckPlan(source="workflow file", unverifiable=f"{problem} {_ADVICE}", reasons=notes)
    return _gathered((_from_workflow(job, file, index) for job in jobs), "workflow file", notes)


def _given(commands: Sequence[str], setup: Sequence[str], source: str) -> CheckPlan:
    before = tuple(PlanStep(name=f"setup {n}", command=literally(line)) for n, line in enumerate(setup, start=1))
    checks = tuple(
        Check(name=f"check {n}", command=literally(line), before=before) for n, line in enumerate(commands, start=1)
    )
    return CheckPlan(checks=checks, source=source)


def _from_scripts(jobs: Sequence[JobEvidence], scripts: Sequence[str | None]) -> Iterator[_Planned]:
    for evidence, script in zip(jobs, scripts, strict=True):
        name, step = evidence.job.name, evidence.job.failing_step()
        if not script:
            yield _Planned(name, problem="there is no workflow file at that commit and no command in its log")
        elif _MASK in script:
            yield _Planned(name, problem="there is no workflow file at that commit, and its log hides a secret")
        else:
            shown = step.name if step else ""
            why = f"Step {shown[:80]!r} failed: it is the check, as the job's log echoes it."
            yield _Planned(name, Check(name=name, command=literally(script), job=name, step=shown), reasons=(why,))


def _from_workflow(evidence: JobEvidence, file: WorkflowFile, index: JobIndex) -> _Planned:
    name = evidence.job.name
    try:
        located = index.called(name)
    except Unverifiable as problem:
        return _Planned(name, problem=str(problem))
    if len(located) > MOST_ALIKE:
        return _Planned(name, problem=f"it may be any of {len(located)} jobs of the workflow file")
    found = [_walked(file, job, evidence) for job in located]
    first, *others = found
    if any(other.check != first.check for other in others):
        return _Planned(name, problem=f"it may be any of {len(found)} jobs of the workflow file that differ")
    return first


def _walked(file: WorkflowFile, located: Located, evidence: JobEvidence) -> _Planned:
    walk = Walk(file, located, evidence.job)
    try:
        return _Planned(evidence.job.name, walk.check(), reasons=tuple(walk.reasons))
    except Unverifiable as problem:
        return _Planned(evidence.job.name, problem=str(problem), reasons=tuple(walk.reasons))


def _gathered(planned: Iterator[_Planned], source: str, notes: tuple[str, ...]) -> CheckPlan:
    gathering = _Gathering(source, notes)
    for job in planned:
        gathering.add(job)
    return gathering.plan()


class _Gathering:
    """The plan as it grows, job by job, within its bounds."""

    def __init__(self, source: str, notes: Sequence[str]) -> None:
        self._source = source
        self._reasons = dict.fromkeys(notes)
        self._checks: dict[str, Check] = {}
        self._problems: list[str] = []

    def add(self, job: _Planned) -> None:
        """Its check, unless another job has exactly the same; why there is none, if there is none."""
        self._reasons |= dict.fromkeys(job.reasons)
        if job.check is None:
            self._problems.append(f"job {job.job[:100]!r} cannot be checked: {job.problem}")
            return
        content = job.check.model_copy(update={"name": "", "job": "", "step": ""}).model_dump_json()
        if content in self._checks:
            self._reasons[f"Job {job.job[:100]!r} fails in the same check as {self._checks[content].job[:100]!r}."] = (
                None
            )
        elif sum(map(len, self._checks)) + len(content) > MOST_CHECK_BYTES:
            self._problems.append(f"job {job.job[:100]!r} cannot be checked: the plan has no room for its scripts")
        else:
            self._checks[content] = job.check

    def plan(self) -> CheckPlan:
        """All of it; without a check it is unverifiable."""
        reasons, uncovered = _within(list(self._reasons)), _within(self._problems)
        if self._checks:
            return CheckPlan(
                checks=tuple(self._checks.values()), source=self._source, reasons=reasons, uncovered=uncovered
            )
        problem = self._problems[0] if self._problems else "no job failed"
        return CheckPlan(source=self._source, unverifiable=f"{problem} {_ADVICE}", reasons=reasons, uncovered=uncovered)


def _within(sentences: Sequence[str]) -> tuple[str, ...]:
    """As many as there is room for; how many were left out is said."""
    kept: list[str] = []
    for n, sentence in enumerate(sentences):
        if sum(map(len, kept)) + len(sentence) > MOST_REASON_BYTES:
            return (*kept, f"And {len(sentences) - n} more.")
        kept.append(sentence)
    return tuple(kept)
