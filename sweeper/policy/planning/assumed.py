"""Failures that have not happened: what a plan would be if a job of a workflow file failed."""

from collections.abc import Sequence

from sweeper.errors import BadInput
from sweeper.model import JobEvidence, JobFacts, RunFacts, StepFacts
from sweeper.policy.planning.conditions import may_hold, only_speaks
from sweeper.policy.planning.evaluation import Context, Mark, Scope
from sweeper.policy.planning.jobs import JobIndex, Located
from sweeper.policy.planning.record import one_line, shown
from sweeper.policy.planning.workflow_file import WorkflowStep, read_workflow

FAILURE = "failure"


def assumed_failures(workflow: bytes, facts: RunFacts, step: str | None = None) -> tuple[JobEvidence, ...]:
    """Every job of the file, failing at the step of that name, or at the last one that runs a script.

    With `step`, jobs without one of that name are left out. A job of which the rows are not known is there without
    steps. Raises Unverifiable for a file that cannot be read.
    """
    index = JobIndex(read_workflow(workflow), facts)
    found = {located.names[0]: _assumed(located, step) for located in index.located}
    unknown = () if step else (JobFacts(id=0, name=name, conclusion=FAILURE) for name in index.unresolved)
    return tuple(JobEvidence(job=job) for job in (*found.values(), *unknown) if job is not None)


def chosen(jobs: Sequence[JobEvidence], name: str) -> tuple[JobEvidence, ...]:
    """Those shown under a name. Raises BadInput, naming some that are there, if there is none."""
    found = tuple(job for job in jobs if one_line(job.job.name) == one_line(name))
    if not found:
        some = ", ".join(repr(job.job.name) for job in jobs[:10]) or "none at all"
        raise BadInput(f"There is no job {name!r}; there are {some}.")
    return found


def _assumed(located: Located, step: str | None) -> JobFacts | None:
    steps = located.job.steps
    names = [shown(candidate, located.scope) for candidate in steps]
    fitting = [n for n, candidate in enumerate(steps) if _fits(candidate, names[n], step, located.scope)]
    if step is not None and not fitting:
        return None
    record = tuple(
        StepFacts(number=n, name=name, conclusion=FAILURE if fitting and n == fitting[-1] else None)
        for n, name in enumerate(names)
    )
    return JobFacts(id=0, name=located.names[0], conclusion=FAILURE, steps=record)


def _fits(candidate: WorkflowStep, name: str, wanted: str | None, scope: Scope) -> bool:
    if wanted is not None:
        return one_line(name) == one_line(wanted)
    if candidate.run is None:
        return False
    unsettled = Context(rest=Mark.LATER)
    return not only_speaks(candidate.run) and may_hold(candidate.condition, scope.having(steps=unsettled))
