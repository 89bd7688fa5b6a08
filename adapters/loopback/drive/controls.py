"""How this GitHub behaves from now on, and what it has seen."""

from typing import Annotated

from fastapi import APIRouter, Body

from adapters.loopback.acts import installation, queue
from adapters.loopback.core.state import Protection
from adapters.loopback.drive import answers, requests
from adapters.loopback.drive.common import DONE, Here, on_pull
from adapters.loopback.drive.world import world

router = APIRouter()


@router.post("/protection")
async def protect(hub: Here, new: requests.Protect) -> answers.Done:
    """Rules of a branch; without any the branch is not protected."""
    rules = Protection.model_validate(new.model_dump(exclude={"repo", "branch"}))
    protection = hub.repo(new.repo).protection
    if rules == Protection():
        protection.pop(new.branch, None)
    else:
        protection[new.branch] = rules
    return DONE


@router.post("/queue")
async def end_queue(hub: Here, asked: requests.EndQueue) -> answers.Done:
    """How a queued merge ends."""
    on = on_pull(hub, asked.repo, asked.pr)
    await queue.end_queue(hub, on.repo, on.pull, asked.result == "merged")
    return DONE


@router.post("/installation")
async def change_installation(hub: Here, asked: requests.ChangeInstallation) -> answers.Done:
    """The app is suspended, taken away or given back."""
    installation.change_installation(hub, hub.repo(asked.repo) if asked.repo else None, asked.action)
    return DONE


@router.post("/faults")
async def set_faults(hub: Here, rules: Annotated[list[requests.FaultRule], Body()]) -> answers.Done:
    """Replace all rules; an empty list lets held answers go."""
    hub.faults.replace(rules)
    return DONE


@router.post("/hooks")
async def set_hooks(hub: Here, asked: requests.SetHooks) -> answers.Done:
    """How deliveries are treated from now on."""
    hub.outbox.set_mode(asked.mode)
    return DONE


@router.post("/redeliver")
async def redeliver(hub: Here, asked: requests.Redeliver) -> answers.Dispatched:
    """Send an event again, same guid."""
    return answers.Dispatched(guid=hub.outbox.redeliver(asked.guid).guid)


@router.post("/clock")
async def advance(hub: Here, asked: requests.Advance) -> answers.Clock:
    """Move GitHub's clock forward."""
    hub.state.clock_offset_s += asked.advance_s
    return answers.Clock(now=hub.store.now())


@router.get("/ledger")
async def ledger(hub: Here) -> answers.LedgerView:
    """Every call and how often each effect happened."""
    return hub.ledger.view()


@router.get("/world")
async def get_world(hub: Here) -> answers.WorldView:
    """Everything, as it is now."""
    return await world(hub)
