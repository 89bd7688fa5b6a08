"""How much is going on in a repository, and how much may."""

from sweeper.model.base import Instant, Strict, Wire


class Caps(Wire):
    """Bounds per repository. Requests by hand are not held back by them."""

    open_proposals: int = 5
    sweeps_per_hour: int = 60


class Crowd(Strict):
    """The sweeps of a repository besides the one that asks: when those of the last day were started, and of the open
    ones how many have a proposal, or began earlier and may get one.
    """

    started: tuple[Instant, ...] = ()
    ahead: int = 0


class Room(Wire):
    """Whether there is room for one more. `until`: when it is worth asking again, if that is known."""

    is_free: bool
    reason: str = ""
    until: Instant | None = None
