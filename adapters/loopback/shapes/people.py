"""Users, organisations, the app and its installation."""

from urllib.parse import quote

from adapters.loopback.core.lookup import permission_of
from adapters.loopback.core.state import App, Permission, Repo, User
from adapters.loopback.shapes.view import Json, View, iso, node_id

ACTIONS_APP_ID = 15368
"""GitHub Actions' own app, the owner of every job's check run."""

PERMISSIONS = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "write",
    "workflows": "write",
}
EVENTS = ["check_run", "issue_comment", "pull_request", "pull_request_review", "push", "workflow_job", "workflow_run"]


def user(view: View, who: User) -> Json:
    """GitHub's `simple-user`."""
    api = f"{view.urls.base}/users/{quote(who.login)}"
    return {
        "login": who.login,
        "id": who.id,
        "node_id": node_id("U", who.id),
        "avatar_url": f"{view.urls.html}/avatars/{who.id}",
        "gravatar_id": "",
        "url": api,
        "html_url": f"{view.urls.html}/{quote(who.login)}",
        "followers_url": f"{api}/followers",
        "following_url": f"{api}/following{{/other_user}}",
        "gists_url": f"{api}/gists{{/gist_id}}",
        "starred_url": f"{api}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{api}/subscriptions",
        "organizations_url": f"{api}/orgs",
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events{{/privacy}}",
        "received_events_url": f"{api}/received_events",
        "type": who.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def user_by_id(view: View, user_id: int | None) -> Json | None:
    """The same, or null."""
    return None if user_id is None else user(view, view.state.users[user_id])


def association(view: View, repo: Repo, user_id: int) -> str:
    """GitHub's author_association (which is not a permission)."""
    if user_id == repo.owner_id:
        return "OWNER"
    right = permission_of(view.state, repo, view.state.users[user_id])
    return "NONE" if right in (Permission.NONE, Permission.READ) else "COLLABORATOR"


def account(view: View, who: User) -> Json:
    """GitHub's `public-user`, as GET /user and GET /users/{login} answer."""
    return user(view, who) | {
        "name": who.login,
        "company": None,
        "blog": "",
        "location": None,
        "email": None,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": 0,
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": "2020-01-01T00:00:00Z",
        "updated_at": "2020-01-01T00:00:00Z",
    }


def app(view: View, ours: App) -> Json:
    """GitHub's `integration` for our app."""
    return {
        "id": ours.id,
        "client_id": f"Iv1.{ours.id:016x}",
        "slug": ours.slug,
        "node_id": node_id("A", ours.id),
        "owner": user(view, view.state.users[ours.owner_id]),
        "name": ours.slug,
        "description": "",
        "external_url": view.urls.html,
        "html_url": f"{view.urls.html}/apps/{ours.slug}",
        "created_at": iso(ours.created_at),
        "updated_at": iso(ours.created_at),
        "permissions": PERMISSIONS,
        "events": EVENTS,
        "installations_count": int(ours.installed),
    }


def actions_app(view: View, ours: App) -> Json:
    """GitHub Actions as an `integration`."""
    return app(view, ours) | {
        "id": ACTIONS_APP_ID,
        "slug": "github-actions",
        "node_id": node_id("A", ACTIONS_APP_ID),
        "name": "GitHub Actions",
        "html_url": f"{view.urls.html}/apps/github-actions",
    }


def installation(view: View, ours: App, account_id: int) -> Json:
    """GitHub's `installation`, on the account of `account_id`."""
    owner = view.state.users[account_id]
    api = f"{view.urls.base}/app/installations/{ours.installation_id}"
    return {
        "id": ours.installation_id,
        "node_id": node_id("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", ours.installation_id),
        "account": user(view, owner),
        "access_tokens_url": f"{api}/access_tokens",
        "repositories_url": f"{view.urls.base}/installation/repositories",
        "html_url": f"{view.urls.html}/settings/installations/{ours.installation_id}",
        "app_id": ours.id,
        "client_id": f"Iv1.{ours.id:016x}",
        "app_slug": ours.slug,
        "target_id": owner.id,
        "target_type": owner.type,
        "repository_selection": "all",
        "permissions": PERMISSIONS,
        "events": EVENTS,
        "single_file_name": None,
        "single_file_paths": [],
        "has_multiple_single_files": False,
        "created_at": iso(ours.created_at),
        "updated_at": iso(ours.created_at),
        "suspended_at": iso(ours.created_at) if ours.suspended else None,
        "suspended_by": user(view, owner) if ours.suspended else None,
    }
