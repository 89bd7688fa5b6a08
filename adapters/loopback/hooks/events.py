"""Webhook bodies, in the shapes GitHub sends. Each function records one event and answers its guid."""

from dataclasses import dataclass

from pydantic import JsonValue

from adapters.loopback.core.bare import ZERO, Commit
from adapters.loopback.core.pull_state import Comment, Pull, Review
from adapters.loopback.core.run_state import Attempt, Job, Run, Status
from adapters.loopback.core.state import Repo, User
from adapters.loopback.hooks.outbox import Event
from adapters.loopback.hub import Hub
from adapters.loopback.shapes import checks, people, pulls, repos, runs, talk
from adapters.loopback.shapes.people import user
from adapters.loopback.shapes.view import Json, iso, node_id


def _put(hub: Hub, name: str, repo: Repo, sender: User, body: Json) -> str:
    view, app = hub.view(), hub.app
    common: Json = {
        "repository": repos.repo(view, repo),
        "sender": user(view, sender),
        "installation": {
            "id": app.installation_id,
            "node_id": node_id("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", app.installation_id),
        },
    }
    wanted = app.installed and repo.installed and not app.suspended
    return hub.outbox.put(Event(name, repo.id, common | body, wanted))


def ping(hub: Hub) -> str:
    """Sent when the server starts with a hook."""
    hook: Json = {
        "type": "App",
        "id": hub.app.id,
        "name": "web",
        "active": True,
        "events": ["*"],
        "app_id": hub.app.id,
        "config": {"content_type": "json", "insecure_ssl": "0", "url": hub.outbox.hook},
        "created_at": iso(hub.app.created_at),
        "updated_at": iso(hub.app.created_at),
    }
    body: Json = {"zen": "Approachable is better than simple.", "hook_id": hub.app.id, "hook": hook}
    return hub.outbox.put(Event("ping", None, body))


@dataclass(frozen=True)
class OnPull:
    """The pull request an event is about, and where it is."""

    repo: Repo
    pull: Pull


def pull_request(hub: Hub, on: OnPull, action: str, sender: User, extra: Json | None = None) -> str:
    """`extra`: before and after, label, changes."""
    shape = pulls.pull(hub.view(), on.repo, on.pull)
    body: Json = {"action": action, "number": on.pull.number, "pull_request": shape}
    return _put(hub, "pull_request", on.repo, sender, body | (extra or {}))


def pull_request_review(hub: Hub, on: OnPull, review: Review, action: str, sender: User) -> str:
    """`submitted` or `dismissed`. Webhooks write the review's state in lower case."""
    view = hub.view()
    shape = talk.review(view, on.repo, on.pull, review) | {"state": review.state.lower()}
    body: Json = {"action": action, "review": shape, "pull_request": pulls.simple_pull(view, on.repo, on.pull)}
    return _put(hub, "pull_request_review", on.repo, sender, body)


def issue_comment(hub: Hub, on: OnPull, comment: Comment, action: str, sender: User) -> str:
    """`created` or `deleted`."""
    return _put(hub, "issue_comment", on.repo, sender, {"action": action} | _comment(hub, on, comment))


def issue_comment_edited(hub: Hub, on: OnPull, comment: Comment, former: str, sender: User) -> str:
    """`edited`; `former` is the text before."""
    changes: Json = {"body": {"from": former}}
    body: Json = {"action": "edited", "changes": changes}
    return _put(hub, "issue_comment", on.repo, sender, body | _comment(hub, on, comment))


def _comment(hub: Hub, on: OnPull, comment: Comment) -> Json:
    view = hub.view()
    return {"issue": pulls.issue(view, on.repo, on.pull), "comment": talk.comment(view, on.repo, comment)}


@dataclass(frozen=True)
class RefChange:
    """A ref that moved; ZERO for made or gone. `commits` are the new ones, newest first."""

    ref: str
    before: str
    after: str
    forced: bool = False
    commits: tuple[Commit, ...] = ()


def push(hub: Hub, repo: Repo, change: RefChange, sender: User) -> str:
    """A push; this event alone writes dates as epoch seconds and gives the owner a name and an e-mail."""
    view = hub.view()
    owner = view.owner(repo)
    shape = repos.repo(view, repo) | {
        "owner": user(view, owner) | {"name": owner.login, "email": _email(owner)},
        "created_at": int(repo.created_at.timestamp()),
        "pushed_at": int(repo.pushed_at.timestamp()),
        "stargazers": 0,
        "master_branch": repo.default_branch,
        "url": view.html(repo),
    }
    commits = [_pushed_commit(view.html(repo), commit) for commit in change.commits]
    body: Json = {
        "ref": change.ref,
        "before": change.before,
        "after": change.after,
        "created": change.before == ZERO,
        "deleted": change.after == ZERO,
        "forced": change.forced,
        "base_ref": None,
        "compare": f"{view.html(repo)}/compare/{change.before[:12]}...{change.after[:12]}",
        "commits": list(reversed(commits)),
        "head_commit": commits[0] if commits else None,
        "repository": shape,
        "pusher": {"name": sender.login, "email": _email(sender)},
    }
    return _put(hub, "push", repo, sender, body)


def _email(who: User) -> str:
    return f"{who.id}+{who.login}@users.noreply.github.com"


def _pushed_commit(html: str, commit: Commit) -> Json:
    return repos.head_commit(commit) | {
        "url": f"{html}/commit/{commit.sha}",
        "distinct": True,
        "added": [],
        "removed": [],
        "modified": [],
    }


def ref_made_or_gone(hub: Hub, repo: Repo, change: RefChange, sender: User) -> str:
    """`create` or `delete` of a branch or tag."""
    kind = "tag" if change.ref.startswith("refs/tags/") else "branch"
    body: Json = {"ref": change.ref.split("/", 2)[2], "ref_type": kind, "pusher_type": "user"}
    if change.after == ZERO:
        return _put(hub, "delete", repo, sender, body)
    return _put(hub, "create", repo, sender, body | {"master_branch": repo.default_branch, "description": None})


def repository_dispatch(hub: Hub, repo: Repo, event_type: str, payload: dict[str, JsonValue], sender: User) -> str:
    """The action is the event type; the branch is always the default one."""
    body: Json = {"action": event_type, "branch": repo.default_branch, "client_payload": payload}
    return _put(hub, "repository_dispatch", repo, sender, body)


def repository_renamed(hub: Hub, repo: Repo, former: str, sender: User) -> str:
    """The name changed; ids stay."""
    body: Json = {"action": "renamed", "changes": {"repository": {"name": {"from": former}}}}
    return _put(hub, "repository", repo, sender, body)


@dataclass(frozen=True)
class OfRun:
    """A run and the attempt an event is about."""

    run: Run
    attempt: Attempt


def workflow_run(hub: Hub, repo: Repo, of: OfRun, action: str) -> str:
    """`requested`, `in_progress` or `completed`."""
    view = hub.view()
    shape = runs.run(view, repo, of.run, of.attempt)
    if action == "requested":
        shape |= {"status": "queued", "conclusion": None}
    body: Json = {
        "action": action,
        "workflow": runs.workflow(view, repo, repo.workflows[of.run.workflow_path]),
        "workflow_run": shape,
    }
    return _put(hub, "workflow_run", repo, hub.state.users[of.attempt.actor_id], body)


def workflow_job(hub: Hub, repo: Repo, of: OfRun, job: Job) -> str:
    """`completed`, or `in_progress` while the job has no conclusion."""
    shape = runs.job(hub.view(), repo, (of.run, of.attempt), job)
    body: Json = {"action": runs.status_of(job.conclusion), "workflow_job": shape}
    return _put(hub, "workflow_job", repo, hub.state.users[of.attempt.actor_id], body)


def check_run(hub: Hub, repo: Repo, check: checks.Check, action: str, sender: User) -> str:
    """`created` or `completed`."""
    body: Json = {"action": action, "check_run": checks.check(hub.view(), repo, check)}
    return _put(hub, "check_run", repo, sender, body)


def status(hub: Hub, repo: Repo, found: Status, commit: Commit, sender: User) -> str:
    """A commit status was set."""
    shape = checks.status(hub.view(), repo, found)
    del shape["creator"], shape["url"]
    about = repos.commit(hub.view(), repo, commit)
    body = shape | {"sha": found.sha, "name": hub.repo_name(repo), "branches": [], "commit": about}
    return _put(hub, "status", repo, sender, body)


def installation(hub: Hub, action: str, sender: User) -> str:
    """The whole installation was suspended, unsuspended, deleted or created."""
    body: Json = {
        "action": action,
        "installation": people.installation(hub.view(), hub.app, sender.id),
        "sender": user(hub.view(), sender),
        "repositories": [],
        "requester": None,
    }
    return hub.outbox.put(Event("installation", None, body))


def installation_repositories(hub: Hub, repo: Repo, action: str, sender: User) -> str:
    """One repository was added to the installation or removed from it."""
    view = hub.view()
    short: Json = {
        "id": repo.id,
        "node_id": node_id("R", repo.id),
        "name": repo.name,
        "full_name": hub.repo_name(repo),
        "private": True,
    }
    body: Json = {
        "action": action,
        "installation": people.installation(view, hub.app, repo.owner_id),
        "repository_selection": "selected",
        "repositories_added": [short] if action == "added" else [],
        "repositories_removed": [short] if action == "removed" else [],
        "requester": None,
        "sender": user(view, sender),
    }
    return hub.outbox.put(Event("installation_repositories", repo.id, body))
