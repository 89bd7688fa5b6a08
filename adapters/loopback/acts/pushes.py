"""What follows when refs moved: pull requests catch up, webhooks go out."""

from adapters.loopback.acts import trial
from adapters.loopback.core.bare import ZERO, Bare, Commit
from adapters.loopback.core.pull_state import Pull
from adapters.loopback.core.state import Repo, User
from adapters.loopback.hooks import events
from adapters.loopback.hooks.events import RefChange
from adapters.loopback.hub import Hub
from adapters.loopback.shapes.view import Json

Refs = dict[str, str]


async def after_push(hub: Hub, repo: Repo, before: Refs, pusher: User) -> list[RefChange]:
    """Compare refs with what they were, tell everybody, bring pull requests up to date. The answer is what moved."""
    changes = await find_changes(hub.bare(repo), before)
    for change in changes:
        repo.pushed_at = hub.store.now()
        if ZERO in (change.before, change.after):
            events.ref_made_or_gone(hub, repo, change, pusher)
        events.push(hub, repo, change, pusher)
    for change in changes:
        if change.ref.startswith("refs/heads/"):
            await _branch_moved(hub, repo, change, pusher)
    return changes


async def all_refs(bare: Bare) -> Refs:
    """Branches and tags."""
    return await bare.refs("refs/heads/") | await bare.refs("refs/tags/")


async def find_changes(bare: Bare, before: Refs) -> list[RefChange]:
    """What moved since `before`."""
    after = await all_refs(bare)
    changes = []
    for ref in sorted(before.keys() | after.keys()):
        old, new = before.get(ref, ZERO), after.get(ref, ZERO)
        if old != new:
            forced = ZERO not in (old, new) and not await bare.is_ancestor(old, new)
            changes.append(RefChange(ref, old, new, forced, await _new_commits(bare, old, new)))
    return changes


async def _new_commits(bare: Bare, old: str, new: str) -> tuple[Commit, ...]:
    if new == ZERO:
        return ()
    # GitHub lists at most 20 commits in a push event; of a new branch we show its tip.
    return tuple(await bare.log(new, limit=1) if old == ZERO else await bare.log(f"{old}..{new}", limit=20))


async def _branch_moved(hub: Hub, repo: Repo, change: RefChange, pusher: User) -> None:
    branch = change.ref.removeprefix("refs/heads/")
    for base_repo in list(hub.state.repos.values()):
        for pull in list(base_repo.pulls.values()):
            if not pull.open:
                continue
            if pull.head_repo_id == repo.id and pull.head == branch:
                await _head_moved(hub, base_repo, pull, change, pusher)
            elif base_repo.id == repo.id and pull.base == branch:
                await _base_moved(hub, repo, pull, change, pusher)


async def _head_moved(hub: Hub, repo: Repo, pull: Pull, change: RefChange, pusher: User) -> None:
    if change.after == ZERO:
        close(hub, repo, pull, pusher)
        return
    await trial.refresh(hub, repo, pull)
    pull.updated_at = hub.store.now()
    extra: Json = {"before": change.before, "after": change.after}
    events.pull_request(hub, events.OnPull(repo, pull), "synchronize", pusher, extra)
    if pull.size.commits == 0:
        # GitHub closes a pull request whose head was forced onto its base.
        close(hub, repo, pull, pusher)


async def _base_moved(hub: Hub, repo: Repo, pull: Pull, change: RefChange, pusher: User) -> None:
    if change.after == ZERO:
        close(hub, repo, pull, pusher)
    elif await hub.bare(repo).is_ancestor(pull.head_sha, change.after):
        # Somebody pushed the head into the base: for GitHub that is a merge.
        mark_merged(hub, repo, pull, change.after, pusher)
    else:
        await trial.refresh(hub, repo, pull)


def close(hub: Hub, repo: Repo, pull: Pull, actor: User) -> None:
    """Close without merging."""
    pull.open, pull.queued = False, False
    pull.closed_at = pull.updated_at = hub.store.now()
    pull.closed_by = actor.id
    pull.merge_sha = None
    events.pull_request(hub, events.OnPull(repo, pull), "closed", actor)


def mark_merged(hub: Hub, repo: Repo, pull: Pull, merge_sha: str, actor: User) -> None:
    """Close as merged by `merge_sha`."""
    pull.open, pull.queued = False, False
    pull.closed_at = pull.merged_at = pull.updated_at = hub.store.now()
    pull.closed_by = pull.merged_by = actor.id
    pull.merge_sha = merge_sha
    events.pull_request(hub, events.OnPull(repo, pull), "closed", actor)
