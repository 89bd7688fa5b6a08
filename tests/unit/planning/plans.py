"""Workflow snippets in, plans out."""

from textwrap import dedent

from sweeper.model import Check, CheckPlan, JobEvidence, JobFacts, StepFacts
from sweeper.policy.planning import check_plan
from tests.support.values import job, run_facts


def steps_file(steps: str, *, before: str = "", top: str = "", job_name: str = "test") -> str:
    """A workflow file with one job on Linux; `before` are keys of the job, `top` of the file."""
    return (
        f"{dedent(top)}\njobs:\n  {job_name}:\n    runs-on: ubuntu-latest\n"
        + _indented(before, 4)
        + "    steps:\n"
        + _indented(steps, 6)
    )


def _indented(text: str, by: int) -> str:
    return "".join(" " * by + line + "\n" for line in dedent(text).strip("\n").splitlines())


def plan_of(workflow: str, *jobs: JobEvidence, **facts: object) -> CheckPlan:
    jobs = jobs or (job("test", failing="Run pytest"),)
    return check_plan(jobs, [None] * len(jobs), workflow.encode(), run_facts(**facts))


def check_of(workflow: str, evidence: JobEvidence | None = None, **facts: object) -> Check:
    plan = plan_of(workflow, *([evidence] if evidence else []), **facts)
    assert (plan.unverifiable, plan.uncovered, len(plan.checks)) == (None, (), 1), plan
    return plan.checks[0]


def refusal_of(workflow: str, evidence: JobEvidence | None = None, **facts: object) -> str:
    plan = plan_of(workflow, *([evidence] if evidence else []), **facts)
    assert plan.checks == ()
    assert plan.unverifiable is not None
    return plan.unverifiable


def recorded(name: str, *steps: tuple[str, str | None]) -> JobEvidence:
    """A failing job with each step as GitHub recorded it: name and conclusion."""
    facts = tuple(StepFacts(number=n, name=step, conclusion=end) for n, (step, end) in enumerate(steps, start=1))
    return JobEvidence(job=JobFacts(id=7, name=name, conclusion="failure", steps=facts))
