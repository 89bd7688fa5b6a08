"""Standing in a queue: ask, wait by name, ask again; a ring or two minutes at most, and never for ever."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from temporalio import workflow

from sweeper.model import Ending, Outcome
from sweeper.model.target import Answer
from sweeper.workflows.progress import Progress
from sweeper.workflows.waits import Bell, until_earliest

ASK_AGAIN = timedelta(minutes=2)
"""Who waits is rung when its turn comes; this is for a ring that was lost."""


@dataclass(frozen=True)
class Held:
    """What holds a sweep up, and until when if that is known."""

    what: str
    until: datetime | None = None


async def until_let_in(
    ask: Callable[[], Awaitable[Ending | Held | None]], progress: Progress, bell: Bell
) -> Ending | None:
    """None: it is in. Else how the sweep ends: by the answer, or because its patience is over."""
    while True:
        bell.rung = False
        answer = await ask()
        if not isinstance(answer, Held):
            return answer
        give_up_at = progress.patient_until
        if workflow.now() >= give_up_at:
            return Ending(outcome=Outcome.EXPIRED, reason=f"waited too long for {answer.what}")
        progress.wait(answer.what, give_up_at)
        progress.continue_as_new_if_long()
        await bell.wait(until_earliest(give_up_at, answer.until, workflow.now() + ASK_AGAIN))


def standing(answer: Answer) -> str:
    """Where in the queue, and behind whom."""
    return f", place {answer.position}" + (f" behind {answer.other}" if answer.other else "")
