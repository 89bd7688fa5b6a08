"""Repositories, branches, refs, commits, files, collaborators."""

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import Field, JsonValue

from adapters.loopback.acts import repos as acts
from adapters.loopback.core.diffs import diff
from adapters.loopback.core.lookup import may, permission_of, user_named
from adapters.loopback.core.refusals import Refused, not_found
from adapters.loopback.core.state import Permission
from adapters.loopback.hooks import events
from adapters.loopback.rest.common import At, Body, Read, Write, answer, nothing, paged
from adapters.loopback.shapes import people, pulls, repos
from adapters.loopback.shapes.view import Json

router = APIRouter(prefix="/repos/{owner}/{name}")
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@router.get("")
async def get_repo(at: Read) -> Response:
    """GET /repos/{owner}/{repo}."""
    shape = repos.repo(at.view, at.repo)
    if may(at.hub.state, at.repo, at.user, Permission.WRITE):
        shape |= repos.merge_settings()
    return answer(shape)


@router.get("/branches")
async def list_branches(at: Read) -> Response:
    """GET branches."""
    found = sorted((await at.bare.branches()).items())
    return paged(at, found, lambda pair: _short_branch(at, *pair))


def _short_branch(at: At, name: str, sha: str) -> Json:
    commit: Json = {"sha": sha, "url": f"{at.view.api(at.repo)}/commits/{sha}"}
    return {"name": name, "commit": commit, "protected": name in at.repo.protection}


@router.get("/branches/{branch:path}/protection")
async def get_protection(at: Read, branch: str) -> Response:
    """GET branches/{branch}/protection."""
    rules = at.repo.protection.get(branch)
    if rules is None:
        raise Refused(404, "Branch not protected")
    checks: Json = {"strict": rules.strict, "contexts": rules.required_checks, "checks": []}
    reviews: Json = {
        "required_approving_review_count": rules.required_reviews,
        "dismiss_stale_reviews": False,
        "require_code_owner_reviews": False,
    }
    shape: Json = {"url": f"{at.view.api(at.repo)}/branches/{branch}/protection", "required_status_checks": checks}
    return answer(shape | ({"required_pull_request_reviews": reviews} if rules.required_reviews else {}))


@router.get("/branches/{branch:path}")
async def get_branch(at: Read, branch: str) -> Response:
    """GET branches/{branch}."""
    sha = await at.bare.branch(branch)
    if sha is None:
        raise Refused(404, "Branch not found")
    return answer(repos.branch(at.view, at.repo, branch, await at.bare.commit(sha)))


@router.get("/git/ref/{ref:path}")
async def get_ref(at: Read, ref: str) -> Response:
    """GET git/ref/heads/x; exact names only."""
    found = await at.bare.refs(f"refs/{ref}")
    if f"refs/{ref}" not in found:
        raise not_found()
    return answer(repos.ref(at.view, at.repo, f"refs/{ref}", found[f"refs/{ref}"]))


@router.get("/git/matching-refs/{ref:path}")
async def matching_refs(at: Read, ref: str) -> Response:
    """GET git/matching-refs/heads/x: everything that begins so, also in the middle of a name."""
    found = [pair for pair in (await at.bare.refs("refs/")).items() if pair[0].startswith(f"refs/{ref}")]
    return paged(at, found, lambda pair: repos.ref(at.view, at.repo, *pair))


@router.delete("/git/refs/{ref:path}")
async def delete_ref(at: Write, ref: str) -> Response:
    """DELETE git/refs/heads/x; 422 when it is gone already."""
    if not ref.startswith("heads/"):
        raise Refused(422, "Reference does not exist")
    branch = ref.removeprefix("heads/")
    sha = await at.bare.branch(branch)
    await acts.delete_branch(at.hub, at.repo, branch, at.user)
    at.effect("branch.delete", f"{at.name} refs/{ref} {sha}")
    return nothing()


@router.get("/commits")
async def list_commits(at: Read, sha: str | None = None) -> Response:
    """GET commits?sha=branch or sha."""
    start = await _resolve(at, sha or at.repo.default_branch)
    return paged(at, await at.bare.log(start), lambda found: repos.commit(at.view, at.repo, found))


@router.get("/commits/{sha}/pulls")
async def pulls_of_commit(at: Read, sha: str) -> Response:
    """GET commits/{sha}/pulls: pull requests whose head or merge it is."""
    found = [pull for pull in at.repo.pulls.values() if sha in (pull.head_sha, pull.merged_at and pull.merge_sha)]
    return paged(at, found, lambda pull: pulls.simple_pull(at.view, at.repo, pull))


async def _resolve(at: At, ref: str) -> str:
    """Branch, tag, full ref or sha."""
    for name in (f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/{ref}", ref):
        sha = await at.bare.resolve(name)
        if sha:
            return sha
    raise Refused(422, f"No commit found for SHA: {ref}")


@router.get("/compare/{basehead:path}")
async def compare(at: Read, basehead: str) -> Response:
    """GET compare/base...head."""
    one, _, other = basehead.partition("...")
    try:
        base, head = await _resolve(at, one), await _resolve(at, other)
    except Refused:
        raise not_found() from None
    start = await at.bare.merge_base(base, head)
    if start is None:
        raise Refused(404, f"No common ancestor between {one} and {other}.")
    ahead, behind = await at.bare.count(f"{base}..{head}"), await at.bare.count(f"{head}..{base}")
    states = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind", (False, False): "identical"}
    commits = reversed(await at.bare.log(f"{base}..{head}"))
    return answer(
        {
            "url": f"{at.view.api(at.repo)}/compare/{basehead}",
            "html_url": f"{at.view.html(at.repo)}/compare/{basehead}",
            "permalink_url": f"{at.view.html(at.repo)}/compare/{base}...{head}",
            "diff_url": f"{at.view.html(at.repo)}/compare/{basehead}.diff",
            "patch_url": f"{at.view.html(at.repo)}/compare/{basehead}.patch",
            "base_commit": repos.commit(at.view, at.repo, await at.bare.commit(base)),
            "merge_base_commit": repos.commit(at.view, at.repo, await at.bare.commit(start)),
            "status": states[ahead > 0, behind > 0],
            "ahead_by": ahead,
            "behind_by": behind,
            "total_commits": ahead,
            "commits": [repos.commit(at.view, at.repo, found) for found in commits],
            "files": [repos.changed_file(at.view, at.repo, head, found) for found in await diff(at.bare, start, head)],
        }
    )


@router.get("/contents/{path:path}")
async def get_contents(at: Read, path: str, ref: str | None = None) -> Response:
    """GET contents/{path}?ref=: a file; a directory answers its entries."""
    sha = await _resolve(at, ref or at.repo.default_branch)
    content = await at.bare.read(sha, path)
    if content is not None:
        blob = (await at.bare.run("rev-parse", f"{sha}:{path}")).text
        return answer(repos.file_content(at.view, at.repo, path, content, blob))
    listed = await at.bare.run("ls-tree", "-z", f"{sha}:{path}", ok=(0, 128))
    if listed.code != 0:
        raise not_found()
    return answer([_entry(at, path, line) for line in listed.out.decode(errors="replace").split("\0") if line])


def _entry(at: At, folder: str, line: str) -> Json:
    about, _, name = line.partition("\t")
    _, kind, sha = about.split(" ")
    path = f"{folder}/{name}".lstrip("/")
    kinds = {"tree": "dir", "commit": "submodule"}
    return {
        "type": kinds.get(kind, "file"),
        "name": name,
        "path": path,
        "sha": sha,
        "size": 0,
        "url": f"{at.view.api(at.repo)}/contents/{path}",
    }


@router.get("/collaborators/{login}/permission")
async def get_permission(at: Read, login: str) -> Response:
    """GET collaborators/{user}/permission: maintain shows as write, triage as read; role_name has the real one."""
    user = user_named(at.hub.state, login)
    if user is None:
        raise Refused(404, f"{login} is not a user")
    role = permission_of(at.hub.state, at.repo, user)
    legacy = {Permission.MAINTAIN: Permission.WRITE, Permission.TRIAGE: Permission.READ}
    shape: Json = {"permission": legacy.get(role, role).value, "role_name": role.value}
    return answer(shape | {"user": people.user(at.view, user) | {"role_name": role.value}})


class DispatchBody(Body):
    """A repository_dispatch."""

    event_type: str = Field(min_length=1, max_length=100)
    client_payload: dict[str, JsonValue] = Field(default={}, max_length=10)


@router.post("/dispatches")
async def dispatch(at: Write, body: DispatchBody) -> Response:
    """POST dispatches: no id comes back."""
    guid = events.repository_dispatch(at.hub, at.repo, body.event_type, body.client_payload, at.user)
    at.effect("dispatch.create", f"{at.name} {body.event_type} {guid}")
    return nothing()


@router.get("/labels")
async def list_labels(at: Read) -> Response:
    """GET labels."""
    return paged(at, list(at.repo.labels.values()), lambda label: pulls.label(at.view, at.repo, label))


@router.get("/rules/branches/{branch:path}")
async def rules_of_branch(at: Read, branch: str) -> Response:
    """GET rules/branches/{branch}: rulesets are not modelled; only a merge queue shows."""
    rules = at.repo.protection.get(branch)
    return answer([{"type": "merge_queue", "ruleset_id": at.repo.id}] if rules and rules.queue else [])


@router.get("/commits/{ref:path}")
async def get_commit(at: Read, ref: str) -> Response:
    """GET commits/{ref}, with files against the first parent."""
    found = await at.bare.commit(await _resolve(at, ref))
    files = await diff(at.bare, found.parents[0] if found.parents else _EMPTY_TREE, found.sha)
    counts = (sum(one.additions for one in files), sum(one.deletions for one in files))
    extra: Json = {
        "stats": {"additions": counts[0], "deletions": counts[1], "total": sum(counts)},
        "files": [repos.changed_file(at.view, at.repo, found.sha, one) for one in files],
    }
    return answer(repos.commit(at.view, at.repo, found) | extra)
