"""Opening, editing, closing and reopening pull requests."""

from dataclasses import dataclass

from adapters.loopback.acts import pushes, trial
from adapters.loopback.core.lookup import label_of_head, user_named
from adapters.loopback.core.pull_state import Pull
from adapters.loopback.core.refusals import Refused, custom, invalid
from adapters.loopback.core.state import Repo, User
from adapters.loopback.hooks import events
from adapters.loopback.hub import Hub
from adapters.loopback.shapes.people import user
from adapters.loopback.shapes.view import Json


@dataclass(frozen=True)
class Draft:
    """What a new pull request says. `head` is a branch, or owner:branch."""

    title: str
    head: str
    base: str
    body: str | None = None
    draft: bool = False
    maintainer_can_modify: bool = False


async def open_pull(hub: Hub, repo: Repo, author: User, new: Draft) -> Pull:
    """Open it. Raises Refused 422 in the cases GitHub tells apart by `errors[].message` only."""
    head_repo, branch = _find_head(hub, repo, new.head)
    bare = hub.bare(repo)
    base = await bare.branch(new.base)
    if base is None:
        raise invalid("PullRequest", "base")
    head = await hub.bare(head_repo).branch(branch)
    if head is None:
        raise invalid("PullRequest", "head")
    if not new.title.strip():
        raise Refused(422, "Validation Failed", [{"resource": "Issue", "code": "missing_field", "field": "title"}])
    _refuse_second(hub, repo, head_repo, (branch, new.base))
    number = repo.next_number
    await bare.fetch(hub.store.git_dir(head_repo.id), f"refs/heads/{branch}", f"refs/pull/{number}/head")
    if await bare.is_ancestor(head, base):
        await bare.delete_ref(f"refs/pull/{number}/head")
        raise custom("PullRequest", f"No commits between {new.base} and {new.head}")
    pull = _make(hub, repo, author, new)
    pull.head_repo_id, pull.head, pull.head_sha, pull.base_sha = head_repo.id, branch, head, base
    repo.pulls[number] = pull
    repo.next_number += 1
    await trial.refresh(hub, repo, pull)
    events.pull_request(hub, events.OnPull(repo, pull), "opened", author)
    return pull


def _make(hub: Hub, repo: Repo, author: User, new: Draft) -> Pull:
    return Pull(
        id=hub.store.new_id(),
        number=repo.next_number,
        title=new.title,
        body=new.body,
        user_id=author.id,
        head_repo_id=repo.id,
        head=new.head,
        head_sha="",
        base=new.base,
        base_sha="",
        draft=new.draft,
        maintainer_can_modify=new.maintainer_can_modify,
        created_at=hub.store.now(),
        updated_at=hub.store.now(),
    )


def _find_head(hub: Hub, repo: Repo, head: str) -> tuple[Repo, str]:
    owner_name, colon, branch = head.partition(":")
    if not colon:
        return repo, head
    owner = user_named(hub.state, owner_name)
    for candidate in hub.state.repos.values():
        related = candidate.id == repo.id or candidate.fork_of == repo.id
        if owner and related and candidate.owner_id == owner.id:
            return candidate, branch
    raise invalid("PullRequest", "head")


def _refuse_second(hub: Hub, repo: Repo, head_repo: Repo, ends: tuple[str, str]) -> None:
    for other in repo.pulls.values():
        if other.open and other.head_repo_id == head_repo.id and (other.head, other.base) == ends:
            raise custom("PullRequest", f"A pull request already exists for {label_of_head(hub.state, other)}.")


@dataclass(frozen=True)
class Edit:
    """What changes; None stays as it is."""

    title: str | None = None
    body: str | None = None
    base: str | None = None
    draft: bool | None = None


async def edit_pull(hub: Hub, repo: Repo, pull: Pull, edit: Edit, actor: User) -> bool:
    """Change texts, base or draft. The answer tells whether anything changed."""
    changes: Json = {}
    if edit.title is not None and edit.title != pull.title:
        changes["title"] = {"from": pull.title}
        pull.title = edit.title
    if edit.body is not None and edit.body != (pull.body or ""):
        changes["body"] = {"from": pull.body or ""}
        pull.body = edit.body
    if edit.base is not None and edit.base != pull.base:
        changes["base"] = {"ref": {"from": pull.base}, "sha": {"from": pull.base_sha}}
        await _retarget(hub, repo, pull, edit.base)
    if changes:
        pull.updated_at = hub.store.now()
        events.pull_request(hub, events.OnPull(repo, pull), "edited", actor, {"changes": changes})
    return set_draft(hub, repo, pull, edit.draft, actor) or bool(changes)


async def _retarget(hub: Hub, repo: Repo, pull: Pull, base: str) -> None:
    tip = await hub.bare(repo).branch(base)
    if tip is None:
        raise invalid("PullRequest", "base")
    if not pull.open:
        raise custom("PullRequest", "Cannot change the base branch of a closed pull request.")
    pull.base, pull.base_sha = base, tip
    await trial.refresh(hub, repo, pull)


def set_draft(hub: Hub, repo: Repo, pull: Pull, draft: bool | None, actor: User) -> bool:
    """Turn a pull request into a draft or mark it ready; False if it is so already (or `draft` is None)."""
    if draft is None or draft == pull.draft:
        return False
    pull.draft = draft
    pull.updated_at = hub.store.now()
    events.pull_request(hub, events.OnPull(repo, pull), "converted_to_draft" if draft else "ready_for_review", actor)
    return True


def close_pull(hub: Hub, repo: Repo, pull: Pull, actor: User) -> bool:
    """Close it; False if it is closed already."""
    if not pull.open:
        return False
    pushes.close(hub, repo, pull, actor)
    return True


async def reopen_pull(hub: Hub, repo: Repo, pull: Pull, actor: User) -> bool:
    """Open it again; False if it is open. Raises Refused 422 when merged or when an end is gone."""
    if pull.open:
        return False
    head_repo = hub.state.repos[pull.head_repo_id]
    if pull.merged_at or await hub.bare(head_repo).branch(pull.head) is None:
        raise custom("PullRequest", "state cannot be changed. The pull request cannot be reopened.")
    _refuse_second(hub, repo, head_repo, (pull.head, pull.base))
    pull.open, pull.closed_at, pull.closed_by = True, None, None
    pull.updated_at = hub.store.now()
    await trial.refresh(hub, repo, pull)
    events.pull_request(hub, events.OnPull(repo, pull), "reopened", actor)
    return True


def request_reviewers(hub: Hub, repo: Repo, pull: Pull, logins: list[str], actor: User) -> list[User]:
    """Ask people to review; the answer is who is new. Raises Refused 422 for the author and for strangers."""
    asked = [user_named(hub.state, login) for login in logins]
    if any(one is None for one in asked):
        raise Refused(422, "Reviews may only be requested from collaborators. One or more of the users or teams "
                           "you specified is not a collaborator of the repository.")  # fmt: skip
    people = [one for one in asked if one is not None]
    if any(one.id == pull.user_id for one in people):
        raise Refused(422, "Review cannot be requested from pull request author.")
    new = [one for one in people if one.id not in pull.reviewers]
    for one in new:
        pull.reviewers.append(one.id)
        extra: Json = {"requested_reviewer": user(hub.view(), one)}
        events.pull_request(hub, events.OnPull(repo, pull), "review_requested", actor, extra)
    return new
