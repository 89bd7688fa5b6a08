"""`sweeper demo`: the whole story on a sample repository, with a crash in the middle, in plain sight."""

import asyncio
import fcntl
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sweeper.cli.command import JsonOption, answer, people, run
from sweeper.config import AGENTS, load_settings, private_room
from sweeper.errors import BadInput
from sweeper.model import Outcome, Strict

if TYPE_CHECKING:  # loaded by the command that needs them
    from adapters.loopback.drive.answers import LedgerCall
    from sweeper.cli.sample import Sample
    from sweeper.cli.stage import Stage
    from sweeper.cli.story import Story

EXPECTED_ONCE = ("branch.push", "pull.create", "pull.merge", "branch.delete")


class DemoEvent(Strict):
    """A moment of the crash: what was done, that the worker died, how the effect was found again."""

    phase: str
    effect: str


class DemoReport(Strict):
    """How the demo went. `effects`: how often each write happened on GitHub, by its own ledger."""

    outcome: Outcome | None
    reason: str
    workflow_id: str
    pull_request: str | None
    effects: dict[str, int]
    events: tuple[DemoEvent, ...]
    worker_kills: int
    duplicate_deliveries: int
    seconds: dict[str, float]
    seconds_to_pull_request: float


@dataclass(frozen=True)
class Mark:
    """How far GitHub's books went before this demo began."""

    calls: int
    deliveries: int


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    agent: Annotated[
        str | None, typer.Option("--agent", help="autofix, command or llm; the first two in a chain if absent.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """A red run becomes a reviewed, merged fix on this machine: no account, no network, one kill -9."""
    run(_demo(agent, as_json), as_json)


async def _demo(agent: str | None, as_json: bool) -> int:
    from sweeper.cli.demo_model import model_for
    from sweeper.cli.sample import AGENT_COMMAND, sample
    from sweeper.cli.stage import stage

    if agent is not None and agent not in AGENTS:
        raise BadInput(f"There is no agent {agent!r}; choose one of {', '.join(AGENTS)}.")
    root = private_room(load_settings(use_working_directory=False), "demo")
    overrides: dict[str, object] = {
        "agents": (agent,) if agent else ("autofix", "command"),
        "agent_command": AGENT_COMMAND,
        "merge_mode": "merge",
        "heartbeat": timedelta(seconds=2),
        "poll_interval": timedelta(seconds=10),
        "allow_unsandboxed": True,
    }
    async with _alone(root), model_for(agent, root) as model, stage(root, {**overrides, **model}) as on:
        report = await _play(on, sample(with_bug=agent != "autofix"))
    if as_json:
        answer(report)
    else:
        _tell(report)
    once = all(report.effects.get(name) == 1 for name in EXPECTED_ONCE)
    return 0 if report.outcome is Outcome.MERGED and once else 1


@asynccontextmanager
async def _alone(root: Path) -> AsyncIterator[None]:
    """One demo at a time per state directory: a second one would kill the first one's worker."""
    with (root / "demo.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"A demo runs in {root} already; let it end, or set another SWEEPER_STATE_DIR.") from None
        yield


async def _play(on: "Stage", scene: "Sample") -> DemoReport:
    story, mark = await _red_run(on, scene)
    events = await _crash_after_pull_request(story, mark)
    report = await story.waits_for_review()
    if report.proposal is not None and report.outcome is None:
        from sweeper.cli.sample import WORKFLOW_PATH
        from sweeper.cli.story import is_terminal

        found = next((effect for effect in report.effects if effect.name == "pull.create"), None)
        if found is not None:
            events.append(DemoEvent(phase=found.state.value, effect=found.name))
            story.say(f"pull request #{report.proposal.number}: {found.state.value}, not opened twice", "green")
        await story.proposal_ci_passes(report.proposal.branch, WORKFLOW_PATH)
        await story.reviewed(report.proposal.number, ask=is_terminal())
    return await _report(story, events, mark)


async def _red_run(on: "Stage", scene: "Sample") -> tuple["Story", Mark]:
    """A repository, its people, a red run; each webhook is delivered twice and one answer will be held back."""
    from adapters.loopback.core.state import HookMode
    from adapters.loopback.drive.requests import FaultRule, NewJob, NewRepo, NewRun, NewStep, NewUser
    from sweeper import ids
    from sweeper.cli.sample import WORKFLOW_PATH
    from sweeper.cli.story import REVIEWER, Story, free_name
    from sweeper.model import RunRef

    name = await free_name(on, "corner-shop/till")
    made = await on.drive.repo(NewRepo(name=name, files=scene.files))
    await on.drive.user(NewUser(login=REVIEWER, permission="write"))
    await on.drive.hooks(HookMode.DUPLICATE)
    await on.drive.faults(FaultRule(method="POST", path=f"/repos/{name}/pulls$", when="after", kind="hold"))
    mark = Mark(len((await on.drive.ledger()).calls), len((await on.drive.world()).deliveries))
    jobs = [
        NewJob(
            name=failure.job,
            conclusion="failure",
            steps=[NewStep(name="Set up job", conclusion="success"), NewStep(name=failure.step, conclusion="failure")],
            log=failure.log,
        )
        for failure in scene.failures
    ]
    red = await on.drive.run(
        NewRun(repo=name, branch="main", workflow_path=WORKFLOW_PATH, event="push", conclusion="failure", jobs=jobs)
    )
    ref = RunRef(repository=name, repository_id=made.id, run_id=red.run_id, run_attempt=red.attempt)
    story = Story(on, name, ids.sweep_id(ref, on.info.url))
    story.say(
        f"CI of {name} is red: {', '.join(job.name for job in red.jobs)}. The webhook is delivered twice.", "bold"
    )
    return story, mark


async def _crash_after_pull_request(story: "Story", mark: Mark) -> list[DemoEvent]:
    """Wait until the pull request exists while its answer is held back; then kill the worker and start another."""
    on = story.stage
    ended = asyncio.ensure_future(story.until(lambda view: not view.is_open))
    created = asyncio.ensure_future(_happened(story, "pull.create", mark))
    try:
        await asyncio.wait({ended, created}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended.cancel()
        created.cancel()
        await asyncio.gather(ended, created, return_exceptions=True)
    if created.cancelled():
        return []
    story.say("the pull request is created; GitHub's answer is held back", "yellow")
    pid = await on.worker.kill()
    story.say(f"kill -9 {pid}: the worker is dead, nothing of the answer was recorded", "bold red")
    await on.drive.faults()
    await on.worker.start()
    story.say("a new worker is started; it has to find out by itself", "yellow")
    return [DemoEvent(phase="created", effect="pull.create"), DemoEvent(phase="crash", effect="worker")]


async def _calls(story: "Story", mark: Mark) -> "list[LedgerCall]":
    """What GitHub's books say of this demo's repository since it began; an earlier, broken-off demo may go on."""
    calls = (await story.stage.drive.ledger()).calls[mark.calls :]
    places = (f"/repos/{story.repository}/", f"/{story.repository}.git/")
    return [call for call in calls if any(place in call.path for place in places)]


async def _happened(story: "Story", effect: str, mark: Mark) -> None:
    """GitHub is another process, so it has to be asked again and again."""
    while not any(call.effect == effect for call in await _calls(story, mark)):  # noqa: ASYNC110
        await asyncio.sleep(0.1)


async def _report(story: "Story", events: list[DemoEvent], mark: Mark) -> DemoReport:
    on = story.stage
    report = await story.report()
    calls = await _calls(story, mark)
    deliveries = Counter(delivery.guid for delivery in (await on.drive.world()).deliveries[mark.deliveries :])
    return DemoReport(
        outcome=report.outcome,
        reason=report.reason,
        workflow_id=report.id,
        pull_request=report.proposal.url if report.proposal else None,
        effects=dict(Counter(call.effect for call in calls if call.effect)),
        events=tuple(events),
        worker_kills=on.worker.kills,
        duplicate_deliveries=sum(count - 1 for count in deliveries.values()),
        seconds=report.spent.seconds,
        seconds_to_pull_request=_to_pull_request(report.spent.seconds),
    )


def _to_pull_request(seconds: dict[str, float]) -> float:
    before = ("admit", "collect", "diagnose", "enter", "prepare", "reproduce", "fix", "verify", "propose")
    return round(sum(seconds.get(step, 0.0) for step in before), 1)


def _tell(report: DemoReport) -> None:
    effects = Table("side effect on GitHub", "how often", title="By GitHub's own ledger")
    for name, count in sorted(report.effects.items()):
        effects.add_row(name, f"{count}" if count == 1 or name not in EXPECTED_ONCE else f"[red]{count}[/]")
    times = Table("step", "seconds", title="Time per step")
    for step, spent in report.seconds.items():
        times.add_row(step, f"{spent:.1f}")
    people.print(effects)
    people.print(times)
    people.print(
        f"Worker killed {report.worker_kills} time(s), {report.duplicate_deliveries} duplicate deliveries, "
        f"outcome {report.outcome}: {report.reason}",
        style="bold green" if report.outcome is Outcome.MERGED else "bold red",
        markup=False,
    )
