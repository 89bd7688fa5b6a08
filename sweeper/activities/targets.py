"""Activities between sweeps and their targets. All of them may be repeated: a question asked again is answered alike,
leaving twice is a no-op, and who is told the same thing twice remembers it once.
"""

from temporalio import activity

from sweeper.activities import names, requests
from sweeper.model import Joined
from sweeper.model.crowd import Room
from sweeper.model.target import Answer, EnterRequest, LeaveRequest
from sweeper.policy.caps import room
from sweeper.ports import Durable


class TargetActivities:
    """Sweeps ask targets, targets ring sweeps."""

    def __init__(self, durable: Durable) -> None:
        self._sweeps = durable.sweeps
        self._targets = durable.targets

    @activity.defn(name=names.FIND_ROOM.name)
    async def find_room(self, request: requests.RoomRequest) -> Room:
        """Whether the repository's caps leave room for one more."""
        crowd = await self._sweeps.crowd(request.repository, request.sweep, request.started_at)
        return room(crowd, request.caps, request.started_at, activity.info().started_time)

    @activity.defn(name=names.ENTER_TARGET.name)
    async def enter_target(self, request: EnterRequest) -> Answer:
        """May the sweep go on?"""
        return await self._targets.enter(request)

    @activity.defn(name=names.LEAVE_TARGET.name)
    async def leave_target(self, request: LeaveRequest) -> requests.Nothing:
        """Its turn is over."""
        await self._targets.leave(request)
        return requests.Nothing()

    @activity.defn(name=names.JOIN_SWEEP.name)
    async def join_sweep(self, request: requests.JoinRequest) -> requests.IsOpen:
        """Tell the other sweep of a newer run with its cause."""
        joined = Joined(trigger=request.trigger, run=request.run)
        return requests.IsOpen(is_open=await self._sweeps.join(request.sweep, joined))

    @activity.defn(name=names.RING_SWEEP.name)
    async def ring_sweep(self, request: requests.RingRequest) -> requests.IsOpen:
        """Make a sweep look."""
        return requests.IsOpen(is_open=await self._sweeps.ring(request.sweep))

    @activity.defn(name=names.FIND_ENDED.name)
    async def find_ended(self, request: requests.FindEndedRequest) -> requests.Ended:
        """Which of these are over. One that nobody has heard of is over, too: its record is lost."""
        ended = [sweep for sweep in request.sweeps if not await self._sweeps.is_open(sweep)]
        return requests.Ended(sweeps=tuple(ended))
