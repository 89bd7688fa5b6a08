"""The check plan: which commands show the failure.

Taken from the operator if he names them, else from the workflow file at the failing commit (never from a tree an
agent has touched), else, when there is no such file, from what the job's own log echoes. Semantics of `shell`,
`defaults`, `env` and step names: GitHub's "Workflow syntax for GitHub Actions".
"""

from collections.abc import Iterator, Sequence

from sweeper.errors import Unverifiable
from sweeper.model import Check, CheckPlan, JobEvidence, JobFacts
from sweeper.policy.joblog import failing_script
from sweeper.policy.workflow_file import WorkflowFile, WorkflowJob, WorkflowStep, read_workflow

SHELLS = frozenset({"bash", "sh", "default"})
_EXPRESSION = "${{"


def check_plan(
    jobs: Sequence[JobEvidence],
    logs: Sequence[bytes | None],
    workflow: bytes | None,
    operator_checks: Sequence[str] = (),
) -> CheckPlan:
    """One check per failing job, duplicates once. Without a command it is unverifiable with a reason, never guessed."""
    if operator_checks:
        checks = tuple(Check(name=f"check {n}", command=c) for n, c in enumerate(operator_checks, start=1))
        return CheckPlan(checks=checks, source="operator's checks")
    if workflow is None:
        return _distinct(_from_logs(jobs, logs), "job log", "no workflow file at that commit and no command in the log")
    try:
        found = _from_workflow(jobs, read_workflow(workflow))
        return _distinct(found, "workflow file", "no failing run step in the workflow file")
    except Unverifiable as reason:
        return CheckPlan(source="workflow file", unverifiable=str(reason))


def _distinct(checks: Iterator[Check], source: str, otherwise: str) -> CheckPlan:
    seen: dict[tuple[str, str, str], Check] = {}
    for check in checks:
        seen.setdefault((check.command, check.working_directory, check.shell), check)
    return CheckPlan(checks=tuple(seen.values()), source=source, unverifiable=None if seen else otherwise)


def _from_logs(jobs: Sequence[JobEvidence], logs: Sequence[bytes | None]) -> Iterator[Check]:
    for evidence, log in zip(jobs, logs, strict=True):
        if log and (script := failing_script(log)):
            step = evidence.job.failing_step()
            yield Check(name=evidence.job.name, command=script, job=evidence.job.name, step=step.name if step else "")


def _from_workflow(jobs: Sequence[JobEvidence], workflow: WorkflowFile) -> Iterator[Check]:
    for evidence in jobs:
        job = workflow.job_called(evidence.job.name)
        if job is None:
            raise Unverifiable(f"job {evidence.job.name!r} is not in the workflow file")
        step = _failing_step(job, evidence.job)
        if step is not None and step.run is not None:
            yield _check(workflow, job, step, evidence.job.name)


def _failing_step(job: WorkflowJob, facts: JobFacts) -> WorkflowStep | None:
    failing = facts.failing_step()
    runs = [step for step in job.steps if step.run is not None]
    if failing is None:
        return runs[0] if len(runs) == 1 else None
    return next((step for step in job.steps if step.shown_as() == failing.name), None)


def _check(workflow: WorkflowFile, job: WorkflowJob, step: WorkflowStep, job_name: str) -> Check:
    defaults, outer = job.defaults.run, workflow.defaults.run
    command = (step.run or "").strip()
    env = {**workflow.env, **job.env, **step.env}
    shell = step.shell or defaults.shell or outer.shell or "default"
    where = step.working_directory or defaults.working_directory or outer.working_directory or "."
    if any(_EXPRESSION in text for text in (command, where, *env.values())):
        raise Unverifiable(f"step {step.shown_as()!r} uses a ${{{{ }}}} expression, which cannot be evaluated here")
    if shell not in SHELLS:
        raise Unverifiable(f"step {step.shown_as()!r} uses shell {shell!r}; bash and sh are supported")
    return Check(
        name=job_name,
        command=command,
        job=job_name,
        step=step.shown_as(),
        shell=shell,
        working_directory=where,
        env=env,
    )


def shell_argv(check: Check) -> tuple[str, ...]:
    """As the runner would start it: no `shell:` is `bash -e`, `shell: bash` adds pipefail, `sh` is `sh -e`."""
    match check.shell:
        case "bash":
            return ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", check.command)
        case "sh":
            return ("sh", "-e", "-c", check.command)
        case _:
            return ("bash", "-e", "-c", check.command)
