"""One sweep of a company brought to the point where it is disturbed, and watched to its end."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from adapters.loopback.drive.requests import FaultRule
from tests.crash.company import CALM, LOOK_EVERY, QUICK, Trial, sweep_settings
from tests.crash.oracle import Seen, look_at
from tests.crash.reference import ANY_TRIAL, PATIENCE, Hold, Reference, played
from tests.crash.rows import Killed, Point, Row, Table
from tests.crash.scenarios import scenario
from tests.support.dying_worker import Dooms, Moment, read_diary


class NotReached(AssertionError):
    """The sweep never came to the point where it was to be disturbed, so nothing was tested."""


@dataclass(frozen=True)
class Place:
    """Where a sweep is to stand. `dies`: its worker will, so that its heartbeat has to be quick."""

    activity: str
    point: Point
    dies: bool


def place_of(row: Row, reference: Reference) -> Place:
    """A fault that strikes the second try needs a first one: its worker dies after the write."""
    if row.table is Table.FAULTS:
        return Place(reference.doers[row.subject], Point.AFTER, dies=True)
    return Place(row.subject, Point(row.moment), dies=row.how in (Killed.WORKER, Killed.BOTH))


class Disturbed:
    """A sweep on its way. `stand` and, for a place in a call, `hang` and `go_into_the_call` bring it to its place; `go`
    lets it go on if its worker still lives.
    """

    def __init__(self, trial: Trial, row: Row, reference: Reference) -> None:
        self.trial = trial
        self.row = row
        self._reference = reference
        self._place = place_of(row, reference)
        self._people = AsyncExitStack()

    def doom(self) -> None:
        """Say where it is to stand; before it begins."""
        after = self._place.point is Point.AFTER
        self.trial.doom(self._place.activity, Moment.AFTER if after else Moment.BEFORE)

    async def begin(self, *, by_webhook: bool = False) -> None:
        """Start the sweep, unless a webhook does, and its people."""
        story = scenario(self.row.scenario)
        settings = sweep_settings(QUICK if self._place.dies else CALM)
        await self.trial.start(story, settings, by_webhook=by_webhook)
        await self._people.enter_async_context(played(self.trial, story))

    async def stand(self) -> None:
        """Wait until it stands before or after its activity. Raises NotReached."""
        await self._reaches(self._stands)

    async def _stands(self) -> bool:
        return self._dooms.stands(self.trial.name)

    def hang(self) -> FaultRule | None:
        """Hang the program it is to be stopped in; if it is to be stopped in a call instead: what holds that call."""
        hold = self._hold
        if hold.program:
            self.trial.company.tools.hang(hold.program, self._key(hold))
            return None
        when = "after" if self._place.point is Point.ANSWER else "before"
        return rule(hold, self.trial, kind="hold", when=when)

    async def go_into_the_call(self) -> None:
        """Let it go on into the call, and wait until it is held there. Raises NotReached."""
        self.go()
        await self._reaches(self._is_held)

    async def _is_held(self) -> bool:
        hold = self._hold
        if hold.program:
            return await asyncio.to_thread(self.trial.company.tools.is_waiting, hold.program, self._key(hold))
        return is_held(self.trial)

    async def _reaches(self, is_there: Callable[[], Awaitable[bool]]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not await is_there():
                    await asyncio.sleep(LOOK_EVERY)
        except TimeoutError:
            raise NotReached(f"it never came to {self._place.point} {self._place.activity}") from None

    @property
    def _hold(self) -> Hold:
        return self._reference.holds[self._place.activity]

    def _key(self, hold: Hold) -> str:
        return self.trial.key if hold.program == "git" else self.trial.name

    def go(self) -> None:
        """On from where it stands."""
        self._dooms.go(self.trial.name)

    @property
    def _dooms(self) -> Dooms:
        return self.trial.company.dooms

    async def seen(self) -> Seen:
        """Its end."""
        async with asyncio.timeout(PATIENCE):
            result = await self.trial.result()
        await self.close()
        return await look_at(self.trial, result)

    async def close(self) -> None:
        """Nobody acts on it any more."""
        await self._people.aclose()


def rule(hold: Hold, trial: Trial, **more: object) -> FaultRule:
    """A fault for that call of this sweep."""
    path = hold.path.replace(ANY_TRIAL, trial.name)
    known: dict[str, object] = {"method": hold.method, "path": path, "nth": hold.nth}
    return FaultRule.model_validate(known | more)


def is_held(trial: Trial) -> bool:
    """Whether a call about its repository is being held, or has been."""
    return any(call.fault == "hold" for call in trial.ledger.look())


def has_landed(trial: Trial) -> bool:
    """Whether the held call has come to its answer: held before that, it has had no status."""
    return any(call.fault == "hold" and call.status for call in trial.ledger.look())


def tries(trial: Trial, activity: str) -> int:
    """How often an activity of the sweep has begun to run."""
    diary = read_diary(trial.company.life.diary)
    return Counter(one.activity for one in diary if trial.sweep_id in one.workflow_id)[activity]
