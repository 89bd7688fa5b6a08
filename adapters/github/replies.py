"""What we read out of GitHub's answers, and no more. Lenient: GitHub's own examples miss fields of its own schema."""

from pydantic import SecretStr, model_validator

from sweeper.model import Instant, Wire


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
    base_commit: CommitReply | None = None
    commits: tuple[CommitReply, ...] = ()


class ChangedFileReply(Wire):
    """A file of a pull request. `previous_filename`: what a renamed one was called."""

    filename: str
    previous_filename: str | None = None


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
