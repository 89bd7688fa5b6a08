"""What people say on a pull request: comments, reviews, reactions."""

from adapters.loopback.core.pull_state import Comment, Pull, Review, ReviewComment
from adapters.loopback.core.state import Repo
from adapters.loopback.shapes.people import association, user_by_id
from adapters.loopback.shapes.view import Json, View, iso, node_id

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def reactions(url: str, found: dict[str, list[int]]) -> Json:
    """GitHub's `reaction-rollup`."""
    counts = {name: len(found.get(name, [])) for name in REACTIONS}
    return {"url": url, "total_count": sum(counts.values()), **counts}


def comment(view: View, repo: Repo, found: Comment) -> Json:
    """GitHub's `issue-comment`."""
    api = f"{view.api(repo)}/issues/comments/{found.id}"
    return {
        "url": api,
        "html_url": f"{view.html(repo)}/pull/{found.number}#issuecomment-{found.id}",
        "issue_url": f"{view.api(repo)}/issues/{found.number}",
        "id": found.id,
        "node_id": node_id("IC", found.id),
        "user": user_by_id(view, found.user_id),
        "created_at": iso(found.created_at),
        "updated_at": iso(found.updated_at),
        "author_association": association(view, repo, found.user_id),
        "performed_via_github_app": None,
        "body": found.body,
        "reactions": reactions(f"{api}/reactions", found.reactions),
    }


def review(view: View, repo: Repo, pull: Pull, found: Review) -> Json:
    """GitHub's `pull-request-review` (REST; webhooks write the state in lower case)."""
    html = f"{view.html(repo)}/pull/{pull.number}#pullrequestreview-{found.id}"
    api = f"{view.api(repo)}/pulls/{pull.number}"
    shape: Json = {
        "id": found.id,
        "node_id": node_id("PRR", found.id),
        "user": user_by_id(view, found.user_id),
        "body": found.body,
        "state": found.state,
        "html_url": html,
        "pull_request_url": api,
        "author_association": association(view, repo, found.user_id),
        "_links": {"html": {"href": html}, "pull_request": {"href": api}},
        "commit_id": found.commit_id,
    }
    if found.submitted_at:
        shape["submitted_at"] = iso(found.submitted_at)
    return shape


def review_comment(view: View, repo: Repo, pull: Pull, parts: tuple[Review, ReviewComment]) -> Json:
    """GitHub's `pull-request-review-comment`."""
    made_by, found = parts
    api = f"{view.api(repo)}/pulls/comments/{found.id}"
    html = f"{view.html(repo)}/pull/{pull.number}#discussion_r{found.id}"
    pull_api = f"{view.api(repo)}/pulls/{pull.number}"
    return {
        "url": api,
        "pull_request_review_id": made_by.id,
        "id": found.id,
        "node_id": node_id("PRRC", found.id),
        "diff_hunk": "",
        "path": found.path,
        "position": found.line or 1,
        "original_position": found.line or 1,
        "commit_id": made_by.commit_id,
        "original_commit_id": made_by.commit_id,
        "user": user_by_id(view, made_by.user_id),
        "body": found.body,
        "created_at": iso(found.created_at),
        "updated_at": iso(found.created_at),
        "html_url": html,
        "pull_request_url": pull_api,
        "author_association": association(view, repo, made_by.user_id),
        "_links": {"self": {"href": api}, "html": {"href": html}, "pull_request": {"href": pull_api}},
        "reactions": reactions(f"{api}/reactions", {}),
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "line": found.line,
        "original_line": found.line,
        "side": "RIGHT",
        "subject_type": "line" if found.line else "file",
    }
