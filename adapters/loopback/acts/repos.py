"""Making, renaming and pushing to repositories from inside, as people do with their own git."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from adapters.loopback.acts import pushes
from adapters.loopback.acts.people import identity, known_or_new
from adapters.loopback.core.bare import Bare, CommitText
from adapters.loopback.core.git import GitFailed
from adapters.loopback.core.lookup import full_name
from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.state import Repo, User
from adapters.loopback.hooks import events
from adapters.loopback.hub import Hub

_SHA = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Source:
    """Where a repository's first content comes from."""

    path: str | None = None
    files: dict[str, str] | None = None
    default_branch: str | None = None


async def create_repo(hub: Hub, name: str, source: Source) -> Repo:
    """A new repository. Raises Refused 422 when the name is taken or the source cannot be cloned."""
    owner_name, _, short = name.partition("/")
    if any(full_name(hub.state, repo).lower() == name.lower() for repo in hub.state.repos.values()):
        raise Refused(422, f"{name} exists already")
    owner = known_or_new(hub.store, owner_name, "Organization")
    now = hub.store.now()
    repo = Repo(
        id=hub.store.new_id(), owner_id=owner.id, name=short, default_branch="main", created_at=now, pushed_at=now
    )
    path = hub.store.git_dir(repo.id)
    # A directory left by a turn that was killed before its document was saved.
    shutil.rmtree(path, ignore_errors=True)
    try:
        await _fill(hub, repo, source)
    except GitFailed as error:
        shutil.rmtree(path, ignore_errors=True)
        raise Refused(422, f"{source.path or 'the files'} cannot be taken: {error}") from error
    hub.state.repos[repo.id] = repo
    return repo


async def _fill(hub: Hub, repo: Repo, source: Source) -> None:
    bare = hub.bare(repo)
    if source.path is None:
        await bare.create()
    else:
        if not Path(source.path).exists():
            raise Refused(422, f"{source.path} does not exist")
        await bare.clone(source.path, hub.store.directory / "tmp" / "clone.gitconfig")
    repo.default_branch = await _choose_branch(bare, source.default_branch)
    await bare.set_head(repo.default_branch)
    if source.files:
        tip = await bare.branch(repo.default_branch)
        text = CommitText("Add files\n", hub.store.now(), ("GitHub", "noreply@github.com"))
        sha = await bare.commit_files(tip, source.files, text)
        await bare.update_ref(f"refs/heads/{repo.default_branch}", sha)


async def _choose_branch(bare: Bare, wanted: str | None) -> str:
    """The one asked for, else the source's; a source with a detached HEAD gets `main` there."""
    named = await bare.head_branch()
    branches = await bare.branches()
    branch = wanted or named or "main"
    detached = None if named else await bare.resolve("HEAD")
    if branch not in branches and detached:
        await bare.update_ref(f"refs/heads/{branch}", detached)
    elif branch not in branches and branches:
        if wanted:
            raise Refused(422, f"The repository has no branch {wanted}")
        branch = sorted(branches)[0]
    return branch


async def fork_of(hub: Hub, parent: Repo, name: str) -> Repo:
    """The fork of that name; made if there is none."""
    for repo in hub.state.repos.values():
        if full_name(hub.state, repo).lower() == name.lower():
            return repo
    source = Source(path=str(hub.store.git_dir(parent.id)), default_branch=parent.default_branch)
    fork = await create_repo(hub, name, source)
    fork.fork_of = parent.id
    return fork


def rename_repo(hub: Hub, repo: Repo, name: str, actor: User) -> None:
    """Give it another name (and owner, if `name` has one). The old name answers 301 from now on."""
    former, short_former = full_name(hub.state, repo), repo.name
    owner_name, slash, short = name.rpartition("/")
    target = name if slash else f"{former.partition('/')[0]}/{name}"
    if any(full_name(hub.state, one).lower() == target.lower() for one in hub.state.repos.values()):
        raise Refused(422, f"{target} exists already")
    if slash:
        repo.owner_id = known_or_new(hub.store, owner_name, "Organization").id
    repo.name = short
    repo.former_names.append(former)
    events.repository_renamed(hub, repo, short_former, actor)


@dataclass(frozen=True)
class FilePush:
    """Files a person commits on a branch; None deletes one. No files at all: the branch is only made or moved."""

    branch: str
    files: dict[str, str | None]
    start: str | None = None
    force: bool = False
    message: str | None = None


async def push_files(hub: Hub, repo: Repo, user: User, push: FilePush) -> str:
    """Commit and push; the answer is the new head. Raises Refused 422.

    On a branch that exists the commit goes on top. With `force` it replaces the tip: it stands on `start`,
    or on the tip's parent.
    """
    bare = hub.bare(repo)
    if not await bare.valid_branch_name(push.branch):
        raise Refused(422, f"{push.branch!r} is no branch name")
    before = await pushes.all_refs(bare)
    parent = await _parent(bare, repo, push)
    sha = await _commit(hub, bare, user, (push, parent)) if push.files or parent is None else parent
    await bare.update_ref(f"refs/heads/{push.branch}", sha)
    await pushes.after_push(hub, repo, before, user)
    return sha


async def _commit(hub: Hub, bare: Bare, user: User, what: tuple[FilePush, str | None]) -> str:
    push, parent = what
    message = push.message or f"Change {', '.join(sorted(push.files))}\n"
    text = CommitText(message, hub.store.now(), identity(hub.state, user))
    try:
        return await bare.commit_files(parent, push.files, text)
    except GitFailed as error:
        raise Refused(422, f"The files cannot be committed: {error}") from error


async def _parent(bare: Bare, repo: Repo, push: FilePush) -> str | None:
    tip = await bare.branch(push.branch)
    if tip and not push.force:
        if push.start:
            raise Refused(422, f"Branch {push.branch} exists; `from` needs `force` then")
        return tip
    if push.start:
        return await commit_named(bare, push.start)
    if tip:
        return await bare.resolve(f"{tip}^")
    return await bare.branch(repo.default_branch)


async def commit_named(bare: Bare, name: str) -> str:
    """The commit of a branch or sha. Raises Refused 422."""
    found = await bare.branch(name) or (await bare.resolve(name) if _SHA.fullmatch(name) else None)
    if found is None:
        raise Refused(422, f"There is no branch or commit {name}")
    return found


async def delete_branch(hub: Hub, repo: Repo, branch: str, actor: User) -> None:
    """Raises Refused 422 when it is not there, as GitHub does."""
    bare = hub.bare(repo)
    if await bare.branch(branch) is None:
        raise Refused(422, "Reference does not exist")
    if branch == repo.default_branch:
        raise Refused(422, "Cannot delete the default branch")
    before = await pushes.all_refs(bare)
    await bare.delete_ref(f"refs/heads/{branch}")
    await pushes.after_push(hub, repo, before, actor)
