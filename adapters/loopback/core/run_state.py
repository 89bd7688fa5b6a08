"""Workflow runs, check runs and statuses, as the state document keeps them."""

from datetime import datetime

from adapters.loopback.core.record import Record


class Annotation(Record):
    """A check-run annotation: the only place of time-limit and lost-runner reasons."""

    path: str = ".github"
    start_line: int = 1
    end_line: int = 1
    start_column: int | None = None
    end_column: int | None = None
    annotation_level: str = "failure"
    title: str | None = None
    message: str = ""
    raw_details: str | None = None


class Step(Record):
    """A step of a job."""

    number: int
    name: str
    conclusion: str | None


class Job(Record):
    """A job of a run attempt; also the check run of the same id. Its log is a file beside the document."""

    id: int
    name: str
    conclusion: str | None
    steps: list[Step] = []
    log_status: str = "empty"
    annotations: list[Annotation] = []
    created_at: datetime
    completed_at: datetime | None = None


class Attempt(Record):
    """One attempt of a run."""

    number: int
    conclusion: str | None
    actor_id: int
    started_at: datetime
    updated_at: datetime
    jobs: list[Job] = []


class HeadCommit(Record):
    """What a run shows of the commit it is for."""

    tree: str
    message: str
    date: str
    name: str
    email: str


class Run(Record):
    """A workflow run and all its attempts, oldest first."""

    id: int
    number: int
    check_suite_id: int
    workflow_path: str
    event: str
    head_branch: str | None
    head_sha: str
    head_repo_id: int
    head_commit: HeadCommit
    actor_id: int
    created_at: datetime
    attempts: list[Attempt] = []

    @property
    def latest(self) -> Attempt:
        """The newest attempt."""
        return self.attempts[-1]


class Workflow(Record):
    """A workflow file."""

    id: int
    path: str
    name: str
    created_at: datetime


class CheckRun(Record):
    """A check run an app made through the API."""

    id: int
    suite_id: int
    name: str
    head_sha: str
    external_id: str = ""
    details_url: str | None = None
    status: str = "queued"
    conclusion: str | None = None
    started_at: datetime
    completed_at: datetime | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Annotation] = []


class Status(Record):
    """A commit status; the newest of a context counts."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    user_id: int
    created_at: datetime
