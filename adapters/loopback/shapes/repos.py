"""Repositories, branches, refs, commits and files."""

import base64

from adapters.loopback.core.bare import Commit, Person
from adapters.loopback.core.diffs import FileDiff
from adapters.loopback.core.lookup import full_name, user_named
from adapters.loopback.core.state import Repo
from adapters.loopback.shapes.people import user
from adapters.loopback.shapes.view import Json, View, escaped, iso, node_id

_TEMPLATES = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def minimal_repo(view: View, repo: Repo) -> Json:
    """GitHub's `minimal-repository`, as runs carry it."""
    api = view.api(repo)
    return {
        "id": repo.id,
        "node_id": node_id("R", repo.id),
        "name": repo.name,
        "full_name": full_name(view.state, repo),
        "private": True,
        "owner": user(view, view.owner(repo)),
        "html_url": view.html(repo),
        "description": None,
        "fork": repo.fork_of is not None,
        "url": api,
        **{name: api + rest for name, rest in _TEMPLATES.items()},
    }


def repo(view: View, repo: Repo) -> Json:
    """GitHub's `full-repository`. Rebase merges are switched off: this GitHub cannot do them."""
    open_pulls = sum(pull.open for pull in repo.pulls.values())
    clone = f"{view.urls.git}/{full_name(view.state, repo)}.git"
    return minimal_repo(view, repo) | {
        "clone_url": clone,
        "git_url": clone,
        "ssh_url": clone,
        "svn_url": view.html(repo),
        "mirror_url": None,
        "default_branch": repo.default_branch,
        "created_at": iso(repo.created_at),
        "updated_at": iso(repo.pushed_at),
        "pushed_at": iso(repo.pushed_at),
        "homepage": None,
        "language": None,
        "license": None,
        "size": 0,
        "forks": 0,
        "forks_count": 0,
        "network_count": 0,
        "open_issues": open_pulls,
        "open_issues_count": open_pulls,
        "stargazers_count": 0,
        "subscribers_count": 0,
        "watchers": 0,
        "watchers_count": 0,
        "has_issues": True,
        "has_projects": False,
        "has_downloads": False,
        "has_wiki": False,
        "has_pages": False,
        "has_discussions": False,
        "archived": False,
        "disabled": False,
        "is_template": False,
        "topics": [],
        "visibility": "private",
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "custom_properties": {},
    }


def merge_settings() -> Json:
    """What only somebody who may push sees of a repository."""
    return {
        "allow_merge_commit": True,
        "allow_squash_merge": True,
        "allow_rebase_merge": False,
        "allow_auto_merge": False,
        "delete_branch_on_merge": False,
        "permissions": {"admin": False, "maintain": False, "push": True, "triage": True, "pull": True},
    }


def _person(who: Person) -> Json:
    return {"name": who.name, "email": who.email, "date": who.date}


def _account(view: View, who: Person) -> Json | None:
    """GitHub knows a committer by e-mail; ours have `<login>@example.org` or GitHub's no-reply form."""
    login = who.email.partition("@")[0].rpartition("+")[2]
    known = user_named(view.state, login) if who.email.endswith(("@example.org", "@users.noreply.github.com")) else None
    return user(view, known) if known else None


def commit(view: View, repo: Repo, found: Commit) -> Json:
    """GitHub's `commit`, without files."""
    api, html = view.api(repo), view.html(repo)
    return {
        "sha": found.sha,
        "node_id": f"C_{found.sha}",
        "commit": {
            "author": _person(found.author),
            "committer": _person(found.committer),
            "message": found.message,
            "tree": {"sha": found.tree, "url": f"{api}/git/trees/{found.tree}"},
            "url": f"{api}/git/commits/{found.sha}",
            "comment_count": 0,
            "verification": {
                "verified": False,
                "reason": "unsigned",
                "signature": None,
                "payload": None,
                "verified_at": None,
            },
        },
        "url": f"{api}/commits/{found.sha}",
        "html_url": f"{html}/commit/{found.sha}",
        "comments_url": f"{api}/commits/{found.sha}/comments",
        "author": _account(view, found.author),
        "committer": _account(view, found.committer),
        "parents": [
            {"sha": sha, "url": f"{api}/commits/{sha}", "html_url": f"{html}/commit/{sha}"} for sha in found.parents
        ],
    }


def head_commit(found: Commit) -> Json:
    """GitHub's `simple-commit`, as runs and pushes carry it."""
    return {
        "id": found.sha,
        "tree_id": found.tree,
        "message": found.message,
        "timestamp": found.committer.date,
        "author": {"name": found.author.name, "email": found.author.email},
        "committer": {"name": found.committer.name, "email": found.committer.email},
    }


def branch(view: View, repo: Repo, name: str, tip: Commit) -> Json:
    """GitHub's `branch-with-protection`."""
    api = f"{view.api(repo)}/branches/{escaped(name)}"
    rules = repo.protection.get(name)
    checks = rules.required_checks if rules else []
    return {
        "name": name,
        "commit": commit(view, repo, tip),
        "_links": {"self": api, "html": f"{view.html(repo)}/tree/{escaped(name)}"},
        "protected": rules is not None,
        "protection": {
            "enabled": rules is not None,
            "required_status_checks": {
                "enforcement_level": "everyone" if checks else "off",
                "contexts": checks,
                "checks": [{"context": name, "app_id": None} for name in checks],
            },
        },
        "protection_url": f"{api}/protection",
    }


def ref(view: View, repo: Repo, name: str, sha: str) -> Json:
    """GitHub's `git-ref`; `name` is the full ref."""
    api = view.api(repo)
    return {
        "ref": name,
        "node_id": f"REF_{base64.urlsafe_b64encode(name.encode()).decode()}",
        "url": f"{api}/git/{name}",
        "object": {"sha": sha, "type": "commit", "url": f"{api}/git/commits/{sha}"},
    }


def file_content(view: View, repo: Repo, path: str, found: bytes, blob: str) -> Json:
    """GitHub's `content-file`."""
    api = f"{view.api(repo)}/contents/{escaped(path)}"
    html = f"{view.html(repo)}/blob/{repo.default_branch}/{escaped(path)}"
    return {
        "type": "file",
        "encoding": "base64",
        "size": len(found),
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "content": base64.encodebytes(found).decode(),
        "sha": blob,
        "url": api,
        "git_url": f"{view.api(repo)}/git/blobs/{blob}",
        "html_url": html,
        "download_url": None,
        "_links": {"self": api, "git": f"{view.api(repo)}/git/blobs/{blob}", "html": html},
    }


def changed_file(view: View, repo: Repo, head: str, found: FileDiff) -> Json:
    """GitHub's `diff-entry`."""
    shape: Json = {
        "sha": found.blob,
        "filename": found.path,
        "status": found.status,
        "additions": found.additions,
        "deletions": found.deletions,
        "changes": found.additions + found.deletions,
        "blob_url": f"{view.html(repo)}/blob/{head}/{escaped(found.path)}",
        "raw_url": f"{view.html(repo)}/raw/{head}/{escaped(found.path)}",
        "contents_url": f"{view.api(repo)}/contents/{escaped(found.path)}?ref={head}",
    }
    if found.patch is not None:
        shape["patch"] = found.patch
    if found.previous:
        shape["previous_filename"] = found.previous
    return shape
