"""Pull requests, as pulls and as issues, and labels."""

from adapters.loopback.core.lookup import comments_on, label_of_head
from adapters.loopback.core.pull_state import Label, Pull
from adapters.loopback.core.state import Repo
from adapters.loopback.shapes.people import association, user, user_by_id
from adapters.loopback.shapes.repos import repo as repo_shape
from adapters.loopback.shapes.talk import reactions
from adapters.loopback.shapes.view import Json, View, escaped, iso, node_id


def label(view: View, repo: Repo, found: Label) -> Json:
    """GitHub's `label`."""
    return {
        "id": found.id,
        "node_id": node_id("LA", found.id),
        "url": f"{view.api(repo)}/labels/{escaped(found.name)}",
        "name": found.name,
        "description": found.description,
        "color": found.color,
        "default": False,
    }


def _labels(view: View, repo: Repo, pull: Pull) -> list[Json]:
    return [label(view, repo, repo.labels[name]) for name in pull.labels]


def minimal_pull(view: View, repo: Repo, pull: Pull) -> Json:
    """GitHub's `pull-request-minimal`, as runs and checks carry it."""

    def end(ref: str, sha: str, where: Repo) -> Json:
        return {"ref": ref, "sha": sha, "repo": {"id": where.id, "url": view.api(where), "name": where.name}}

    return {
        "id": pull.id,
        "number": pull.number,
        "url": f"{view.api(repo)}/pulls/{pull.number}",
        "head": end(pull.head, pull.head_sha, view.state.repos[pull.head_repo_id]),
        "base": end(pull.base, pull.base_sha, repo),
    }


def simple_pull(view: View, repo: Repo, pull: Pull) -> Json:
    """GitHub's `pull-request-simple`, as lists answer."""
    head_repo = view.state.repos[pull.head_repo_id]
    owner = view.owner(repo)
    base_label = f"{owner.login}:{pull.base}"
    return {
        **_addresses(view, repo, pull),
        "id": pull.id,
        "node_id": node_id("PR", pull.id),
        "number": pull.number,
        "state": "open" if pull.open else "closed",
        "locked": False,
        "active_lock_reason": None,
        "title": pull.title,
        "user": user_by_id(view, pull.user_id),
        "body": pull.body,
        "created_at": iso(pull.created_at),
        "updated_at": iso(pull.updated_at),
        "closed_at": iso(pull.closed_at),
        "merged_at": iso(pull.merged_at),
        "merge_commit_sha": pull.merge_sha,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [user_by_id(view, one) for one in pull.reviewers],
        "requested_teams": [],
        "labels": _labels(view, repo, pull),
        "milestone": None,
        "draft": pull.draft,
        "head": {
            "label": label_of_head(view.state, pull),
            "ref": pull.head,
            "sha": pull.head_sha,
            "user": user(view, view.owner(head_repo)),
            "repo": repo_shape(view, head_repo),
        },
        "base": {
            "label": base_label,
            "ref": pull.base,
            "sha": pull.base_sha,
            "user": user(view, owner),
            "repo": repo_shape(view, repo),
        },
        "author_association": association(view, repo, pull.user_id),
        "auto_merge": None,
    }


def _addresses(view: View, repo: Repo, pull: Pull) -> Json:
    api, issue = f"{view.api(repo)}/pulls/{pull.number}", f"{view.api(repo)}/issues/{pull.number}"
    html = f"{view.html(repo)}/pull/{pull.number}"
    addresses: dict[str, str] = {
        "html": html,
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{api}/comments",
        "review_comment": f"{view.api(repo)}/pulls/comments{{/number}}",
        "commits": f"{api}/commits",
        "statuses": f"{view.api(repo)}/statuses/{pull.head_sha}",
    }
    return {
        "url": api,
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        **{f"{name}_url": address for name, address in addresses.items()},
        "_links": {"self": {"href": api}, **{name: {"href": address} for name, address in addresses.items()}},
    }


def pull(view: View, repo: Repo, found: Pull) -> Json:
    """GitHub's `pull-request`."""
    merged = found.merged_at is not None
    return simple_pull(view, repo, found) | {
        "merged": merged,
        "mergeable": found.mergeable if found.open else None,
        "rebaseable": False,
        "mergeable_state": _mergeable_state(found),
        "merged_by": user_by_id(view, found.merged_by),
        "comments": len(comments_on(repo, found.number)),
        "review_comments": sum(len(review.comments) for review in found.reviews),
        "maintainer_can_modify": found.maintainer_can_modify,
        **found.size.model_dump(),
    }


def _mergeable_state(found: Pull) -> str:
    if not found.open:
        return "unknown"
    if found.draft:
        return "draft"
    return "clean" if found.mergeable else "dirty"


def issue(view: View, repo: Repo, found: Pull) -> Json:
    """GitHub's `issue` of a pull request."""
    api = f"{view.api(repo)}/issues/{found.number}"
    html = f"{view.html(repo)}/pull/{found.number}"
    pull_api = f"{view.api(repo)}/pulls/{found.number}"
    return {
        "url": api,
        "repository_url": view.api(repo),
        "labels_url": f"{api}/labels{{/name}}",
        "comments_url": f"{api}/comments",
        "events_url": f"{api}/events",
        "html_url": html,
        "id": found.id,
        "node_id": node_id("PR", found.id),
        "number": found.number,
        "title": found.title,
        "user": user_by_id(view, found.user_id),
        "labels": _labels(view, repo, found),
        "state": "open" if found.open else "closed",
        "state_reason": None,
        "locked": False,
        "active_lock_reason": None,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(comments_on(repo, found.number)),
        "created_at": iso(found.created_at),
        "updated_at": iso(found.updated_at),
        "closed_at": iso(found.closed_at),
        "closed_by": user_by_id(view, found.closed_by),
        "author_association": association(view, repo, found.user_id),
        "body": found.body,
        "draft": found.draft,
        "reactions": reactions(f"{api}/reactions", {}),
        "pull_request": {
            "url": pull_api,
            "html_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "merged_at": iso(found.merged_at),
        },
    }
