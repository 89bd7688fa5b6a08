"""Who may work on a target, and when. Pure: a table of states and questions is its test.

One sweep at a time is in, while it prepares, fixes and proposes, and again while it revalidates and merges; not during
the days of review. The others wait: those with an approval first, then manual requests, then the rest in the order they
came. The same cause is joined, not doubled; a newer run of the same workflow supersedes an older one that still waits,
because it tests the branch as it is now; a human's no mutes a cause for a time, and the patch it was for stays known;
a cause that agents found no fix for is left alone for a while, too, so that a branch that stays red burns no budget.

A machine's places are shared out alike: several may be in, and the repositories (`group`) take turns.
"""

from datetime import datetime, timedelta

from sweeper.model.target import (
    Answer,
    Asked,
    EnterRequest,
    LeaveRequest,
    Mute,
    OpenProposal,
    Rejected,
    TargetState,
    Turn,
)

MOST_REJECTED = 50
"""Patches that a target remembers; the oldest are forgotten first."""
LONGEST_BACKOFF = timedelta(days=1)
TRIES_KNOWN_FOR = timedelta(days=7)


def enter(state: TargetState, request: EnterRequest, now: datetime) -> tuple[TargetState, Answer]:
    """May it go on? Asking again is answered alike: who is in stays in, who waits keeps its place."""
    asked = request.asked
    state = state.model_copy(update={"capacity": request.capacity})
    rejected = tuple(no.patch_id for no in state.rejected if no.signature == asked.signature)
    if any(holder.sweep == asked.sweep for holder in state.holders):
        return _renamed(state, asked), Answer(turn=Turn.GO, rejected=rejected)
    if not asked.again and (refusal := _refusal(state, asked, now)):
        return _without(state, asked.sweep), refusal
    if asked.is_manual:
        state = state.model_copy(update={"mutes": _other_mutes(state, asked.signature)})
    state, supersedes = _superseding(state, asked)
    if not any(waiting.sweep == asked.sweep for waiting in state.queue):
        state = state.model_copy(update={"queue": _in_order(state, asked.model_copy(update={"since": now}))})
    place = [waiting.sweep for waiting in state.queue].index(asked.sweep)
    if place < state.capacity - len(state.holders):
        holders = (*state.holders, asked.model_copy(update={"since": now}))
        return _without(state, asked.sweep).model_copy(update={"holders": holders}), Answer(
            turn=Turn.GO, supersedes=supersedes, rejected=rejected
        )
    other = state.holders[0].sweep if state.holders else None
    return state, Answer(turn=Turn.WAIT, other=other, position=1 + place, supersedes=supersedes)


def _renamed(state: TargetState, asked: Asked) -> TargetState:
    """One that is in may have found another cause in a newer run."""
    causes = {"signature": asked.signature, "run_id": asked.run_id}
    holders = (holder.model_copy(update=causes) if holder.sweep == asked.sweep else holder for holder in state.holders)
    return state.model_copy(update={"holders": tuple(holders)})


def _refusal(state: TargetState, asked: Asked, now: datetime) -> Answer | None:
    if newer := state.superseded.get(asked.sweep):
        reason = f"newer_run: {newer} is for a newer run of the same workflow"
        return Answer(turn=Turn.SUPERSEDED, other=newer, reason=reason)
    mute = _mute(state, asked.signature)
    if mute is not None and mute.until > now and not asked.is_manual:
        return Answer(turn=Turn.MUTED, reason=_why_muted(mute))
    for other in _same_cause(state, asked):
        return Answer(turn=Turn.JOIN, other=other, reason=f"same_cause: {other} works on it already")
    return None


def _same_cause(state: TargetState, asked: Asked) -> list[str]:
    """Sweeps of the same failure that are in, have a proposal, or asked before this one."""
    places = [waiting.sweep for waiting in state.queue]
    earlier = state.queue[: places.index(asked.sweep)] if asked.sweep in places else state.queue
    found = [(other.sweep, other.signature) for other in (*state.holders, *earlier)]
    found += [(other.sweep, other.signature) for other in state.proposals]
    return [sweep for sweep, signature in found if signature == asked.signature and sweep != asked.sweep]


def _superseding(state: TargetState, asked: Asked) -> tuple[TargetState, tuple[str, ...]]:
    """Take older runs of the same workflow out of the queue; what still fails of theirs fails in the newer run."""
    older = tuple(
        waiting.sweep
        for waiting in state.queue
        if not waiting.again
        and waiting.sweep != asked.sweep
        and (waiting.workflow, waiting.is_manual) == (asked.workflow, False)
        and waiting.run_id < asked.run_id
    )
    queue = tuple(waiting for waiting in state.queue if waiting.sweep not in older)
    superseded = {**state.superseded, **dict.fromkeys(older, asked.sweep)}
    return state.model_copy(update={"queue": queue, "superseded": superseded}), older


def _in_order(state: TargetState, asked: Asked) -> tuple[Asked, ...]:
    """Behind the last one of its own rank; groups of one rank take turns."""
    rank, turn = _rank(asked), _turn(state, asked)
    place = len(state.queue)
    for n, waiting in enumerate(state.queue):
        is_before_us = _rank(waiting) < rank or (_rank(waiting) == rank and _turn(state, waiting) <= turn)
        if not is_before_us:
            place = n
            break
    return (*state.queue[:place], asked, *state.queue[place:])


def _turn(state: TargetState, asked: Asked) -> int:
    """How many of its group go before it; without a group it is only a matter of who came first."""
    if not asked.group:
        return 0
    before = [*state.holders]
    for waiting in state.queue:
        if waiting.sweep == asked.sweep:
            break
        before.append(waiting)
    return sum(other.group == asked.group for other in before)


def _rank(asked: Asked) -> int:
    return 0 if asked.again else 1 if asked.is_manual else 2


def leave(state: TargetState, request: LeaveRequest, now: datetime) -> TargetState:
    """It is out. With a proposal it is remembered as waiting for a human; else it is over."""
    state = _forgotten(state, request.sweep)
    if request.has_proposal:
        open_ = OpenProposal(sweep=request.sweep, signature=request.signature)
        state = state.model_copy(update={"proposals": (*state.proposals, open_)})
        state = _lifted(state, request.signature)
    if request.backoff:
        state = _backing_off(state, request, request.backoff, now)
    if request.mute_for is not None:
        mute = Mute(signature=request.signature, until=now + request.mute_for)
        state = state.model_copy(update={"mutes": (*_other_mutes(state, request.signature), mute)})
    return _remembering(state, request)


def _remembering(state: TargetState, request: LeaveRequest) -> TargetState:
    """Told twice it remembers once."""
    told = (Rejected(signature=request.signature, patch_id=patch) for patch in request.rejected)
    rejected = tuple(dict.fromkeys((*state.rejected, *told)))
    return state.model_copy(update={"rejected": rejected[-MOST_REJECTED:]})


def forget(state: TargetState, gone: tuple[str, ...], now: datetime) -> TargetState:
    """Pass over sweeps that ended without a word (terminated, lost), and mutes whose time is over.

    How often no fix was found stays known for longer: who comes back then has to wait longer.
    """
    for sweep in gone:
        state = _forgotten(state, sweep)
    kept = (mute for mute in state.mutes if mute.until + (TRIES_KNOWN_FOR if mute.tries else timedelta(0)) > now)
    return state.model_copy(update={"mutes": tuple(kept)})


def _forgotten(state: TargetState, sweep: str) -> TargetState:
    proposals = tuple(open_ for open_ in state.proposals if open_.sweep != sweep)
    superseded = {older: newer for older, newer in state.superseded.items() if older != sweep}
    return _without(state, sweep).model_copy(update={"proposals": proposals, "superseded": superseded})


def _without(state: TargetState, sweep: str) -> TargetState:
    holders = tuple(holder for holder in state.holders if holder.sweep != sweep)
    queue = tuple(waiting for waiting in state.queue if waiting.sweep != sweep)
    return state.model_copy(update={"holders": holders, "queue": queue})


def _mute(state: TargetState, signature: str) -> Mute | None:
    return next((mute for mute in state.mutes if mute.signature == signature), None)


def _why_muted(mute: Mute) -> str:
    if not mute.tries:
        return "muted: a human said no to a fix of this failure"
    times = "once" if mute.tries == 1 else f"{mute.tries} times"
    until = f"{mute.until:%Y-%m-%d %H:%M} UTC"
    return f"backing_off: agents found no fix for this failure, {times} by now; tried again after {until}, or by hand"


def _backing_off(state: TargetState, request: LeaveRequest, first: timedelta, now: datetime) -> TargetState:
    """Left alone, twice as long each time; told twice it counts once. A human's no, which lasts longer, stays."""
    known = _mute(state, request.signature)
    if known is not None and (known.last == request.sweep or (not known.tries and known.until > now)):
        return state
    tries = known.tries if known is not None else 0
    until = now + min(first * 2 ** min(tries, 10), LONGEST_BACKOFF)
    mute = Mute(signature=request.signature, until=until, tries=tries + 1, last=request.sweep)
    return state.model_copy(update={"mutes": (*_other_mutes(state, request.signature), mute)})


def _lifted(state: TargetState, signature: str) -> TargetState:
    """A fix was found after all."""
    known = _mute(state, signature)
    if known is None or not known.tries:
        return state
    return state.model_copy(update={"mutes": _other_mutes(state, signature)})


def _other_mutes(state: TargetState, signature: str) -> tuple[Mute, ...]:
    return tuple(mute for mute in state.mutes if mute.signature != signature)


def to_ring(state: TargetState) -> tuple[str, ...]:
    """Who has something to hear: the first in the queue once there is room, and those that were superseded."""
    free = max(0, state.capacity - len(state.holders))
    return (*(waiting.sweep for waiting in state.queue[:free]), *state.superseded)


def unsettled(state: TargetState) -> tuple[str, ...]:
    """Sweeps that hold up others or wait: whether they still run is worth asking."""
    return (*(asked.sweep for asked in (*state.holders, *state.queue)), *state.superseded)
