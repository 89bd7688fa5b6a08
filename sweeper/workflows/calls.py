"""Calling activities from a workflow: bounds, retries by error class, rate limits as named waits."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    ChildWorkflowError,
    TimeoutError,
    TimeoutType,
)

from sweeper.activities import names, requests
from sweeper.activities.names import Activity, In, Out, Timing
from sweeper.errors import BY_NAME, NON_RETRYABLE, AuthBroken, Bug, HostLost, RateLimited, SweeperError
from sweeper.model import Timeouts
from sweeper.policy.stuck import CREDENTIALS
from sweeper.workflows.waits import Bell

RETRY_CEILING = timedelta(minutes=1)
FIRST_PARK = timedelta(minutes=1)
LONGEST_PARK = timedelta(minutes=15)
LONG_TRIES = 10
"""Checks and agents cost minutes and money: enough tries to outlive kills, too few to burn a day."""

Waiting = Callable[[str, datetime], None]
Moving = Callable[[str], None]
GOES_ON_ELSEWHERE = "goes-on-elsewhere"


def cause_of(error: BaseException) -> ApplicationError | None:
    """The application error an activity or child workflow failed with; None for timeouts and the like."""
    while isinstance(error, ActivityError | ChildWorkflowError) and error.cause is not None:
        error = error.cause
    return error if isinstance(error, ApplicationError) else None


def was_cancelled(error: BaseException) -> bool:
    """Whether it ended because we asked for that."""
    while isinstance(error, ActivityError | ChildWorkflowError) and error.cause is not None:
        error = error.cause
    return isinstance(error, CancelledError | asyncio.CancelledError)


def is_a(error: BaseException, family: type[SweeperError]) -> bool:
    """Whether the failure is of this class of ours, subclasses included."""
    cause = cause_of(error)
    found = BY_NAME.get(cause.type or "") if cause else None
    return found is not None and issubclass(found, family)


def sentence_of(error: BaseException) -> str:
    """The failure in one sentence."""
    cause = cause_of(error)
    if cause is not None:
        return cause.message
    inner = error.cause if isinstance(error, ActivityError | ChildWorkflowError) else error
    return f"{type(inner).__name__}: {inner}"


class Calls:
    """Runs activities under the sweep's own `Timeouts`; disk activities go to the queue of the sweep's host, others to
    `home`, which is the workflow's own queue if it is not named.
    """

    def __init__(
        self, timeouts: Timeouts, on_wait: Waiting, bell: Bell, host: str | None = None, home: str | None = None
    ) -> None:
        self._timeouts = timeouts
        self._on_wait = on_wait
        self._bell = bell
        self.host = host
        self._home = home
        self.on_move: Moving = _to_nobody
        """Told when another host's disk is worked on."""

    def move(self, host: str) -> None:
        """Work on another host's disk from now on."""
        self.host = host
        self.on_move(host)

    async def do(self, act: Activity[In, Out], arg: In, scale: int = 1) -> Out:
        """The activity's answer. `scale`: how many units of its time bound it may need (checks to run).

        Raises ActivityError once retries, bounded by count, are used up or the error class forbids them, and
        CancelledError when the sweep was stopped. The answer of a write is given even then, so that it is recorded.
        """
        give_up_at = workflow.now() + self._timeouts.rate_limit_total
        busy_until = workflow.now() + self._timeouts.busy_host_total
        refused, refused_until = 0, workflow.now() + self._timeouts.credentials_total
        while True:
            self._bell.raise_if_stopped()
            try:
                answer = await self._once(act, arg, scale)
            except ActivityError as error:
                if is_a(error, RateLimited):
                    await self._sleep_until(_retry_at(error), give_up_at, error)
                elif is_a(error, AuthBroken):
                    refused += 1
                    await self._credentials_mended(refused, refused_until, error)
                elif nobody_took_it(error) and workflow.now() < busy_until:
                    await self._same_host_or_another(error)
                else:
                    raise
            else:
                if not act.writes:
                    self._bell.raise_if_stopped()
                return answer

    async def _once(self, act: Activity[In, Out], arg: In, scale: int) -> Out:
        is_long = act.timing in (Timing.CHECK, Timing.AGENT)
        bound: timedelta = getattr(self._timeouts, act.timing) * scale + self._timeouts.heartbeat
        answer: Out = await workflow.execute_activity(
            act.name,
            arg,
            result_type=act.gives,
            task_queue=names.host_queue(self.host) if act.on_host and self.host else self._home,
            # What runs long has checkouts and snapshots around it; its own bound must be the one that is reached.
            start_to_close_timeout=bound + self._timeouts.git if is_long else bound,
            schedule_to_start_timeout=self._timeouts.host_queue if act.on_host else None,
            heartbeat_timeout=self._timeouts.heartbeat,
            retry_policy=RetryPolicy(
                initial_interval=self._timeouts.retry_first,
                maximum_interval=RETRY_CEILING,
                maximum_attempts=min(self._timeouts.tries, LONG_TRIES) if is_long else self._timeouts.tries,
                non_retryable_error_types=NON_RETRYABLE,
            ),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
        return answer

    async def _sleep_until(self, retry_at: datetime, give_up_at: datetime, error: ActivityError) -> None:
        if retry_at > give_up_at:
            raise error
        self._on_wait("GitHub's rate limit", retry_at)
        await self._bell.sleep(retry_at - workflow.now())

    async def _credentials_mended(self, times: int, give_up_at: datetime, error: ActivityError) -> None:
        """An operator has to act, or the app's suspension to end: asked again at growing distances, and on a ring."""
        if workflow.now() >= give_up_at:
            raise error
        self._on_wait(CREDENTIALS, give_up_at)
        self._bell.rung = False
        await self._bell.wait(min(FIRST_PARK * 2 ** min(times - 1, 10), LONGEST_PARK))
        self._bell.rung = True  # whoever waits next looks first: the ring may have meant more than this

    async def _same_host_or_another(self, error: ActivityError) -> None:
        """Wait for any worker; if it serves another disk, go on there: commits are found on GitHub or in bundles."""
        choice = await self._once(names.CHOOSE_HOST, requests.Nothing(), 1)
        if choice.host == self.host:
            return
        if not workflow.patched(GOES_ON_ELSEWHERE):
            raise ApplicationError(
                f"Host {self.host} has no worker any more; trigger the run again to start on another host.",
                type=HostLost.__name__,
                non_retryable=True,
            ) from error
        workflow.logger.warning("host %s serves nobody; going on at host %s", self.host, choice.host)
        self.move(choice.host)


def _to_nobody(_: str) -> None:
    """Nobody keeps it."""


def nobody_took_it(error: ActivityError) -> bool:
    """Whether no worker began it in time."""
    return isinstance(error.cause, TimeoutError) and error.cause.type == TimeoutType.SCHEDULE_TO_START


def _retry_at(error: ActivityError) -> datetime:
    cause = cause_of(error)
    try:
        return datetime.fromisoformat(str(cause.details[0] if cause else ""))
    except (IndexError, ValueError):
        sentence = "A rate limit without a time was reported; please report this."
        raise ApplicationError(sentence, type=Bug.__name__, non_retryable=True) from error
