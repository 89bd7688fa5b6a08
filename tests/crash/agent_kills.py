"""kill -9 of the worker at every model call and every tool call of an agent's run of twelve steps.

`python -m tests.crash.agent_kills` prints the table. One run is killed at each point in its turn; it has to come to the
same patch as one that nobody disturbs, with no recorded model call repeated and each edit applied once.
"""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from adapters.models.recorded.faults import FaultKind, FaultRule
from adapters.models.recorded.ledger import Entry, Outcome
from sweeper.model import Strict
from tests.crash.agent_run import EFFECTS, STEPS, AgentRun, Seen, agent_run
from tests.support.dying_worker import Doom, Execution, Moment

PATIENCE = 120.0
ASKS = "model_request"
IN_CALL = "in the call"
_MOMENTS = {"before": Moment.BEFORE, "done, not recorded": Moment.AFTER}


class Kill(Strict):
    """Where the worker is killed. `call`: as an undisturbed run showed it; `turn`: of the model, if it is asked."""

    call: Execution
    moment: str
    turn: int | None = None

    @property
    def name(self) -> str:
        """Unique, and good as a file's name."""
        return f"{self.call.activity_id}-{self.moment}".replace(" ", "_").replace(",", "")


class Struck(Strict):
    """A kill that happened: how often the model had been asked when it came, and when the next point was reached."""

    kill: Kill
    calls: int


def kills(undisturbed: Sequence[Execution]) -> list[Kill]:
    """Every point of a run, in order."""
    found, turn = [], 0
    for call in undisturbed:
        asks = call.activity.endswith(ASKS)
        for moment in ("before", IN_CALL, "done, not recorded") if asks else tuple(_MOMENTS):
            found.append(Kill(call=call, moment=moment, turn=turn if asks else None))
        turn += asks
    return found


async def killed(run: AgentRun, points: Sequence[Kill]) -> list[Struck]:
    """The run, killed at each of these points in its turn; it is under way afterwards."""
    struck = []
    for number, kill in enumerate(points):
        await _arm(run, kill)
        if number == 0:
            await run.start()
        await _reached(run, kill)
        if number + 1 < len(points):
            await _arm(run, points[number + 1])
        await run.service.kill_worker()
        if kill.moment == IN_CALL:
            await run.model.release()
        run.service.dooms.go(kill.name)
        struck.append(Struck(kill=kill, calls=(await run.model.ledger()).total))
        print(f"{number + 1}/{len(points)} {kill.call.activity} {kill.name}", file=sys.stderr, flush=True)
    return struck


async def _arm(run: AgentRun, kill: Kill) -> None:
    if kill.moment == IN_CALL:
        await run.model.spoil(FaultRule(kind=FaultKind.HOLD, turn=kill.turn))
        return
    call = kill.call
    moment = _MOMENTS[kill.moment]
    doom = Doom(name=kill.name, activity=call.activity, moment=moment, activity_id=call.activity_id)
    run.service.dooms.tell(doom, run.case.sweep)


async def _reached(run: AgentRun, kill: Kill) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            if kill.moment == IN_CALL:
                await run.model.until(lambda ledger: any(_is_held(entry) for entry in ledger.entries))
            while kill.moment != IN_CALL and not run.service.dooms.stands(kill.name):
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"it never came to {kill.call.activity} {kill.call.activity_id}, {kill.moment}") from None


def _is_held(entry: Entry) -> bool:
    return entry.outcome is Outcome.OPEN and entry.fault is FaultKind.HOLD


def wrong(before: Seen, after: Seen, struck: Sequence[Struck]) -> list[str]:
    """In which ways the killed run came to something else than the undisturbed one."""
    asked_in = sum(one.kill.turn is not None for one in struck)
    told = {
        "another patch": before.patch_id != after.patch_id or before.files != after.files,
        f"{after.edits} edits instead of {before.edits}": before.edits != after.edits,
        f"{after.distinct} different questions instead of {before.distinct}": before.distinct != after.distinct,
        f"{after.calls} model calls, more than one for each of {asked_in} kills": after.calls > before.calls + asked_in,
        f"{after.spent_calls} model calls counted instead of {before.spent_calls}": after.spent_calls
        != before.spent_calls,
        f"effects {after.effects}": after.effects != EFFECTS,
    }
    return [what for what, is_so in told.items() if is_so]


def table(before: Seen, after: Seen, struck: Sequence[Struck]) -> str:
    """A line for each point, and the sums."""
    lines = ["| activity | killed | model calls when it was killed |", "|---|---|---|"]
    for one in struck:
        call = one.kill.call
        lines.append(f"| `{call.activity}` {call.activity_id} | {one.kill.moment} | {one.calls} |")
    asked = sum(one.kill.turn is not None for one in struck)
    same = "the same patch" if after.patch_id == before.patch_id else "another patch"
    sums = [
        f"{len(struck)} kills, {asked} of them at model calls",
        f"{after.calls} model calls where {before.calls} are needed, {after.distinct} of them different",
        f"{after.edits} edits recorded, undisturbed {before.edits}",
        same,
        f"effects {after.effects}",
    ]
    return "\n".join([*lines, "", "; ".join(sums) + "."])


async def undisturbed(root: Path) -> tuple[Seen, list[Execution]]:
    """What it comes to, and by which calls."""
    async with agent_run(root) as run:
        await run.start()
        seen = await run.seen()
        return seen, run.executions


async def main() -> int:
    """The whole table. Non-zero if anything was lost or doubled."""
    with tempfile.TemporaryDirectory(prefix="crash-") as place:
        before, calls = await undisturbed(Path(place, "undisturbed"))
        async with agent_run(Path(place, "killed")) as run:
            struck = await killed(run, kills(calls))
            after = await run.seen()
    print(table(before, after, struck))
    if found := wrong(before, after, struck):
        print("; ".join(found), file=sys.stderr)
    return 1 if found or before.calls != STEPS else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
