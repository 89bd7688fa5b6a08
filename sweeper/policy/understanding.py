"""From what GitHub says of a failing run to a diagnosis and a check plan: the same for a sweep and at a terminal."""

from collections.abc import Sequence

from sweeper.errors import BadInput
from sweeper.model import (
    Background,
    CheckPlan,
    Diagnosis,
    JobEvidence,
    JobFacts,
    RunFacts,
    RunHistory,
    Strict,
    TestedTree,
)
from sweeper.model.run import FAILING_CONCLUSIONS
from sweeper.policy.planning import check_plan
from sweeper.policy.repository_config import RepositoryConfig, read_config
from sweeper.policy.triage import diagnose, failing_script, tested_tree

NO_MERGE = "it is not known which merge CI built for the pull request"
MOST_COMMITS = 20


class Understood(Strict):
    """What failed, how it shows, on which tree, and what the repository itself lays down."""

    diagnosis: Diagnosis
    plan: CheckPlan
    tested: TestedTree | None
    config: RepositoryConfig


class RunFiles(Strict):
    """Files that say how a run is checked: the workflow at the failing commit, our settings on the default branch."""

    workflow: bytes | None = None
    config: bytes | None = None


def has_failed(job: JobFacts, facts: RunFacts) -> bool:
    """In a run that ended as cancelled, a job that ran into its time limit is `cancelled` like the others."""
    return job.conclusion in FAILING_CONCLUSIONS or (facts.conclusion == "cancelled" and job.conclusion == "cancelled")


def background_of(history: RunHistory, jobs: Sequence[JobFacts]) -> Background:
    """What the workflow's history says of these failing jobs."""
    failing, on_head, in_target = {job.name for job in jobs}, history.head_failing_jobs, history.base_failing_jobs
    return Background(
        head_fails_alike=None if on_head is None else bool(failing & set(on_head)),
        target_fails_alike=None if in_target is None else bool(failing & set(in_target)),
        green_attempts=history.green_attempts,
        last_green=history.last_green,
        red_since=history.last_green_at,
        commits_since_green=history.commits_since[-MOST_COMMITS:],
        newer_base=history.base_head if history.behind_base else None,
    )


def understand(
    facts: RunFacts,
    jobs: Sequence[JobEvidence],
    logs: Sequence[bytes | None],
    files: RunFiles,
    background: Background,
    checks: Sequence[str] = (),
) -> Understood:
    """Takes seconds where logs are large. Settings that cannot be read make the plan unverifiable, with the mistake."""
    try:
        config, wrong = read_config(files.config), None
    except BadInput as error:
        config, wrong = RepositoryConfig(), str(error)
    scripts = [_script(item, log) for item, log in zip(jobs, logs, strict=True)]
    plan = check_plan(jobs, scripts, files.workflow, facts, config, checks)
    tested = tested_tree(facts, logs)
    if tested is None and plan.unverifiable is None:
        wrong = wrong or NO_MERGE
    if wrong is not None:
        plan = plan.model_copy(update={"unverifiable": wrong})
    return Understood(diagnosis=diagnose(facts, jobs, logs, plan, background), plan=plan, tested=tested, config=config)


def _script(item: JobEvidence, log: bytes | None) -> str | None:
    step = item.job.failing_step()
    return failing_script(log, step.name if step else None) if log else None
