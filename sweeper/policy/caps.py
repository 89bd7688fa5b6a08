"""Whether a repository has room for one more sweep. Pure; the counts are read by an activity."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sweeper.model.crowd import Caps, Crowd, Room

HOUR = timedelta(hours=1)


def room(crowd: Crowd, caps: Caps, started_at: datetime, now: datetime) -> Room:
    """A cap holds a sweep up and loses none: it goes on once there is room, if its run still fails then."""
    turn = turn_in_burst([start for start in crowd.started if start < started_at], started_at, caps.sweeps_per_hour)
    if turn > now:
        reason = f"the burst guard: more than {caps.sweeps_per_hour} sweeps of the repository began within an hour"
        return Room(is_free=False, reason=reason, until=turn)
    if crowd.ahead >= caps.open_proposals:
        reason = f"room for a proposal: {crowd.ahead} wait for a human or came before (limit {caps.open_proposals})"
        return Room(is_free=False, reason=reason)
    return Room(is_free=True)


def turn_in_burst(earlier: Sequence[datetime], started_at: datetime, per_hour: int) -> datetime:
    """When a sweep that began at `started_at`, after `earlier` ones, may go on: at most `per_hour` within any hour."""
    turns: list[datetime] = []
    for start in (*sorted(earlier), started_at):
        full = len(turns) >= per_hour
        turns.append(max(start, turns[-per_hour] + HOUR) if full else start)
    return turns[-1]
