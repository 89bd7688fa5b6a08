"""The failing run, as GitHub reports it, and what asked for a sweep."""

from enum import StrEnum

from sweeper.model.base import Instant, Strict, Wire

FAILING_CONCLUSIONS = frozenset({"failure", "timed_out", "startup_failure"})
"""What starts a sweep. Cancelled runs are mostly superseded by a newer push; values of the future start nothing."""

TIME_LIMIT = "has exceeded the maximum execution time"
"""What GitHub notes on a job that ran into its time limit. Its conclusion is `cancelled`, and its log is silent."""


class RunRef(Wire):
    """One workflow run attempt. The ids identify it; the name may change by a rename."""

    repository: str
    repository_id: int
    run_id: int
    run_attempt: int = 1


class TriggerSource(StrEnum):
    """Which door a request for a sweep came through."""

    WORKFLOW_RUN = "workflow_run"
    DISPATCH = "repository_dispatch"
    CLI = "cli"


class Trigger(Wire):
    """What asked for a sweep. `request_id` tells one manual request from the next."""

    source: TriggerSource
    request_id: str | None = None
    actor: str | None = None
    reason: str = ""

    @property
    def is_manual(self) -> bool:
        """Whether a person asked: that goes before the rest, and no cap and no mute holds it back."""
        return self.source in (TriggerSource.CLI, TriggerSource.DISPATCH)


class Joined(Wire):
    """A newer failing run of a sweep's cause that was left to it, and what asked for a sweep of it."""

    trigger: Trigger
    run: RunRef


class StepFacts(Wire):
    """One step of a job."""

    number: int
    name: str
    conclusion: str | None = None


class JobFacts(Wire):
    """One job of a run attempt."""

    id: int
    name: str
    conclusion: str | None = None
    steps: tuple[StepFacts, ...] = ()

    def failing_step(self) -> StepFacts | None:
        """The first step that failed; None when the job died without naming one."""
        return next((step for step in self.steps if step.conclusion in ("failure", "timed_out")), None)


class HeadCi(StrEnum):
    """What the failing workflow says of the branch's head, once that is another commit than the failing one."""

    NONE = "none"
    PENDING = "pending"
    GREEN = "green"
    RED = "red"


class PullFacts(Wire):
    """The pull request a run is for. `base_sha`: its target when the run was started, as far as GitHub says."""

    number: int
    base_ref: str
    base_sha: str = ""


class RunFacts(Wire):
    """A run re-read through the API, with the branch it was for. `branch_head` None: the branch is gone; `head_ci`:
    the same workflow on that head, as far as it has moved on. `hit_time_limit`: it counts as cancelled for that alone.
    """

    run: RunRef
    status: str
    conclusion: str | None
    event: str
    workflow_name: str = ""
    workflow_path: str = ""
    head_sha: str
    head_branch: str | None
    head_repository: str | None = None
    head_repository_id: int | None = None
    branch_head: str | None = None
    head_ci: HeadCi = HeadCi.NONE
    pull: PullFacts | None = None
    hit_time_limit: bool = False
    html_url: str = ""
    created_at: Instant

    @property
    def has_moved(self) -> bool:
        """Whether the branch is at another commit than the failing one."""
        return self.branch_head != self.head_sha

    @property
    def has_failed(self) -> bool:
        """Whether it ended in a way that a sweep is for."""
        return self.conclusion in FAILING_CONCLUSIONS or (self.conclusion == "cancelled" and self.hit_time_limit)

    @property
    def is_fork(self) -> bool:
        """Whether the code comes from another repository than the one the run belongs to."""
        return self.head_repository_id != self.run.repository_id


class RunHistory(Strict):
    """What GitHub says of a workflow around one failing run.

    `green_attempts`: attempts of the same run that passed. `head_failing_jobs`: of the newest completed run of the same
    workflow on the branch's head, if that is another run; None: there is none. `last_green`: the newest commit before
    this run on which the workflow passed there, and `last_green_at` when that run was made; `commits_since` come after
    it, `<sha> <subject>`, oldest first, at most 100. Of a pull request's run also: `base_failing_jobs`, the same for
    its target, `behind_base`, how many commits of the target the tested commit lacks, and `base_head`, where the target
    is now.
    """

    green_attempts: tuple[int, ...] = ()
    head_failing_jobs: tuple[str, ...] | None = None
    last_green: str | None = None
    last_green_at: Instant | None = None
    commits_since: tuple[str, ...] = ()
    base_failing_jobs: tuple[str, ...] | None = None
    behind_base: int = 0
    base_head: str | None = None


class OtherPull(Strict):
    """An open pull request into a branch, not ours: what it touches, and which jobs are green on its head."""

    number: int
    url: str
    head_sha: str
    files: tuple[str, ...] = ()
    green_jobs: tuple[str, ...] = ()
