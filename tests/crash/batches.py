"""Many sweeps of one company disturbed together, each in a way of its own: what is killed is killed under all of them.

A service serves many sweeps, so a kill finds them at many points at once; what each row asks is still one disturbance
of one sweep.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import groupby
from pathlib import Path

from adapters.loopback.drive.requests import FaultRule
from tests.crash.aftermath import differs
from tests.crash.company import CALM, LOOK_EVERY, QUICK, Company, Trial, sweep_settings
from tests.crash.disturb import Disturbed, NotReached, has_landed, is_held, rule, tries
from tests.crash.oracle import Seen, differences, doubled, extra, look_at, settled
from tests.crash.reference import PATIENCE, Reference, played
from tests.crash.rows import AFTERMATH, LASTING, Killed, Point, Row, Table
from tests.crash.scenarios import scenario
from tests.support.dying_worker import Moment

BATCH = 20
_KILLED = (Table.KILLS, Table.UNDO)
_LAGGING_READS = 2
_SHORT = timedelta(seconds=2)
_ADDRESSED_ALIKE = ("branch.delete", "pull.close", "pull.ready", "check.update")
"""Effects whose call has the address of another effect's call; which of them a rule strikes, only its count says."""
_ADDRESSED_TO_NOBODY = ("pull.draft",)
"""Effects whose call does not name its repository: a rule strikes whoever comes first, so their rows run one by one."""
_AT_ITS_OWN_TIME = ("hold", "stale_read")
Told = Callable[[Row, str, float], None]
"""A row, why it failed (empty: it did not), and the seconds it took."""


def batches(rows: Iterable[Row], size: int = BATCH) -> Iterator[list[Row]]:
    """Rows that can share a company."""
    for _, group in groupby(sorted(rows, key=_kind), key=_kind):
        mine = list(group)
        yield from (mine[start : start + size] for start in range(0, len(mine), size))


def _kind(row: Row) -> tuple[str, ...]:
    if row.scenario == AFTERMATH:
        return (AFTERMATH, row.how, row.moment)
    if row.table in _KILLED:
        return ("kills", row.how, str(_is_in_call(row)))
    if row.table is Table.FAULTS and row.moment in _AT_ITS_OWN_TIME:
        return (row.moment, row.subject if row.moment == "hold" else "")
    return (row.table, row.subject if row.subject in _ADDRESSED_TO_NOBODY else "")


def _is_in_call(row: Row) -> bool:
    return row.moment == Point.CALL


async def run_batch(rows: Sequence[Row], references: dict[str, Reference], told: Told) -> None:
    """Each row's verdict is told as soon as it is there."""
    with tempfile.TemporaryDirectory(prefix="crash-") as place:
        Path(place).chmod(0o755)
        await _Batch(rows, references, told, Path(place)).run()


class _Batch:
    def __init__(self, rows: Sequence[Row], references: dict[str, Reference], told: Told, place: Path) -> None:
        self._rows = rows
        self._references = references
        self._told = told
        self._place = place
        self._started = time.monotonic()

    async def run(self) -> None:
        first = self._rows[0]
        if first.scenario == AFTERMATH:
            await self._upkeep(Killed(first.how), Point(first.moment))
        elif first.table in _KILLED:
            await self._killed(Killed(first.how))
        elif first.moment == "stale_read":
            await self._stale()
        elif first.moment == "hold":
            await self._late()
        else:
            await self._running()

    async def _upkeep(self, how: Killed, point: Point) -> None:
        """One story for all of its activities."""
        try:
            why = await differs(self._place, how, point)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the verdict
            why = f"{type(error).__name__}: {error}"
        for row in self._rows:
            self._tell(row, why)

    # What is killed under sweeps that stand

    async def _killed(self, how: Killed) -> None:
        in_call = _is_in_call(self._rows[0])
        company = Company(self._place, with_web=how is Killed.WEB, with_tools=in_call, sandboxed=in_call)
        async with company:
            standing = await self._all_stand(company, by_webhook=how is Killed.WEB)
            standing = await self._all_in_their_calls(company, standing)
            self._strike(company, how)
            await company.let_go()
            await company.all_up()
            for sweep in standing:
                sweep.go()
            await self._all_end(standing)

    def _strike(self, company: Company, how: Killed) -> None:
        if how is Killed.WEB:
            company.kill_web()
        if how in (Killed.WORKER, Killed.BOTH):
            company.kill_worker()
        if how in (Killed.TEMPORAL, Killed.BOTH):
            company.kill_temporal()

    async def _all_in_their_calls(self, company: Company, standing: Sequence[Disturbed]) -> list[Disturbed]:
        """All at once, because a call is given up and made again by a worker that lives: what is held until the last
        sweep of a batch comes to its point would not be the only one any more when it lands.
        """
        calling = [sweep for sweep in standing if sweep.row.moment in (Point.CALL, Point.ANSWER)]
        if not calling:
            return list(standing)
        rules = [rule for sweep in calling if (rule := sweep.hang()) is not None]
        await company.spoil(*rules)
        lost = await asyncio.gather(*(self._whether_lost(sweep.row, sweep.go_into_the_call()) for sweep in calling))
        return [sweep for sweep in standing if sweep not in calling or not lost[calling.index(sweep)]]

    async def _whether_lost(self, row: Row, way: Awaitable[None]) -> bool:
        try:
            await way
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the verdict
            self._tell(row, f"{type(error).__name__}: {error}")
            return True
        return False

    async def _stale(self) -> None:
        """The worker dies after a write, and what its successor reads is older than that write.

        One after the other: GitHub knows only how it was before the very last write.
        """
        async with Company(self._place) as company:
            for row in self._rows:
                if (sweep := await self._stand(company, row, by_webhook=False)) is None:
                    continue
                company.kill_worker()
                rule = {"method": "GET", "kind": "stale_read", "times": _LAGGING_READS}
                path = rf"^/repos/octo/{sweep.trial.name}(/|$)"
                await company.spoil(FaultRule.model_validate(rule | {"path": path}))
                sweep.go()
                await company.begin_worker()
                await self._all_end([sweep])
                await company.let_go()

    async def _all_stand(self, company: Company, *, by_webhook: bool = False) -> list[Disturbed]:
        found = await asyncio.gather(*(self._stand(company, row, by_webhook) for row in self._rows))
        return [sweep for sweep in found if sweep is not None]

    async def _stand(self, company: Company, row: Row, by_webhook: bool) -> Disturbed | None:
        async with company.hands:
            try:
                async with company.hearing_nothing(by_webhook):
                    story = scenario(row.scenario)
                    sweep = Disturbed(await company.trial(story), row, self._references[row.scenario])
                    sweep.doom()
                    await sweep.begin(by_webhook=by_webhook and story.is_plain)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the verdict
                self._tell(row, f"{type(error).__name__}: {error}")
                return None
            return None if await self._whether_lost(row, sweep.stand()) else sweep

    async def _all_end(self, sweeps: Iterable[Disturbed]) -> None:
        await asyncio.gather(*(self._judge([sweep.row], sweep.seen()) for sweep in sweeps))

    # What goes wrong while sweeps run

    async def _running(self) -> None:
        """Activities that fail for good, and faults: rows of one kind and story are one sweep, all of whose writes are
        spoilt. If that sweep does not end well, each row gets one of its own, to see which it was.
        """
        async with Company(self._place) as company:
            if self._rows[0].subject in _ADDRESSED_TO_NOBODY:
                for row in self._rows:
                    await self._spoilt(company, [row])
                return
            await asyncio.gather(*(self._spoilt(company, rows) for rows in _together(self._rows)))

    async def _spoilt(self, company: Company, rows: Sequence[Row]) -> None:
        async with company.hands:
            why = await self._why(rows[0], self._run_spoilt(company, rows))
        if why and len(rows) > 1:
            await asyncio.gather(*(self._spoilt(company, [row]) for row in rows))
            return
        for row in rows:
            self._tell(row, why)

    async def _run_spoilt(self, company: Company, rows: Sequence[Row]) -> Seen:
        story, reference = scenario(rows[0].scenario), self._references[rows[0].scenario]
        trial = await company.trial(story)
        for row in rows:
            if row.table is Table.FAILURES:
                trial.doom(row.subject, Moment(row.moment))
            else:
                await company.spoil(_fault(row, reference, trial))
        await trial.start(story, sweep_settings(CALM))
        async with played(trial, story), asyncio.timeout(PATIENCE):
            result = await trial.result()
        struck = sum(call.fault == rows[0].moment for call in trial.ledger.look())
        if rows[0].table is Table.FAULTS and struck < len(rows):
            raise NotReached(f"only {struck} of {len(rows)} faults struck")
        return await look_at(trial, result)

    async def _late(self) -> None:
        """A call is held until its activity is tried again: the first write lands beside the second, and before the
        sweep's next step. One sweep after the other, because all that is held is let go at once.
        """
        async with Company(self._place) as company:
            for row in self._rows:
                await self._judge([row], self._run_late(company, row))

    async def _run_late(self, company: Company, row: Row) -> Seen:
        story, reference = scenario(row.scenario), self._references[row.scenario]
        trial = await company.trial(story)
        await company.spoil(_fault(row, reference, trial))
        releasing = asyncio.create_task(self._let_go(company, trial, row.subject, reference))
        try:
            await trial.start(story, sweep_settings(QUICK, write=_SHORT))
            async with played(trial, story), asyncio.timeout(PATIENCE):
                result = await trial.result()
            if not releasing.done():
                raise NotReached("it ended, and the call that was held has not landed")
            await releasing
        finally:
            releasing.cancel()
            await company.let_go()
        return await look_at(trial, result)

    async def _let_go(self, company: Company, trial: Trial, effect: str, reference: Reference) -> None:
        doer = reference.doers[effect]
        await trial.ledger.until(lambda _: is_held(trial))
        begun = tries(trial, doer)
        if doer in reference.following:
            trial.doom(reference.following[doer], Moment.BEFORE)
        while tries(trial, doer) == begun:
            await asyncio.sleep(LOOK_EVERY)
        await company.let_go()
        await trial.ledger.until(lambda _: has_landed(trial))
        company.dooms.go(trial.name)

    # Verdicts

    async def _judge(self, rows: Sequence[Row], run: Awaitable[Seen]) -> None:
        why = await self._why(rows[0], run)
        for row in rows:
            self._tell(row, why)

    async def _why(self, row: Row, run: Awaitable[Seen]) -> str:
        try:
            return judge(row, await run, self._references[row.scenario])
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the verdict
            return f"{type(error).__name__}: {error}"

    def _tell(self, row: Row, why: str) -> None:
        self._told(row, why, time.monotonic() - self._started)


def _together(rows: Iterable[Row]) -> list[list[Row]]:
    """Rows one sweep can show: the same passing fault on writes that cannot be taken for each other."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        alone = row.table is Table.FAILURES or row.moment in LASTING or row.subject in _ADDRESSED_ALIKE
        found.setdefault((row.scenario, row.moment, row.how, row.subject if alone else ""), []).append(row)
    return list(found.values())


def _fault(row: Row, reference: Reference, trial: Trial) -> FaultRule:
    more: dict[str, object] = {"kind": row.moment, "when": row.how}
    if row.moment in ("429", "403_secondary"):
        more["retry_after"] = 1
    return rule(reference.writes[row.subject], trial, **more)


def judge(row: Row, seen: Seen, reference: Reference) -> str:
    """Why this end is not good; empty if it is.

    What lasts has to end in a world as before: nothing twice, a word of farewell beside what was said before, and what
    could not be taken back is named.
    """
    if not (row.table is Table.FAILURES or (row.table is Table.FAULTS and row.moment in LASTING)):
        # Who reads late, or whose first call lands after the second, does a thing twice and has to take one back.
        return differences(settled(seen) if row.moment in ("stale_read", "hold", Point.CALL) else seen, reference.seen)
    allowed = reference.seen.effects | {"comment.create": reference.seen.effects.get("comment.create", 0) + 1}
    found = [f"twice: {name}" for name in doubled(seen, allowed)]
    if "left over" not in seen.reason:
        found += [f"left over and not named: {thing}" for thing in extra(seen, reference.seen)]
    return "; ".join(found)
