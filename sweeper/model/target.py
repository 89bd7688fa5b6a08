"""The target: who works on a branch, who waits, which proposals are open, what a human said no to.

A machine's places for attempts are shared out by the same rules: there several may be in, nobody is joined or muted.
"""

from datetime import timedelta
from enum import StrEnum

from sweeper.model.base import Instant, Wire
from sweeper.model.sweep import Timeouts


class Turn(StrEnum):
    """The answer to a sweep that asks to enter."""

    GO = "go"
    WAIT = "wait"
    JOIN = "join"
    SUPERSEDED = "superseded"
    MUTED = "muted"


class Asked(Wire):
    """A sweep that asks to enter. `workflow`: the path of the failing workflow's file; `group`: among which turns are
    shared out fairly; `since`: when it first asked; `again`: it has its proposal and wants to act on an approval.
    """

    sweep: str
    run_id: int
    workflow: str = ""
    signature: str
    group: str = ""
    is_manual: bool = False
    again: bool = False
    since: Instant | None = None


class Answer(Wire):
    """What it is told. `other`: the sweep to join, the newer one, or the one that is in; `position` counts the waiting
    from 1; `supersedes`: older sweeps of the same workflow that need not have their turn any more; `rejected`: ids of
    patches for its cause that a human did not want.
    """

    turn: Turn
    other: str | None = None
    position: int = 0
    supersedes: tuple[str, ...] = ()
    reason: str = ""
    rejected: tuple[str, ...] = ()


class OpenProposal(Wire):
    """A proposal that waits for a human."""

    sweep: str
    signature: str


class Mute(Wire):
    """A cause that is left alone for a while: a human said no, or, with `tries`, agents found no fix so often, those of
    the sweep `last` last.
    """

    signature: str
    until: Instant
    tries: int = 0
    last: str = ""


class Rejected(Wire):
    """A patch for a cause that a human did not want. Outlives the mute: who asks again is to get another one."""

    signature: str
    patch_id: str


class TargetState(Wire):
    """All a target remembers; carried whole through continue-as-new. `superseded`: older sweep to newer one;
    `rejected`: oldest first.
    """

    capacity: int = 1
    holders: tuple[Asked, ...] = ()
    queue: tuple[Asked, ...] = ()
    proposals: tuple[OpenProposal, ...] = ()
    mutes: tuple[Mute, ...] = ()
    superseded: dict[str, str] = {}
    rejected: tuple[Rejected, ...] = ()

    @property
    def is_idle(self) -> bool:
        """Nothing that anybody could ask about."""
        return self.is_quiet and not self.rejected

    @property
    def is_quiet(self) -> bool:
        """Nothing that time or anybody's end could change."""
        return not (self.holders or self.queue or self.proposals or self.mutes or self.superseded)


class EnterRequest(Wire):
    """A sweep's question to a target. `capacity`: how many may be in at once."""

    target: str
    asked: Asked
    capacity: int = 1


class LeaveRequest(Wire):
    """A sweep's turn is over. `has_proposal`: it waits for a human from now on; else it is over, and `mute_for` says
    for how long this cause is left alone because a human said no. `backoff`: for how long because no fix was found, for
    the first time; longer each time after that. `rejected`: ids of patches that a human did not want.
    """

    target: str
    sweep: str
    signature: str
    has_proposal: bool = False
    mute_for: timedelta | None = None
    rejected: tuple[str, ...] = ()
    backoff: timedelta | None = None


class TargetInput(Wire):
    """The target workflow's argument; `state` grows and is carried through continue-as-new."""

    state: TargetState = TargetState()
    look_after: timedelta = timedelta(seconds=20)
    keep_idle: timedelta = timedelta(minutes=10)
    timeouts: Timeouts = Timeouts()


class Waiting(Wire):
    """Who waits at a target, and since when."""

    sweep: str
    since: Instant | None = None


class TargetMemo(Wire):
    """What a target says of itself: readable with no worker. `holder`: who is in longest, since then; of the queue at
    most the first 20.
    """

    holder: str | None = None
    since: Instant | None = None
    queue: tuple[Waiting, ...] = ()
    waiting: int = 0
