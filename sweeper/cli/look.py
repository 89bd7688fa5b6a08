"""Commands that show: list, show, watch. They read what Temporal keeps and need no worker."""

import asyncio
from typing import Annotated

import typer
from rich.live import Live
from rich.table import Table

from sweeper.cli.command import JsonOption, answer, people, results, run
from sweeper.cli.tables import journal_story, stuck_table, sweep_story, sweeps_table, worker_line
from sweeper.config import load_settings, prepare_state_dir
from sweeper.errors import OutOfReach
from sweeper.model.upkeep import StuckCase
from sweeper.ports import Sweeps
from sweeper.reporting import JournalReport, is_about, is_good, list_report, show_report

SWEEP = Annotated[str, typer.Argument(metavar="SWEEP_ID")]
LOOK_EVERY = 0.5
MOST_LISTED = 1000


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("list")(list_sweeps)
    app.command("show")(show)
    app.command("watch")(watch)


def list_sweeps(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 50,
    stuck: Annotated[bool, typer.Option("--stuck", help="Only those that cannot go on by themselves.")] = False,
    as_json: JsonOption = False,
) -> None:
    """All sweeps, newest first, and whether a worker is alive."""
    run(_list(limit, stuck, as_json), as_json)


def show(
    sweep: SWEEP,
    journal: Annotated[bool, typer.Option("--journal", help="What its agents did, action by action.")] = False,
    as_json: JsonOption = False,
) -> None:
    """One sweep: where it is, what it waits for, what it has done."""
    run(_show_journal(sweep, as_json) if journal else _show(sweep, as_json), as_json)


def watch(sweep: SWEEP, as_json: JsonOption = False) -> None:
    """Follow a sweep live until it ends."""
    run(_watch(sweep, as_json), as_json)


async def _list(limit: int, stuck: bool, as_json: bool) -> None:
    from sweeper.cli.temporal import configured_sweeps

    async with configured_sweeps() as sweeps:
        cases = await _stuck(sweeps, asked=stuck)
        views = await sweeps.list(MOST_LISTED if stuck else limit)
        if stuck:
            views = tuple(view for view in views if view.stuck or any(is_about(case, view.id) for case in cases))[
                :limit
            ]
        report = list_report(views, await sweeps.worker_life(), cases)
    if as_json:
        answer(report)
    else:
        if stuck and report.stuck:
            results.print(stuck_table(report.stuck))
        results.print(sweeps_table(report))
        results.print(worker_line(report.worker))


async def _stuck(sweeps: Sweeps, *, asked: bool) -> tuple[StuckCase, ...]:
    """Many open sweeps take long to look at; a plain list does without rather than fail."""
    try:
        return await sweeps.stuck()
    except OutOfReach:
        if asked:
            raise
        return ()


async def _show(sweep: str, as_json: bool) -> None:
    from sweeper.cli.temporal import configured_sweeps

    async with configured_sweeps() as sweeps:
        report = show_report(await sweeps.show(sweep))
        life = await sweeps.worker_life()
    if as_json:
        answer(report)
    else:
        results.print(sweep_story(report))
        results.print(worker_line(life))


async def _show_journal(sweep: str, as_json: bool) -> None:
    from sweeper.cli.journal import attempt_stories
    from sweeper.cli.temporal import reach_sweeps

    settings = load_settings()
    state = prepare_state_dir(settings)
    async with reach_sweeps(settings, state) as sweeps:
        record = await sweeps.show(sweep)
    report = JournalReport(id=sweep, attempts=await attempt_stories(settings, state, record))
    if as_json:
        answer(report)
    else:
        results.print(journal_story(report.attempts))


async def _watch(sweep: str, as_json: bool) -> int:
    from sweeper.cli.temporal import configured_sweeps

    async with configured_sweeps() as sweeps:
        with Live(Table(), console=people, refresh_per_second=4) as live:
            while True:
                report = show_report(await sweeps.show(sweep))
                live.update(sweep_story(report))
                if not report.is_open:
                    break
                await asyncio.sleep(LOOK_EVERY)
    if as_json:
        answer(report)
    return 0 if is_good(report.outcome) else 1
