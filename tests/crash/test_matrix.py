"""A covering part of the crash matrix; another part for each commit. `make crash-matrix` runs the whole."""

import subprocess
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sweeper.activities import names
from tests.crash.reference import Reference, references
from tests.crash.rows import Killed, Table, all_rows, unreached
from tests.crash.runner import ROOT, Verdict, run_rows
from tests.crash.selection import selection

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stories() -> AsyncIterator[tuple[Reference, ...]]:
    with tempfile.TemporaryDirectory(prefix="crash-") as place:
        yield await references(Path(place))


def commit() -> str:
    """The commit's hash; empty where there is no git."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return asked.stdout.strip()


async def test_every_activity_of_a_sweep_is_reached_by_a_story(stories: tuple[Reference, ...]) -> None:
    assert unreached(stories) == []


async def test_the_selected_part_covers_everything(stories: tuple[Reference, ...]) -> None:
    rows = all_rows(stories)
    for seed in ("one", "another"):
        chosen = selection(rows, seed)
        kills = [row for row in chosen if row.table is Table.KILLS]
        faults = [row for row in chosen if row.table is Table.FAULTS]
        assert {row.subject for row in kills} == {act.name for act in names.ALL}
        assert {row.how for row in kills} == set(Killed)
        assert {row.subject for row in faults} == {row.subject for row in rows if row.table is Table.FAULTS}
        assert {row.moment for row in faults} == {row.moment for row in rows if row.table is Table.FAULTS}
    assert selection(rows, "one") == selection(rows, "one") != selection(rows, "another")


async def test_a_disturbed_sweep_ends_as_if_nothing_had_happened(stories: tuple[Reference, ...]) -> None:
    rows, found = selection(all_rows(stories), commit()), list[Verdict]()
    await run_rows(rows, stories, found.append)
    assert {verdict.row.key: verdict.why for verdict in found if not verdict.passed} == {}
    assert sorted(verdict.row.key for verdict in found) == sorted(row.key for row in rows)
