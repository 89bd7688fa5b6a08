"""Errands of upkeep: each is tried a few times; one that fails is noted and left to the next pass."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

from sweeper.activities import names
from sweeper.activities.names import Activity, In, Out
from sweeper.errors import NON_RETRYABLE
from sweeper.model.upkeep import UpkeepState
from sweeper.workflows.calls import sentence_of

LONGEST = timedelta(minutes=10)
HEARTBEAT = timedelta(seconds=20)
HOST_ANSWERS = timedelta(minutes=1)
"""How long a host may be busy before it is left to the next pass."""
TRIES = 3
MOST_PROBLEMS = 20


class Errands:
    """Runs activities for upkeep and keeps its notes."""

    def __init__(self, state: UpkeepState) -> None:
        self.state = state

    def note(self, **changes: object) -> None:
        """Remember."""
        self.state = self.state.model_copy(update=changes)

    def note_problems(self, *sentences: str) -> None:
        """What could not be done in this pass; shown with upkeep."""
        for sentence in sentences:
            workflow.logger.warning("upkeep could not do it: %s", sentence)
        kept = tuple(sentence[:300] for sentence in (*self.state.problems, *sentences))
        self.note(problems=kept[:MOST_PROBLEMS])

    async def run(self, act: Activity[In, Out], arg: In, host: str | None = None) -> Out | None:
        """The activity's answer; None if it failed, which is noted. `host`: on whose disk."""
        try:
            answer: Out = await workflow.execute_activity(
                act.name,
                arg,
                result_type=act.gives,
                task_queue=names.host_queue(host) if host else None,
                start_to_close_timeout=LONGEST,
                schedule_to_start_timeout=HOST_ANSWERS if host else None,
                heartbeat_timeout=HEARTBEAT,
                retry_policy=RetryPolicy(
                    initial_interval=timedelta(seconds=1),
                    maximum_attempts=TRIES,
                    non_retryable_error_types=NON_RETRYABLE,
                ),
            )
        except ActivityError as error:
            self.note_problems(f"{act.name}{f' on host {host}' if host else ''}: {sentence_of(error)}")
            return None
        return answer
