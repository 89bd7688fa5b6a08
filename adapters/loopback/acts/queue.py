"""The merge queue: a pull request waits in it until the drive API says how it ended."""

from adapters.loopback.acts import merging
from adapters.loopback.acts.people import known_or_new
from adapters.loopback.core.pull_state import Pull
from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.state import Repo, User
from adapters.loopback.hooks import events
from adapters.loopback.hub import Hub

QUEUE_LOGIN = "github-merge-queue[bot]"


def enqueue(hub: Hub, repo: Repo, pull: Pull, actor: User) -> None:
    """Raises Refused 422 as GraphQL words it, and for what the branch's rules ask."""
    rules = repo.protection.get(pull.base)
    if rules is None or not rules.queue:
        raise Refused(422, "Pull request is not in a repository with a merge queue")
    if pull.queued:
        raise Refused(422, "Pull request is already in the queue")
    if not pull.open or pull.draft or not pull.mergeable:
        raise Refused(422, "Pull request is not in a mergeable state")
    merging.refuse_by_rules(repo, pull, rules)
    pull.queued = True
    events.pull_request(hub, events.OnPull(repo, pull), "enqueued", actor)


async def end_queue(hub: Hub, repo: Repo, pull: Pull, merged: bool) -> None:
    """The queue merges the pull request, or drops it. Raises Refused 422 when it is not queued."""
    if not pull.queued:
        raise Refused(422, f"Pull request {pull.number} is not in the queue")
    queue = known_or_new(hub.store, QUEUE_LOGIN, "Bot")
    if merged:
        await merging.merge_pull(hub, repo, pull, "merge", queue)
    else:
        pull.queued = False
        events.pull_request(hub, events.OnPull(repo, pull), "dequeued", queue, {"reason": "CI_FAILURE"})
