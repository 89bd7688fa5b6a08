"""What an undisturbed sweep does: the measure for disturbed ones, and where they can be disturbed."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

from adapters.loopback.drive.answers import LedgerCall
from sweeper.model import Strict
from tests.crash.company import CALM, Company, Trial, sweep_settings
from tests.crash.oracle import Seen, look_at
from tests.crash.scenarios import SCENARIOS, Scenario
from tests.support.dying_worker import Span, read_spans
from tests.support.tools_on_path import ProgramCall

PATIENCE = 600.0
"""Seconds for one stretch of many sweeps; only one that hangs needs them."""


ANY_TRIAL = "TRIAL"
"""In the address of a hold, for the name of the trial."""


class Hold(Strict):
    """A call in which an activity can be stopped: the n-th to this address, or of this program."""

    method: str = ""
    path: str = ""
    nth: int = 1
    writes: bool = False
    program: str = ""


class Reference(Strict):
    """A story without disturbance. `holds` by activity, `writes` by effect; `undoing`: what followed a cancel;
    `following`: what a sweep did next after an activity.
    """

    scenario: str
    activities: tuple[str, ...]
    holds: dict[str, Hold]
    writes: dict[str, Hold]
    doers: dict[str, str]
    undoing: tuple[str, ...]
    following: dict[str, str] = {}
    seen: Seen


async def references(root: Path) -> tuple[Reference, ...]:
    """All stories, a few of them side by side."""
    async with Company(root, with_tools=True) as company, asyncio.timeout(PATIENCE):
        return tuple(await asyncio.gather(*(_in_turn(company, scenario) for scenario in SCENARIOS)))


async def _in_turn(company: Company, scenario: Scenario) -> Reference:
    async with company.hands:
        return await _reference(company, scenario)


async def _reference(company: Company, scenario: Scenario) -> Reference:
    trial = await company.trial(scenario)
    await trial.start(scenario, sweep_settings(CALM))
    async with played(trial, scenario):
        result = await trial.result()
    seen = await look_at(trial, result)
    if seen.outcome is not scenario.outcome or bool(seen.left_over) is not scenario.keeps:
        raise AssertionError(f"undisturbed, {scenario.name} ended as {seen}")
    mine = (trial.sweep_id, *trial.others, f"target-{trial.key}-")
    spans = [span for span in read_spans(company.life.spans) if span.workflow.startswith(mine)]
    calls = trial.ledger.look()
    return Reference(
        scenario=scenario.name,
        activities=tuple(dict.fromkeys(span.activity for span in spans)),
        holds=_holds(spans, calls, company.tools.calls(trial.key)),
        writes=_writes(calls),
        doers=_doers(spans, calls),
        undoing=_undoing(spans),
        following=_following([span for span in spans if span.workflow.startswith(trial.sweep_id)]),
        seen=seen,
    )


@asynccontextmanager
async def played(trial: Trial, scenario: Scenario) -> AsyncIterator[None]:
    """People act, as long as it lasts."""
    playing = asyncio.create_task(scenario.play(trial.people()))
    try:
        yield
    finally:
        playing.cancel()
        await asyncio.wait({playing})


def _holds(spans: Sequence[Span], calls: Sequence[LedgerCall], programs: Sequence[ProgramCall]) -> dict[str, Hold]:
    """The call that writes, else the first one; an activity that asks nobody is stopped in a program it runs."""
    found: dict[str, Hold] = {}
    for span in spans:
        if span.activity in found:
            continue
        asked = [call for call in calls if span.begun <= call.time <= span.ended and _is_addressed(call)]
        writing = [call for call in asked if call.effect]
        run = [call.name for call in programs if span.begun <= call.time <= span.ended]
        if asked:
            found[span.activity] = _hold((writing or asked[:1])[-1], asked)
        elif run:
            foreign = [name for name in run if name != "git"]
            found[span.activity] = Hold(program=(foreign or run)[0])
    return found


def _is_addressed(call: LedgerCall) -> bool:
    """A call whose address does not name its repository cannot be spoilt for one sweep alone."""
    return ANY_TRIAL in _anywhere(call.path)


def _writes(calls: Sequence[LedgerCall]) -> dict[str, Hold]:
    found: dict[str, Hold] = {}
    for call in calls:
        if call.effect and call.effect not in found:
            found[call.effect] = _hold(call, calls)
    return found


def _doers(spans: Sequence[Span], calls: Sequence[LedgerCall]) -> dict[str, str]:
    """Which activity makes an effect first."""
    found: dict[str, str] = {}
    for call in calls:
        by = [span.activity for span in spans if span.begun <= call.time <= span.ended]
        if call.effect and by:
            found.setdefault(call.effect, by[0])
    return found


def _hold(call: LedgerCall, among: Sequence[LedgerCall]) -> Hold:
    path = _anywhere(call.path)
    nth = sum(
        1 for other in among if other.n <= call.n and other.method == call.method and _anywhere(other.path) == path
    )
    return Hold(method=call.method, path=path, nth=nth, writes=call.effect is not None)


def _anywhere(path: str) -> str:
    """The address on any of the GitHubs: ids and commits differ."""
    pattern = re.sub(r"[0-9a-f]{40}", "[0-9a-f]{40}", re.sub(r"\d{4,}", r"\\d+", re.escape(path)))
    return "^" + re.sub(r"trial\\-\d+", lambda _: ANY_TRIAL, pattern) + "$"


def _undoing(spans: Sequence[Span]) -> tuple[str, ...]:
    order = [span.activity for span in spans]
    after = order[order.index("open_proposal") + 1 :] if "open_proposal" in order else []
    return tuple(dict.fromkeys(name for name in after if name != "read_world"))


def _following(spans: Sequence[Span]) -> dict[str, str]:
    found: dict[str, str] = {}
    for span, following in pairwise(spans):
        if span.activity != following.activity:
            found.setdefault(span.activity, following.activity)
    return found
