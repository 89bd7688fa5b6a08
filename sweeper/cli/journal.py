"""What the agents of a sweep did, action by action: ended attempts from the store, a running one from this host."""

from sweeper.cli import composition
from sweeper.config import Settings, StateDir
from sweeper.errors import NotFound, SweeperError
from sweeper.model import AttemptResult, SweepState
from sweeper.model.journal import JournalRef
from sweeper.policy.storytelling import story_lines
from sweeper.ports import Artifacts, Journals, SweepRecord
from sweeper.reporting import AttemptStory
from worktrees.host import host_id
from worktrees.journal import JournalStore


async def attempt_stories(settings: Settings, state_dir: StateDir, record: SweepRecord) -> tuple[AttemptStory, ...]:
    """Of every attempt, the one that runs now included, if it runs on this host."""
    store = composition.artifacts(state_dir, settings.artifacts_url)
    sweep, attempts = record.view.id, record.state.attempts
    told = [AttemptStory(n=one.n, agent=one.agent, actions=await _kept(store, one)) for one in attempts]
    journals = JournalStore(state_dir.worktrees, host_id(state_dir.worktrees))
    for base in _bases(record.state):
        repository_id, n = record.view.checkpoint.run.repository_id, len(attempts) + 1
        journal = JournalRef(repository_id=repository_id, sweep=sweep, attempt=n, base=base)
        if actions := await _recorded(journals, journal):
            told.append(AttemptStory(n=n, agent="at work", actions=actions, is_open=True))
            break
    return tuple(told)


def _bases(state: SweepState) -> tuple[str, ...]:
    """Where the running attempt may begin: after a review from the proposal, else from the failing commit."""
    proposed = (state.proposal.head_sha,) if state.proposal else ()
    return (*proposed, state.facts.head_sha) if state.facts else proposed


async def _kept(store: Artifacts, attempt: AttemptResult) -> tuple[str, ...]:
    if attempt.fix.story is None:
        return ()
    try:
        return tuple((await store.get(attempt.fix.story)).decode("utf-8", "replace").splitlines())
    except NotFound:
        return (f"{attempt.fix.actions} actions, whose story is no longer in the store",)


async def _recorded(journals: Journals, journal: JournalRef) -> tuple[str, ...]:
    try:
        return story_lines(await journals.entries(journal))
    except SweeperError:
        return ()
