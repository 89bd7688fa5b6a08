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
from tests.crash.company import CALM, LOOK_EVERY, QUICK, Company, Trial, sweep_settings
from tests.crash.disturb import Disturbed, NotReached, rule, tries
from tests.crash.oracle import Seen, differences, doubled, extra, look_at, settled
from tests.crash.reference import PATIENCE, Reference, played
from tests.crash.rows import LASTING, Killed, Point, Row, Table
from tests.crash.scenarios import scenario
from tests.support.dying_worker import Moment

BATCH = 20
_KILLED = (Table.KILLS, Table.UNDO)
_LAGGING_READS = 2
_SHORT = timedelta(seconds=2)
_ADDRESSED_ALIKE = ("branch.delete", "pull.close", "pull.ready", "check.update")
"""Effects whose call has the address of another effect's call; which of them a rule strikes, only its count says."""
_AT_ITS_OWN_TIME = ("hold", "stale_read")
Told = Callable[[Row, str, float], None]
"""A row, why it failed (empty: it did not), and the seconds it took."""


def batches(rows: Iterable[Row], size: int = BATCH) -> Iterator[list[Row]]:
    """Rows that can share a company."""
    for _, group in groupby(sorted(rows, key=_kind), key=_kind):
        mine = list(group)
        yield from (mine[start : start + size] for start in range(0, len(mine), size))


def _kind(row: Row) -> tuple[str, ...]:
    if row.table in _KILLED:
        return ("kills", row.how, str(_is_in_call(row)))
    if row.table is Table.FAULTS and row.moment in _AT_ITS_OWN_TIME:
        return (row.moment, row.subject if row.moment == "hold" else "")
    return (row.table,)


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
        if first.table in _KILLED:
            await self._killed(Killed(first.how))
        elif first.moment == "stale_read":
            await self._stale()
        elif first.moment == "hold":
            await self._late()
        else:
            await self._running()

    # What is killed under sweeps that stand

    async def _killed(self, how: Killed) -> None:
        in_call = _is_in_call(self._rows[0])
        company = Company(self._place, with_web=how is Killed.WEB, with_tools=in_call, sandboxed=in_call)
        async with company:
            standing = await self._all_stand(company, by_webhook=how is Killed.WEB)
            await self._strike(company, how)
            await company.let_go()
            for sweep in standing:
                sweep.go()
            if how in (Killed.WORKER, Killed.BOTH):
                await company.begin_worker()
            await self._all_end(standing)

    async def _strike(self, company: Company, how: Killed) -> None:
        if how is Killed.WEB:
            await company.kill_web()
        if how in (Killed.WORKER, Killed.BOTH):
            company.kill_worker()
        if how in (Killed.TEMPORAL, Killed.BOTH):
            await company.kill_temporal()

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
                    sweep = Disturbed(await company.trial(), row, self._references[row.scenario])
                    sweep.doom()
                    await sweep.begin(by_webhook=by_webhook and scenario(row.scenario).is_plain)
                await sweep.stand()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the verdict
                self._tell(row, f"{type(error).__name__}: {error}")
                return None
        return sweep

    async def _all_end(self, sweeps: Iterable[Disturbed]) -> None:
        await asyncio.gather(*(self._judge([sweep.row], sweep.seen()) for sweep in sweeps))

    # What goes wrong while sweeps run

    async def _running(self) -> None:
        """Activities that fail for good, and faults: rows of one kind and story are one sweep, all of whose writes are
        spoilt. If that sweep does not end well, each row gets one of its own, to see which it was.
        """
        async with Company(self._place) as company:
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
        trial = await company.trial()
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
        """A call is held until its activity is tried again: the first write lands beside the second."""
        async with Company(self._place) as company:
            trials = [await company.trial() for _ in self._rows]
            for row, trial in zip(self._rows, trials, strict=True):
                await company.spoil(_fault(row, self._references[row.scenario], trial))
            releasing = asyncio.create_task(self._let_go(company, trials))
            ends = (self._end_late(row, trial) for row, trial in zip(self._rows, trials, strict=True))
            await asyncio.gather(*(self._judge([row], end) for row, end in zip(self._rows, ends, strict=True)))
            releasing.cancel()

    async def _end_late(self, row: Row, trial: Trial) -> Seen:
        story = scenario(row.scenario)
        await trial.start(story, sweep_settings(QUICK, write=_SHORT))
        async with played(trial, story), asyncio.timeout(PATIENCE):
            return await look_at(trial, await trial.result())

    async def _let_go(self, company: Company, trials: Sequence[Trial]) -> None:
        doer = self._references[self._rows[0].scenario].doers[self._rows[0].subject]
        begun = {}
        for trial in trials:
            await trial.ledger.until(lambda calls: any(call.fault == "hold" for call in calls))
            begun[trial.name] = tries(trial, doer)
        while any(tries(trial, doer) == begun[trial.name] for trial in trials):
            await asyncio.sleep(LOOK_EVERY)
        await company.let_go()

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
