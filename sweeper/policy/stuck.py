"""What counts as stuck, and the sentence that says what to do. Temporal shows such workflows as running, for ever."""

from datetime import datetime, timedelta

from sweeper.model import WaitingFor
from sweeper.model.target import TargetMemo
from sweeper.model.upkeep import StuckCase, StuckKind

FAILED_TASKS = 3
"""So often in a row a workflow's code has to fail. Once or twice happens while a worker is stopped."""

UNTAKEN = timedelta(minutes=1)
"""So long an activity may wait for a worker before it matters that nobody serves its queue."""

LATE = timedelta(minutes=1)
"""So long after its end a wait may still be going on: timers fire late on a busy server."""

QUEUE_AGE = timedelta(hours=2)
"""So long the first in a target's queue may wait: a sweep with several attempts may take an hour."""

CREDENTIALS = "GitHub to accept our credentials"
"""How a sweep names this wait."""


def task_fails(workflow: str, cause: str, since: datetime) -> StuckCase:
    """The workflow's code fails: a wrong deploy, mostly."""
    sentence = (
        f"Its workflow code fails again and again ({cause}) since {_at(since)}: start a worker of the right version;"
        " nothing is lost."
    )
    return StuckCase(workflow=workflow, kind=StuckKind.TASK_FAILS, since=since, sentence=sentence)


def nobody_works(workflow: str, activity: str, queue: str, since: datetime) -> StuckCase:
    """An activity waits on a queue that nobody polls."""
    who = "with the state directory of that host" if queue.startswith("host-") else "for this service"
    sentence = (
        f"Nobody takes its activity {activity} from the queue {queue} since {_at(since)}: start `sweeper worker` {who}."
    )
    return StuckCase(workflow=workflow, kind=StuckKind.NOBODY_WORKS, since=since, sentence=sentence)


def waits_badly(workflow: str, waiting: WaitingFor | None, now: datetime) -> StuckCase | None:
    """A wait that did not end when it should have, or that only an operator can end; None for a good one."""
    if waiting is None:
        return None
    if waiting.what.startswith(CREDENTIALS):
        sentence = (
            f"GitHub refuses our credentials since {_at(waiting.since)}: mend the token, or the app's key and"
            f" installation, before {_at(waiting.until)}; it then goes on by itself."
        )
        return StuckCase(workflow=workflow, kind=StuckKind.CREDENTIALS, since=waiting.since, sentence=sentence)
    if waiting.until < now - LATE:
        sentence = (
            f"Its wait for {waiting.what} was to end at {_at(waiting.until)} and did not: see that a worker runs and"
            f" look at its log, or give up with `sweeper cancel {workflow}`."
        )
        return StuckCase(workflow=workflow, kind=StuckKind.OVERDUE, since=waiting.until, sentence=sentence)
    return None


def waits_too_long(target: str, memo: TargetMemo, now: datetime) -> StuckCase | None:
    """A queue at a target whose first has waited for too long; None for a good one."""
    first = next((waiting for waiting in memo.queue if waiting.since is not None), None)
    if first is None or first.since is None or now - first.since < QUEUE_AGE:
        return None
    holder = memo.holder or "nobody"
    remedy = f"look at it with `sweeper show {holder}`, or end it with `sweeper cancel {holder}`"
    sentence = (
        f"{first.sweep} waits for its turn since {_at(first.since)} while {holder} has it:"
        f" {remedy if memo.holder else 'start a worker'}."
    )
    return StuckCase(workflow=target, kind=StuckKind.OLD_QUEUE, since=first.since, sentence=sentence)


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
