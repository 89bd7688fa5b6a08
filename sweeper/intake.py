"""Event to action: start a sweep, ring one, or say why not. Every trigger goes through here.

A ring carries ids only: the sweep wakes and re-reads the world through the API. The workflow id is the duplicate
check, so no state is kept here and any number of receivers may run side by side.
"""

from dataclasses import dataclass
from enum import StrEnum

from sweeper import ids
from sweeper.errors import NotFound, Permanent, Transient
from sweeper.events import (
    BranchEvent,
    BranchPushed,
    Event,
    Ignored,
    Ping,
    ProposalChanged,
    ReviewSubmitted,
    RunEnded,
    RunFailed,
    SweepRequested,
)
from sweeper.model import RunFacts, RunRef, Strict, SweepInput, SweepSettings, Trigger, TriggerSource
from sweeper.policy.admission import admit_event
from sweeper.ports import CodeHost, Sweeps


class Result(StrEnum):
    """What became of an event: a new sweep, one that was there already, one that was rung, or nothing."""

    STARTED = "started"
    DUPLICATE = "duplicate"
    DELIVERED = "delivered"
    JOINED = "joined"
    IGNORED = "ignored"


class Answer(Strict):
    """What the sender is told."""

    result: Result
    reason: str = ""
    workflow_id: str | None = None


@dataclass(frozen=True)
class Desk:
    """What intake works with. `code_host` is asked for manual requests only; webhooks need no GitHub call."""

    sweeps: Sweeps
    code_host: CodeHost
    settings: SweepSettings
    api_url: str


async def handle(event: Event, desk: Desk) -> Answer:
    """Act on one event. Safe to call again with the same event: a start is a duplicate, a ring is just another look.

    Raises OutOfReach when the sweeps cannot be asked, and for manual requests what CodeHost.find_run raises.
    """
    match event:
        case RunFailed():
            return await _failed(event, desk)
        case SweepRequested():
            return await _requested(event, desk)
        case ReviewSubmitted() | ProposalChanged():
            return await _ring_owner(event, desk)
        case RunEnded():
            return await _ended(event, desk)
        case BranchPushed():
            return await _ring_target(event, desk)
        case Ping():
            return _ignored("ping: the webhook is set up")
        case Ignored():
            return _ignored(event.reason)


async def request(repository: str, run_id: int, trigger: Trigger, desk: Desk) -> Answer:
    """Sweep a run because somebody asks for it: joins a running sweep, starts anew after an ended one.

    The same `trigger.request_id` never starts twice. Without one an ended sweep is not started anew (duplicate).
    Raises NotFound if there is no such run.
    """
    facts = await desk.code_host.find_run(repository, run_id)
    base = ids.sweep_id(facts.run, desk.api_url)
    is_open = await desk.sweeps.is_open(base)
    if is_open and await _join(base, trigger, desk):
        return _answer(Result.JOINED, base, "running: its sweep was rung")
    if refusal := _refuse_request(facts):
        return _ignored(refusal)
    if is_open is None:
        started = await _start(base, facts, trigger, desk)
        if started is None and not await _join(base, trigger, desk):
            raise Transient(f"Ask again: {base} was started and ended in this very moment.")
        return started or _answer(Result.JOINED, base, "running: another trigger was quicker")
    return await _start_anew(base, facts, trigger, desk)


async def _requested(event: SweepRequested, desk: Desk) -> Answer:
    trigger = Trigger(
        source=TriggerSource.DISPATCH, request_id=event.request_id, actor=event.actor, reason=event.reason
    )
    try:
        return await request(event.repository, event.run_id, trigger, desk)
    except Permanent as error:  # delivering it again cannot help, so the sender gets a reason and not a failure
        return _ignored(f"refused: {error}")


def _refuse_request(facts: RunFacts) -> str | None:
    """What a human should hear at once. A sweep of a run that goes on would also use up its failure's workflow id."""
    if ids.is_our_branch(facts.head_branch):
        return f"own_branch: {facts.head_branch} belongs to a sweep already"
    if facts.status != "completed":
        return f"still_running: the run is {facts.status}; if it fails, its sweep starts by itself"
    if not facts.has_failed:
        return f"not_failing: the run's conclusion is {facts.conclusion}"
    return None


async def _start_anew(base: str, facts: RunFacts, trigger: Trigger, desk: Desk) -> Answer:
    """After an ended sweep. A request is known by its own workflow id, or by the ended sweep if it started that."""
    if trigger.request_id is None:
        return _answer(Result.DUPLICATE, base, "ended: ask again with a request id to sweep the run anew")
    wanted = ids.sweep_id(facts.run, desk.api_url, trigger.request_id)
    if await desk.sweeps.is_open(wanted) is not None:
        return _answer(Result.DUPLICATE, wanted, "seen: this request has its sweep already")
    others = await desk.sweeps.asked_anew(base)
    for known in (base, *others):
        if await _was_asked_by(known, trigger.request_id, desk):
            return _answer(Result.DUPLICATE, known, "seen: this request has its sweep already")
    for other in others:
        if await _join(other, trigger, desk):
            return _answer(Result.JOINED, other, "running: the sweep of another request was rung")
    started = await _start(wanted, facts, trigger, desk)
    return started or _answer(Result.DUPLICATE, wanted, "seen: this request has its sweep already")


async def _join(workflow_id: str, trigger: Trigger, desk: Desk) -> bool:
    """Ring it; a request leaves its trace, so that after the sweep's end its redelivery does not start one more."""
    if trigger.request_id is None:
        return await desk.sweeps.ring(workflow_id)
    # One trace is enough: with one for each redelivery the sweep would run out of signals.
    is_known = await _was_asked_by(workflow_id, trigger.request_id, desk)
    if not is_known and not await desk.sweeps.note(workflow_id, trigger):
        return False
    return await desk.sweeps.ring(workflow_id) or not is_known


async def _was_asked_by(workflow_id: str, request_id: str, desk: Desk) -> bool:
    try:
        record = await desk.sweeps.show(workflow_id)
    except NotFound:  # its retention ran out between two looks
        return False
    return any(trigger.request_id == request_id for trigger in record.state.triggers)


async def _start(workflow_id: str, facts: RunFacts, trigger: Trigger, desk: Desk) -> Answer | None:
    sweep = SweepInput(run=facts.run, trigger=trigger, settings=desk.settings)
    started = await desk.sweeps.start(workflow_id, sweep)
    return _answer(Result.STARTED, workflow_id, "requested: a new sweep") if started else None


async def _failed(event: RunFailed, desk: Desk) -> Answer:
    admission = admit_event(event)
    if admission.action == "ring":
        return await _ring_owner(event, desk)
    if admission.action == "ignore":
        return _ignored(admission.reason)
    trigger = Trigger(source=TriggerSource.WORKFLOW_RUN, actor=event.actor, reason=event.conclusion)
    workflow_id = ids.sweep_id(event.run, desk.api_url)
    if await desk.sweeps.start(workflow_id, SweepInput(run=event.run, trigger=trigger, settings=desk.settings)):
        await _ring_former_attempt(event.run, desk)
        return _answer(Result.STARTED, workflow_id, f"failed: the run ended as {event.conclusion}")
    return _answer(Result.DUPLICATE, workflow_id, "seen: this run attempt has its sweep already")


async def _ring_former_attempt(run: RunRef, desk: Desk) -> None:
    """Its sweep may be watching how the re-run ends."""
    if run.run_attempt > 1:
        former = run.model_copy(update={"run_attempt": run.run_attempt - 1})
        await desk.sweeps.ring(ids.sweep_id(former, desk.api_url))


async def _ended(event: RunEnded, desk: Desk) -> Answer:
    if ids.is_our_branch(event.head_branch):
        return await _ring_owner(event, desk)
    if event.conclusion != "success":
        return _ignored(f"not_failing: the run ended as {event.conclusion}, which proves nothing")
    return await _ring_target(event, desk)


async def _ring_owner(event: BranchEvent, desk: Desk) -> Answer:
    """Ring the sweep that made this branch. A fork's branch of the same name is somebody else's."""
    workflow_id = ids.sweep_id_of_branch(event.head_branch)
    if workflow_id is None:
        return _ignored("other_branch: it belongs to no sweep")
    if event.is_fork:
        return _ignored("fork: the branch has a name of ours, but is not ours")
    if await desk.sweeps.ring(workflow_id):
        return _answer(Result.DELIVERED, workflow_id, "rung: the sweep looks at the world")
    return _ignored("no_open_sweep: the sweep of this branch has ended or never was")


async def _ring_target(event: BranchEvent, desk: Desk) -> Answer:
    """Ring every open sweep whose fix is for this branch."""
    if event.is_fork or event.head_branch is None or ids.is_our_branch(event.head_branch):
        return _ignored("no_target: no sweep can be for this branch")
    target = ids.target_of(event.repository_id, event.head_branch)
    rung = [found for found in await desk.sweeps.open_for_target(target) if await desk.sweeps.ring(found)]
    if not rung:
        return _ignored("no_open_sweep: none is open for this branch")
    return _answer(Result.DELIVERED, rung[0], f"rung: {len(rung)} open for this branch")


def _answer(result: Result, workflow_id: str, reason: str) -> Answer:
    return Answer(result=result, reason=reason, workflow_id=workflow_id)


def _ignored(reason: str) -> Answer:
    return Answer(result=Result.IGNORED, reason=reason)
