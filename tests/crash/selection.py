"""A part of all rows that covers each activity, each write, each process and each fault; another part for each seed."""

import random
from collections.abc import Iterable, Sequence

from tests.crash.rows import AFTERMATH, Killed, Point, Row, Table


def selection(rows: Sequence[Row], seed: str) -> list[Row]:
    """At least one row of each; the same seed selects the same rows."""
    chance = random.Random(seed)
    return [*_kills(rows, chance), *_faults(rows, chance), *_one_each(_of(rows, Table.FAILURES), chance, 4)]


def _kills(rows: Sequence[Row], chance: random.Random) -> list[Row]:
    """Each activity once, the processes in turn; in the middle of a call only workers, for that takes longest."""
    mine = [row for row in _of(rows, Table.KILLS) if row.scenario != AFTERMATH]
    activities = sorted({row.subject for row in mine})
    chance.shuffle(activities)
    found = []
    for number, activity in enumerate(activities):
        killed = list(Killed)[number % len(Killed)]
        found.append(chance.choice([row for row in mine if _fits(row, activity, killed)]))
    return [*found, *_upkeep(rows, chance), *_one_each(_of(rows, Table.UNDO), chance, 2)]


def _upkeep(rows: Sequence[Row], chance: random.Random) -> list[Row]:
    """One story has a row for each activity of upkeep."""
    mine = [row for row in rows if row.scenario == AFTERMATH]
    how, moment = chance.choice(sorted({(row.how, row.moment) for row in mine}))
    return [row for row in mine if (row.how, row.moment) == (how, moment)]


def _fits(row: Row, activity: str, killed: Killed) -> bool:
    return row.subject == activity and row.how == killed and (row.moment != Point.CALL or killed is Killed.WORKER)


def _faults(rows: Sequence[Row], chance: random.Random) -> list[Row]:
    """Each write and each kind at least once; the one whose call is held and the one that is read late, once."""
    mine = [row for row in _of(rows, Table.FAULTS) if row.moment not in ("hold", "stale_read")]
    apart = [[row for row in _of(rows, Table.FAULTS) if row.moment == kind] for kind in ("hold", "stale_read")]
    kinds, writes = sorted({row.moment for row in mine}), sorted({row.subject for row in mine})
    chance.shuffle(kinds)
    found = []
    for number in range(max(len(kinds), len(writes))):
        kind, write = kinds[number % len(kinds)], writes[number % len(writes)]
        found.append(chance.choice([row for row in mine if row.moment == kind and row.subject == write]))
    return [*found, *(chance.choice(group) for group in apart if group)]


def _one_each(rows: Iterable[Row], chance: random.Random, count: int) -> list[Row]:
    known = list(rows)
    return chance.sample(known, min(count, len(known)))


def _of(rows: Sequence[Row], table: Table) -> list[Row]:
    return [row for row in rows if row.table is table]
