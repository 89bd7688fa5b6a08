"""The test merge: what GitHub computes about an open pull request whenever one of its ends moves."""

from adapters.loopback.core.bare import ZERO, CommitText
from adapters.loopback.core.diffs import diff
from adapters.loopback.core.pull_state import DiffSize, Pull
from adapters.loopback.core.state import Repo
from adapters.loopback.hub import Hub


async def refresh(hub: Hub, repo: Repo, pull: Pull) -> None:
    """Set the head, refs/pull/N/head and, only when it can be merged, refs/pull/N/merge; count the change."""
    bare = hub.bare(repo)
    head_ref = f"refs/pull/{pull.number}/head"
    if pull.head_repo_id != repo.id:
        await bare.fetch(hub.store.git_dir(pull.head_repo_id), f"refs/heads/{pull.head}", head_ref)
    head = await hub.bare(hub.state.repos[pull.head_repo_id]).branch(pull.head)
    base = await bare.branch(pull.base)
    if head is None or base is None:
        return
    if head != pull.head_sha or pull.size.commits == 0:
        pull.base_sha = base
    pull.head_sha = head
    await bare.update_ref(head_ref, head)
    await _merge(hub, repo, pull, base)
    pull.size = await measure(hub, repo, pull)


async def _merge(hub: Hub, repo: Repo, pull: Pull, base: str) -> None:
    bare, ref = hub.bare(repo), f"refs/pull/{pull.number}/merge"
    tree = await bare.merge_tree(base, pull.head_sha)
    pull.mergeable = tree is not None
    if tree is None:
        pull.merge_sha = None
        await bare.delete_ref(ref)
        return
    text = CommitText(f"Merge {pull.head_sha} into {base}", hub.store.now())
    pull.merge_sha = await bare.commit_tree(tree, [base, pull.head_sha], text)
    await bare.update_ref(ref, pull.merge_sha)


async def measure(hub: Hub, repo: Repo, pull: Pull) -> DiffSize:
    """Commits and lines of the pull request, from where its branch left the base."""
    bare = hub.bare(repo)
    start = await bare.merge_base(pull.base_sha, pull.head_sha)
    if start is None:
        return DiffSize(commits=await bare.count(pull.head_sha))
    files = await diff(bare, start, pull.head_sha)
    return DiffSize(
        commits=await bare.count(f"{start}..{pull.head_sha}"),
        additions=sum(one.additions for one in files),
        deletions=sum(one.deletions for one in files),
        changed_files=len(files),
    )


async def catch_up(hub: Hub) -> None:
    """After a start: finish ref changes that were decided, and bring every open pull request up to date."""
    for update in list(hub.state.pending_refs):
        bare = hub.bare(hub.state.repos[update.repo_id])
        current = (await bare.refs(update.ref)).get(update.ref, ZERO)
        if current == update.old:
            await bare.update_ref(update.ref, update.new, update.old)
        hub.state.pending_refs.remove(update)
    for repo in hub.state.repos.values():
        for pull in repo.pulls.values():
            if pull.open:
                await refresh(hub, repo, pull)
