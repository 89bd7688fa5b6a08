"""What we read out of GitHub's answers, and no more. Lenient: GitHub's own examples miss fields of its own schema."""

from pydantic import SecretStr, model_validator

from sweeper.model import Instant, RunRef, Wire


class PersonReply(Wire):
    """A user, a bot or an organisation."""

    login: str
    type: str = "User"


class AppReply(Wire):
    """The app itself."""

    slug: str


class InstallationReply(Wire):
    """Where the app is installed, and what it was granted there."""

    id: int
    account: PersonReply | None = None
    suspended_at: Instant | None = None
    permissions: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The account, for people."""
        return self.account.login if self.account else f"installation {self.id}"


class TokenReply(Wire):
    """An installation token; its form and length are GitHub's business."""

    token: SecretStr
    expires_at: Instant


class RepositoryReply(Wire):
    """A repository; the name may have changed since we learnt it, the id never does."""

    id: int
    full_name: str
    clone_url: str = ""
    allow_merge_commit: bool | None = None
    allow_squash_merge: bool | None = None
    allow_rebase_merge: bool | None = None


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


class ObjectReply(Wire):
    """What a ref points at."""

    sha: str


class CommitTextReply(Wire):
    """The words of a commit."""

    message: str = ""


class CommitReply(Wire):
    """A commit and what it stands on."""

    sha: str
    parents: tuple[ObjectReply, ...] = ()
    commit: CommitTextReply = CommitTextReply()


class CompareReply(Wire):
    """What one commit has that another has not, oldest first; of more than 250 GitHub leaves out the oldest."""

    behind_by: int = 0
    commits: tuple[CommitReply, ...] = ()


class ChangedFileReply(Wire):
    """A file of a pull request. `previous_filename`: what a renamed one was called."""

    filename: str
    previous_filename: str | None = None


class AnnotationReply(Wire):
    """What is noted on a check run."""

    annotation_level: str | None = None
    message: str | None = None
    path: str | None = None
    start_line: int | None = None
    title: str | None = None


class RefReply(Wire):
    """A git ref."""

    object: ObjectReply


class FileReply(Wire):
    """A file's content. GitHub answers a list for a directory; `encoding` is `none` for a file above 1 MB."""

    type: str
    encoding: str = ""
    content: str = ""
    size: int = 0

    @model_validator(mode="before")
    @classmethod
    def _name_directories(cls, data: object) -> object:
        return {"type": "dir"} if isinstance(data, list) else data


class PullEndReply(Wire):
    """Head or base. `repo` None: that repository was deleted."""

    ref: str
    sha: str
    repo: RepositoryReply | None = None


class LabelReply(Wire):
    """A label."""

    name: str


class PullReply(Wire):
    """A pull request, listed or single; a listed one lacks `merged`, `merged_by` and `commits` (their number)."""

    number: int
    node_id: str = ""
    html_url: str = ""
    state: str
    draft: bool | None = None
    body: str | None = None
    user: PersonReply | None = None
    labels: tuple[LabelReply, ...] = ()
    requested_reviewers: tuple[PersonReply, ...] = ()
    head: PullEndReply
    base: PullEndReply
    updated_at: Instant | None = None
    commits: int | None = None
    merged: bool | None = None
    merged_by: PersonReply | None = None
    merge_commit_sha: str | None = None


class IssueReply(Wire):
    """A pull request seen as an issue: only there stands who closed it."""

    closed_by: PersonReply | None = None


class MergeReply(Wire):
    """The answer to a merge."""

    sha: str
    merged: bool


class ReviewReply(Wire):
    """A review. `user` None: the account is gone. `commit_id` None: the commit is."""

    id: int
    user: PersonReply | None = None
    body: str | None = None
    state: str
    submitted_at: Instant | None = None
    commit_id: str | None = None


class ReviewCommentReply(Wire):
    """A line comment. `line` None: the line is outdated."""

    path: str
    line: int | None = None
    original_line: int | None = None
    body: str = ""


class CommentReply(Wire):
    """A comment in the conversation."""

    id: int
    html_url: str = ""
    body: str | None = None
    user: PersonReply | None = None


class PermissionReply(Wire):
    """A user's right. `role_name` tells maintain and triage apart, or is a custom role's name."""

    permission: str
    role_name: str | None = None


class IdReply(Wire):
    """Something of which we need the id alone."""

    id: int


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
