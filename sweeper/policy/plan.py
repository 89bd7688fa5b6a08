"""The check plan: which commands show the failure.

Taken from the operator if he names them, else from the workflow file at the failing commit (never from a tree an
agent has touched), else, when there is no such file, from what the job's own log echoes. Semantics of `shell`,
`defaults`, `env` and step names: GitHub's "Workflow syntax for GitHub Actions".
"""

from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from sweeper.model import Check, CheckPlan, JobEvidence, JobFacts
from sweeper.policy.joblog import failing_script

SHELLS = frozenset({"bash", "sh", "default"})
_EXPRESSION = "${{"


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class _RunDefaults(_Lenient):
    shell: str | None = None
    working_directory: str | None = Field(default=None, alias="working-directory")


class _Defaults(_Lenient):
    run: _RunDefaults = _RunDefaults()


class _Env(_Lenient):
    env: dict[str, str] = {}

    @field_validator("env", mode="before")
    @classmethod
    def _scalars(cls, value: Any) -> dict[str, str]:
        if not isinstance(value, dict):
            return {}
        return {str(name): str(v).lower() if isinstance(v, bool) else str(v) for name, v in value.items()}


class _Step(_Env):
    name: str | None = None
    run: str | None = None
    uses: str | None = None
    shell: str | None = None
    working_directory: str | None = Field(default=None, alias="working-directory")

    def shown_as(self) -> str:
        """The step's name as the API reports it."""
        if self.name:
            return self.name
        return "Run " + (self.run.strip().splitlines()[0] if self.run and self.run.strip() else self.uses or "")


class _Job(_Env):
    name: str | None = None
    defaults: _Defaults = _Defaults()
    steps: list[_Step] = []


class _Workflow(_Env):
    defaults: _Defaults = _Defaults()
    jobs: dict[str, _Job] = {}

    def job_called(self, name: str) -> _Job | None:
        """By key or name; a matrix job is shown as `name (row)`."""
        for key, job in self.jobs.items():
            shown = job.name or key
            if name in (shown, key) or name.startswith(f"{shown} ("):
                return job
        return None


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
        parsed = _Workflow.model_validate(yaml.safe_load(workflow) or {})
    except (yaml.YAMLError, ValidationError):
        return CheckPlan(unverifiable="the workflow file is not valid YAML of a workflow")
    try:
        return _distinct(_from_workflow(jobs, parsed), "workflow file", "no failing run step in the workflow file")
    except _CannotRunHere as reason:
        return CheckPlan(source="workflow file", unverifiable=str(reason))


class _CannotRunHere(Exception):
    pass


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


def _from_workflow(jobs: Sequence[JobEvidence], workflow: _Workflow) -> Iterator[Check]:
    for evidence in jobs:
        job = workflow.job_called(evidence.job.name)
        if job is None:
            raise _CannotRunHere(f"job {evidence.job.name!r} is not in the workflow file")
        step = _failing_step(job, evidence.job)
        if step is not None and step.run is not None:
            yield _check(workflow, job, step, evidence.job.name)


def _failing_step(job: _Job, facts: JobFacts) -> _Step | None:
    failing = facts.failing_step()
    runs = [step for step in job.steps if step.run is not None]
    if failing is None:
        return runs[0] if len(runs) == 1 else None
    return next((step for step in job.steps if step.shown_as() == failing.name), None)


def _check(workflow: _Workflow, job: _Job, step: _Step, job_name: str) -> Check:
    defaults, outer = job.defaults.run, workflow.defaults.run
    command = (step.run or "").strip()
    env = {**workflow.env, **job.env, **step.env}
    shell = step.shell or defaults.shell or outer.shell or "default"
    where = step.working_directory or defaults.working_directory or outer.working_directory or "."
    if any(_EXPRESSION in text for text in (command, where, *env.values())):
        raise _CannotRunHere(f"step {step.shown_as()!r} uses a ${{{{ }}}} expression, which cannot be evaluated here")
    if shell not in SHELLS:
        raise _CannotRunHere(f"step {step.shown_as()!r} uses shell {shell!r}; bash and sh are supported")
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
