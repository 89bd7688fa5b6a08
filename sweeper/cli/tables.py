"""Documents as tables for people."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from sweeper.model import Step
from sweeper.model.upkeep import StuckCase
from sweeper.policy.spending import spent_line, total
from sweeper.ports import WorkerLife
from sweeper.reporting import AttemptStory, ListReport, ShowReport

STORY = [step for step in Step if step not in (Step.WATCH, Step.DONE)]


def _age(moment: datetime) -> str:
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def worker_line(life: WorkerLife) -> Text:
    """Is anybody working?"""
    if life.alive:
        return Text("A worker is alive.", style="green")
    since = f" since {life.since:%Y-%m-%d %H:%M:%S} UTC" if life.since else ""
    return Text(f"No worker{since}; start `sweeper serve` or `sweeper worker`.", style="yellow")


def sweeps_table(report: ListReport) -> RenderableType:
    """One line per sweep."""
    if not report.sweeps:
        return Text("No such sweeps.")
    whole = [Column(name, no_wrap=True, overflow="fold") for name in ("sweep", "repository")]  # to be copied
    table = Table(*whole, "branch", "step", "waits for", "outcome", "proposal", "age", box=None)
    for line in report.sweeps:
        table.add_row(
            line.id,
            line.repository,
            line.branch,
            line.stuck or line.step.value,
            line.waiting_for.what if line.waiting_for else "",
            line.outcome.value if line.outcome else "",
            f"#{line.proposal}" if line.proposal else "",
            _age(line.started_at),
        )
    return table


def stuck_table(cases: Sequence[StuckCase]) -> RenderableType:
    """What is stuck, since when, and what to do."""
    table = Table(Column("stuck", no_wrap=True, overflow="fold"), "since", "what to do", box=None)
    for case in cases:
        table.add_row(case.workflow, _age(case.since), case.sentence)
    return table


def sweep_story(report: ShowReport) -> RenderableType:
    """Steps with their times, what is waited for, effects and attempts."""
    parts: list[RenderableType] = [Text(f"{report.id}  {report.run.repository}  {report.branch}", style="bold")]
    parts.append(_steps(report))
    if report.waiting_for:
        waiting = report.waiting_for
        parts.append(
            Text(f"Waits for {waiting.what} since {_age(waiting.since)}, until {waiting.until:%Y-%m-%d %H:%M} UTC.")
        )
    if report.pending_action:
        parts.append(Text(f"Under way: {report.pending_action.tool} ({report.pending_action.idempotency_key})"))
    parts += [Text(f"Attempt {a.n} by {a.agent}: {a.verdict.value} {a.reason}") for a in report.attempts]
    if report.attempts:
        parts.append(_spent(report))
    if report.effects:
        parts.append(_effects(report))
    if report.proposal:
        parts.append(Text(f"Proposal: {report.proposal.url}"))
    if report.outcome:
        parts.append(Text(f"Outcome: {report.outcome.value}. {report.reason}", style="bold"))
    if report.stuck:
        parts.append(Text(report.stuck, style="red"))
    return Group(*parts)


def journal_story(attempts: Sequence[AttemptStory]) -> RenderableType:
    """Each attempt with its actions, as they are recorded. The words are data: no markup is read in them."""
    parts: list[RenderableType] = []
    for attempt in attempts:
        parts.append(Text(f"Attempt {attempt.n} by {attempt.agent}" if not attempt.is_open else _at_work(attempt.n)))
        parts += [Text(f"  {action}") for action in attempt.actions] or [Text("  changed nothing")]
    return Group(*parts) if parts else Text("No attempt has begun.")


def _at_work(n: int) -> str:
    return f"Attempt {n}, still at work"


def _spent(report: ShowReport) -> Text:
    used = spent_line(total(attempt.spent for attempt in report.attempts)) or "nothing that is counted"
    budget = report.budget
    left = [f"{budget.attempts_remaining} attempt(s)"]
    for amount, what in (
        (budget.model_calls_remaining, "model calls"),
        (budget.tokens_remaining, "tokens"),
        (budget.seconds_remaining, "s of agents' time"),
    ):
        left += [] if amount is None else [f"{amount:,.0f} {what}"]
    left += [] if budget.micro_usd_remaining is None else [f"${budget.micro_usd_remaining / 1_000_000:.4f}"]
    return Text(f"Used {used}; left: {', '.join(left)}.")


def _steps(report: ShowReport) -> RenderableType:
    table = Table("step", "seconds", box=None)
    ended = report.outcome is not None
    for step in STORY:
        here = step is report.current_step and not ended
        seconds = report.spent.seconds.get(step.value)
        if here:
            running = (datetime.now(UTC) - (report.entered_at or report.started_at)).total_seconds() + (seconds or 0.0)
            table.add_row(Text(f"> {step.value}", style="bold cyan"), f"{running:.1f}")
        elif seconds is not None:
            table.add_row(f"  {step.value}", f"{seconds:.1f}")
    return table


def _effects(report: ShowReport) -> RenderableType:
    table = Table("effect", "state", "where", box=None)
    for effect in report.effects:
        table.add_row(effect.name, effect.state.value, effect.ref or effect.note)
    return table
