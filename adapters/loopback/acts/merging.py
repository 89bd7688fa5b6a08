"""Merging a pull request, and everything GitHub refuses about it."""

from adapters.loopback.acts import pushes
from adapters.loopback.acts.people import identity
from adapters.loopback.core.bare import CommitText
from adapters.loopback.core.pull_state import Pull
from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.state import Protection, RefUpdate, Repo, User
from adapters.loopback.hub import Hub
from adapters.loopback.shapes.checks import latest_statuses

NOT_MERGEABLE = "Pull Request is not mergeable"


async def merge_pull(hub: Hub, repo: Repo, pull: Pull, method: str, actor: User) -> str:
    """Merge by `merge` or `squash`; the answer is the new sha on the base. Raises Refused 405.

    The decision is saved before the base branch moves and done again at the next start, so a kill in between
    leaves neither a merge without its record nor a record without its merge.
    """
    bare = hub.bare(repo)
    base = await bare.branch(pull.base)
    # What the queue merges has passed the rules on its way.
    if not pull.queued:
        await refuse(hub, repo, pull, base)
    tree = base and await bare.merge_tree(base, pull.head_sha)
    if not base or not tree:
        raise Refused(405, NOT_MERGEABLE)
    before = await pushes.all_refs(bare)
    text = CommitText(_message(hub, pull, method), hub.store.now(), identity(hub.state, actor))
    parents = [base] if method == "squash" else [base, pull.head_sha]
    merge_sha = await bare.commit_tree(tree, parents, text)
    pushes.mark_merged(hub, repo, pull, merge_sha, actor)
    update = RefUpdate(repo_id=repo.id, ref=f"refs/heads/{pull.base}", old=base, new=merge_sha)
    hub.state.pending_refs.append(update)
    hub.store.save()
    await bare.update_ref(update.ref, update.new, update.old)
    hub.state.pending_refs.remove(update)
    await pushes.after_push(hub, repo, before, actor)
    return merge_sha


def _message(hub: Hub, pull: Pull, method: str) -> str:
    if method == "squash":
        return f"{pull.title} (#{pull.number})\n"
    owner = hub.state.users[hub.state.repos[pull.head_repo_id].owner_id].login
    return f"Merge pull request #{pull.number} from {owner}/{pull.head}\n\n{pull.title}\n"


async def refuse(hub: Hub, repo: Repo, pull: Pull, base: str | None) -> None:
    """Raise Refused 405 for whatever stands in the way."""
    if not pull.open:
        raise Refused(405, NOT_MERGEABLE)
    if pull.draft:
        raise Refused(405, "Pull Request is still a draft")
    if not pull.mergeable:
        raise Refused(405, NOT_MERGEABLE)
    rules = repo.protection.get(pull.base)
    if rules is None:
        return
    if rules.queue:
        raise Refused(405, "Changes must be made through the merge queue")
    refuse_by_rules(repo, pull, rules)
    if rules.strict and base and not await hub.bare(repo).is_ancestor(base, pull.head_sha):
        raise Refused(405, "Head branch is out of date. Review and try the merge again.")


def refuse_by_rules(repo: Repo, pull: Pull, rules: Protection) -> None:
    """Required reviews and checks, without the queue."""
    approvals = _standing_approvals(pull)
    if approvals < rules.required_reviews:
        missing = rules.required_reviews - approvals
        raise Refused(405, f"At least {missing} approving review is required by reviewers with write access.")
    green = _green_names(repo, pull.head_sha)
    expected = [name for name in rules.required_checks if name not in green]
    if len(expected) == 1:
        raise Refused(405, f'Required status check "{expected[0]}" is expected.')
    if expected:
        raise Refused(405, f"{len(expected)} of {len(rules.required_checks)} required status checks are expected.")


def _standing_approvals(pull: Pull) -> int:
    """The latest of approved, changes requested and dismissed counts for each user; comments change nothing."""
    latest = {review.user_id: review.state for review in pull.reviews if review.state not in ("COMMENTED", "PENDING")}
    return sum(state == "APPROVED" for state in latest.values())


def _green_names(repo: Repo, sha: str) -> set[str]:
    """Names of checks and contexts whose newest result on `sha` lets a merge pass."""
    results: dict[str, bool] = {}
    passing = ("success", "neutral", "skipped")
    for run in repo.runs.values():
        if run.head_sha == sha:
            results |= {job.name: job.conclusion in passing for job in run.latest.jobs}
    results |= {check.name: check.conclusion in passing for check in repo.checks.values() if check.head_sha == sha}
    results |= {status.context: status.state == "success" for status in latest_statuses(repo, sha)}
    return {name for name, passed in results.items() if passed}
