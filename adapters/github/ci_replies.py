"""What we read of GitHub's CI: runs, jobs, notes on them, check runs, statuses. Lenient, as all replies are."""

from adapters.github.replies import IdReply, RepositoryReply
from sweeper.model import Instant, RunRef, Wire


class RunPullEndReply(Wire):
    """Head or base of a pull request, as a run names it."""

    ref: str
    sha: str = ""


class RunPullReply(Wire):
    """A pull request as a run names it."""

    number: int
    head: RunPullEndReply
    base: RunPullEndReply


class RunReply(Wire):
    """A workflow run (its newest attempt, or the attempt asked for)."""

    id: int
    run_attempt: int = 1
    name: str | None = None
    path: str = ""
    status: str | None = None
    conclusion: str | None = None
    event: str
    workflow_id: int | None = None
    check_suite_id: int | None = None
    head_sha: str
    head_branch: str | None = None
    head_repository: RepositoryReply | None = None
    repository: RepositoryReply
    pull_requests: tuple[RunPullReply, ...] | None = None
    html_url: str = ""
    created_at: Instant

    @property
    def ref(self) -> RunRef:
        """What identifies this attempt."""
        return RunRef(
            repository=self.repository.full_name,
            repository_id=self.repository.id,
            run_id=self.id,
            run_attempt=self.run_attempt,
        )


class RunsReply(Wire):
    """One page of a list of runs."""

    workflow_runs: tuple[RunReply, ...] = ()


class StepReply(Wire):
    """A step of a job."""

    number: int
    name: str
    conclusion: str | None = None


class JobReply(Wire):
    """A job of an attempt. GitHub leaves `steps` out for jobs that never ran."""

    id: int
    name: str
    conclusion: str | None = None
    steps: tuple[StepReply, ...] | None = None


class AnnotationReply(Wire):
    """What is noted on a check run."""

    annotation_level: str | None = None
    message: str | None = None
    path: str | None = None
    start_line: int | None = None
    title: str | None = None


class CheckTextReply(Wire):
    """What a check run says."""

    title: str | None = None
    summary: str | None = None


class CheckRunReply(Wire):
    """A check run; for Actions one per job."""

    id: int
    name: str
    html_url: str | None = None
    external_id: str | None = None
    status: str
    conclusion: str | None = None
    completed_at: Instant | None = None
    output: CheckTextReply = CheckTextReply()
    app: IdReply | None = None
    check_suite: IdReply | None = None


class StatusReply(Wire):
    """A commit status, the newest of its context."""

    context: str
    state: str
