"""What the pull request page shows, gathered before the template sees it."""

from dataclasses import dataclass
from datetime import datetime

from adapters.loopback.acts import merging
from adapters.loopback.acts.checks import checks_of
from adapters.loopback.core.bare import Commit
from adapters.loopback.core.diffs import diff
from adapters.loopback.core.lookup import comments_on, label_of_head, permission_of
from adapters.loopback.core.pull_state import Pull
from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.state import Permission, Repo
from adapters.loopback.hub import Hub
from adapters.loopback.pages.diff import FileView, view
from adapters.loopback.pages.markdown import to_html
from adapters.loopback.shapes.checks import latest_statuses

_VERBS = {
    "APPROVED": "approved these changes",
    "CHANGES_REQUESTED": "requested changes",
    "COMMENTED": "reviewed",
    "DISMISSED": "had a review dismissed",
}


@dataclass(frozen=True)
class LineNote:
    """A line comment."""

    path: str
    line: int | None
    body: str


@dataclass(frozen=True)
class Entry:
    """Something somebody said. `kind`: comment, or a review's state in lower case."""

    number: int
    kind: str
    anchor: str
    user: str
    what: str
    when: datetime
    body: str
    stale: bool
    lines: list[LineNote]


@dataclass(frozen=True)
class CheckLine:
    """A check or status."""

    name: str
    kind: str
    text: str
    link: str | None


@dataclass(frozen=True)
class PersonLine:
    """Somebody to act as."""

    login: str
    permission: str
    is_author: bool


@dataclass(frozen=True)
class PullView:
    """The page. `blocked`: why it cannot be merged now, None if it can."""

    repo: str
    pull: Pull
    state: str
    author: str
    head: str
    body: str
    merged_by: str | None
    commits: list[Commit]
    checks: list[CheckLine]
    files: list[FileView]
    entries: list[Entry]
    people: list[PersonLine]
    blocked: str | None


async def pull_view(hub: Hub, repo: Repo, pull: Pull) -> PullView:
    """Gather it."""
    bare = hub.bare(repo)
    start = await bare.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
    users = hub.state.users
    return PullView(
        repo=hub.repo_name(repo),
        pull=pull,
        state=_state(pull),
        author=users[pull.user_id].login,
        head=label_of_head(hub.state, pull) if pull.head_repo_id != repo.id else pull.head,
        body=to_html(pull.body),
        merged_by=users[pull.merged_by].login if pull.merged_by else None,
        commits=(await bare.log(f"{start}..{pull.head_sha}"))[::-1],
        checks=_checks(hub, repo, pull.head_sha),
        files=[view(file) for file in await diff(bare, start, pull.head_sha)],
        entries=_entries(hub, repo, pull),
        people=people_for(hub, repo, pull),
        blocked=await _blocked(hub, repo, pull),
    )


def _state(pull: Pull) -> str:
    if pull.merged_at:
        return "merged"
    if not pull.open:
        return "closed"
    return "draft" if pull.draft else "open"


async def _blocked(hub: Hub, repo: Repo, pull: Pull) -> str | None:
    try:
        await merging.refuse(hub, repo, pull, await hub.bare(repo).branch(pull.base))
    except Refused as refused:
        return refused.sentence()
    return None


def _checks(hub: Hub, repo: Repo, sha: str) -> list[CheckLine]:
    found = []
    for check in checks_of(hub, repo, sha):
        title = str(check.output["title"]) if check.output["title"] else (check.conclusion or check.status)
        found.append(
            CheckLine(check.name, _kind(check.conclusion), title, check.details_url if not check.app else None)
        )
    for status in latest_statuses(repo, sha):
        found.append(CheckLine(status.context, _kind(status.state), status.description or status.state, None))
    return found


def _kind(conclusion: str | None) -> str:
    if conclusion in ("success", "neutral", "skipped"):
        return "good"
    return "waiting" if conclusion in (None, "pending") else "bad"


def _entries(hub: Hub, repo: Repo, pull: Pull) -> list[Entry]:
    users = hub.state.users
    said = [
        Entry(
            number=one.id,
            kind="comment",
            anchor=f"issuecomment-{one.id}",
            user=users[one.user_id].login,
            what="commented",
            when=one.created_at,
            body=to_html(one.body),
            stale=False,
            lines=[],
        )
        for one in comments_on(repo, pull.number)
    ]
    said += [
        Entry(
            number=one.id,
            kind=one.state.lower(),
            anchor=f"pullrequestreview-{one.id}",
            user=users[one.user_id].login,
            what=_VERBS.get(one.state, "reviewed"),
            when=one.submitted_at,
            body=to_html(one.body),
            stale=one.commit_id != pull.head_sha,
            lines=[LineNote(line.path, line.line, to_html(line.body)) for line in one.comments],
        )
        for one in pull.reviews
        if one.submitted_at
    ]
    # Ids grow with time, and times are whole seconds.
    return sorted(said, key=lambda entry: (entry.when, entry.number))


def people_for(hub: Hub, repo: Repo, pull: Pull) -> list[PersonLine]:
    """Whom one may act as: people who can see the repository, those with most rights first."""
    ranks = list(Permission)
    found = [
        (permission_of(hub.state, repo, user), user)
        for user in hub.state.users.values()
        if user.type == "User" and permission_of(hub.state, repo, user) is not Permission.NONE
    ]
    found.sort(key=lambda pair: (-ranks.index(pair[0]), pair[1].login.lower()))
    return [PersonLine(user.login, right.value, user.id == pull.user_id) for right, user in found]
