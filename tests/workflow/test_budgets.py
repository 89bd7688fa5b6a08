"""What agents may spend: in a sweep, on a day, and who counts what was spent when something is cut short."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import WorkflowHandle

from sweeper import ids
from sweeper.activities.names import TASK_QUEUE
from sweeper.model import (
    Allowance,
    Budgets,
    FixOutcome,
    FixReport,
    Outcome,
    ReviewState,
    RunRef,
    Spent,
    SweepInput,
    SweepResult,
    Trigger,
    TriggerSource,
    Workspace,
)
from sweeper.model.days import SettleRequest
from sweeper.model.task import Task
from sweeper.workflows.sweep import SweepWorkflow
from tests.support.agents import ScriptedAgent, Turn
from tests.support.code_host_state import FakeJob
from tests.support.scene import CHANGES_NOTHING, FIXES, FIXES_MORE, MISSES, RED, SETTINGS, Scene, edit

pytestmark = pytest.mark.slow
JOB = FakeJob("test", steps=(("Run pytest", "failure"),))
CENT = 10_000
ASKED = Spent(model_calls=2, input_tokens=900, output_tokens=100, micro_usd=2 * CENT)
PATIENT = SETTINGS.timeouts.model_copy(update={"heartbeat": timedelta(hours=2)})


def of_the_day(**bounds: object) -> Budgets:
    return Budgets(installation_day=Allowance.model_validate(bounds))


def of_the_sweep(**bounds: object) -> Budgets:
    return Budgets(sweep=Allowance.model_validate(bounds))


async def begun(scene: Scene, branch: str, **settings: object) -> WorkflowHandle[SweepWorkflow, SweepResult]:
    """A sweep of another branch of the scene's repository, asked for by hand."""
    scene.push(branch, RED)
    run: RunRef = scene.github.add_run(branch, jobs=[JOB])
    sweep = SweepInput(
        run=run,
        trigger=Trigger(source=TriggerSource.CLI, request_id=branch),
        settings=SETTINGS.model_copy(update=settings),
    )
    return await scene.env.client.start_workflow(
        SweepWorkflow.run, sweep, id=ids.sweep_id(run, scene.github.api_url), task_queue=TASK_QUEUE
    )


async def test_the_next_attempt_may_use_what_the_ones_before_have_left(scene: Scene) -> None:
    scene.agent.turns = [
        Turn(edit=MISSES(scene.workspaces), spent=ASKED),
        Turn(edit=FIXES(scene.workspaces), spent=ASKED),
    ]
    await scene.start(budgets=of_the_sweep(model_calls=5, tokens=10_000, micro_usd=9 * CENT))
    await scene.waits_for("review")
    first, second = (task.allowance for task in scene.agent.tasks)
    assert first == Allowance(model_calls=5, tokens=10_000, micro_usd=9 * CENT)
    assert second == Allowance(model_calls=3, tokens=9_000, micro_usd=7 * CENT)
    left = (await scene.waits_for("review")).budget
    assert (left.model_calls_remaining, left.tokens_remaining, left.micro_usd_remaining) == (1, 8_000, 5 * CENT)
    assert "2 attempts together used 4 model calls, 2,000 tokens, $0.0400, " in scene.pull.body
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_a_budget_that_is_used_up_goes_to_a_human_with_all_that_was_learned(scene: Scene) -> None:
    scene.agent.turns = [Turn(edit=MISSES(scene.workspaces), spent=ASKED, summary="perhaps 43?")]
    await scene.start(budgets=of_the_sweep(micro_usd=2 * CENT), max_attempts=9)
    result = await scene.ends(Outcome.ESCALATED)
    assert result.reason == (
        "budget of the sweep: $0.0200 used up ($0.0200 used); "
        "no verified fix after 1 attempt(s): check 'test' ended with exit code 1"
    )
    said = scene.told.summary
    assert scene.told.conclusion == "action_required"
    for learned in (result.reason, "### What failed", "Run pytest", "**Attempt 1**", "perhaps 43?", "$0.0200, 0.0 s"):
        assert learned in said


async def test_a_fixer_that_knows_nothing_costs_no_attempt_and_the_next_agent_has_all_of_them(scene: Scene) -> None:
    scene.agents["autofix"] = fixer = ScriptedAgent([Turn(outcome=FixOutcome.NO_CHANGE)], name="autofix")
    scene.agent_does(MISSES, FIXES)
    await scene.start(agents=("autofix", "scripted"), max_attempts=2)
    told = await scene.waits_for("review")
    assert (len(fixer.tasks), len(scene.agent.tasks), told.budget.attempts_remaining) == (1, 2, 0)
    assert "attempt 3 of 3" in scene.pull.body
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_a_model_that_changed_nothing_is_asked_again_while_the_budget_lasts(scene: Scene) -> None:
    scene.agent.turns = [Turn(edit=CHANGES_NOTHING(scene.workspaces), spent=ASKED)]
    await scene.start(max_attempts=4)
    result = await scene.ends(Outcome.ESCALATED)
    assert len(result.state.attempts) == len(scene.agent.tasks) == 4


async def test_a_patch_that_was_judged_is_not_judged_again(scene: Scene) -> None:
    other = edit({"app.py": "answer = 44\n"})
    scene.agent.turns = [Turn(edit=one(scene.workspaces), spent=ASKED) for one in (MISSES, MISSES, other)]
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    reasons = [attempt.verdict.reason for attempt in result.state.attempts]
    assert reasons[1] == "this is exactly the patch of attempt 1: check 'test' ended with exit code 1"
    assert [bool(attempt.verdict.results) for attempt in result.state.attempts] == [True, False, True]
    told = scene.agent.tasks[2].previous_verdict
    assert told is not None
    assert told.reason.startswith(reasons[1])
    assert [check.excerpt for check in told.results if "assert 41 == 42" in check.excerpt]


async def test_a_patch_a_human_closed_is_never_proposed_again(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    await scene.ends(Outcome.CLOSED)
    await scene.sleep(timedelta(days=40))  # the mute is over, and who asks by hand would not have minded it
    scene.agent_does(FIXES, FIXES, FIXES_MORE)
    run = scene.github.add_run("main", jobs=[JOB])
    sweep = SweepInput(run=run, trigger=Trigger(source=TriggerSource.CLI, request_id="r1"), settings=SETTINGS)
    sweep_id = ids.sweep_id(run, scene.github.api_url)
    again = await scene.env.client.start_workflow(SweepWorkflow.run, sweep, id=sweep_id, task_queue=TASK_QUEUE)
    await scene.waits_for("review", again.id)
    told = scene.agent.tasks[-1].previous_verdict
    assert told is not None
    assert told.reason == "a human rejected exactly this patch"
    assert "extra.py" in scene.ours[-1].body
    await again.signal("cancel", "enough")
    assert (await again.result()).outcome is Outcome.CANCELLED


async def test_changes_requested_are_worked_at_until_they_are_made(scene: Scene) -> None:
    scene.agent_does(FIXES, MISSES, FIXES_MORE)
    await scene.start_and_wait(max_attempts=4)
    scene.github.review(scene.pull.number, "ann", ReviewState.CHANGES_REQUESTED, body="Also extra.py")
    await scene.ring()
    await scene.until(lambda told: told.budget.attempts_remaining == 1 and told.waiting_for is not None)
    third = scene.agent.tasks[2]
    assert [comment.body for comment in third.review_comments] == ["Also extra.py"]
    assert third.previous_verdict is not None
    assert third.previous_verdict.reason == "check 'test' ended with exit code 1"
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_two_sweeps_at_once_never_spend_more_than_the_day_has(scene: Scene) -> None:
    budgets = of_the_day(micro_usd=3 * CENT)
    scene.agent.turns = [Turn(edit=FIXES(scene.workspaces), spent=ASKED)]
    gate = scene.hold_agent()
    await scene.start(budgets=budgets, timeouts=PATIENT)
    await gate.reached()
    second = await begun(scene, "release", budgets=budgets, timeouts=PATIENT)
    await scene.waits_for("budget_installation_day, of which attempts under way hold the rest", second.id)
    assert len(scene.agent.tasks) == 1
    gate.open()
    await scene.waits_for("review")
    await scene.waits_for("review", second.id)
    assert [task.allowance.micro_usd for task in scene.agent.tasks] == [3 * CENT, CENT]
    third = await begun(scene, "hotfix", budgets=budgets)
    result = await third.result()
    assert result.outcome is Outcome.ESCALATED
    assert result.reason.startswith("budget_installation_day: $0.0300 used up ($0.0400 used) on ")
    assert len(scene.agent.tasks) == 2
    await scene.sleep(timedelta(days=1))
    fourth = await begun(scene, "next", budgets=budgets)
    await scene.waits_for("review", fourth.id)
    assert scene.agent.tasks[-1].allowance.micro_usd == 3 * CENT
    for sweep in (fourth, second, scene.handle):
        await sweep.signal("cancel", "enough")
        await sweep.result()


class CountingAgent:
    """Is asked to stop in the middle, and tells what it has used until then."""

    name = "scripted"

    def __init__(self) -> None:
        self.started = asyncio.Event()

    async def fix(self, task: Task, workspace: Workspace, timeout: timedelta) -> FixReport:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return FixReport(agent=self.name, outcome=FixOutcome.CANCELLED, spent=ASKED, seconds=1.0)
        raise AssertionError("unreachable")


async def test_what_a_cancelled_attempt_used_counts(scene: Scene) -> None:
    scene.agents["scripted"] = agent = CountingAgent()
    await scene.start(budgets=of_the_day(model_calls=3))
    await asyncio.wait_for(agent.started.wait(), 20)
    await scene.cancel()
    result = await scene.ends(Outcome.CANCELLED)
    assert [attempt.fix.spent for attempt in result.state.attempts] == [ASKED]
    assert result.state.unsettled == ()
    scene.agents["scripted"] = scene.agent
    later = await begun(scene, "release", budgets=of_the_day(model_calls=3))
    await scene.waits_for("review", later.id)
    assert scene.agent.tasks[-1].allowance.model_calls == 1
    await later.signal("cancel", "enough")
    await later.result()


async def test_closing_the_proposal_starts_no_further_attempt(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.agents["scripted"] = agent = CountingAgent()
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await asyncio.wait_for(agent.started.wait(), 20)
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    result = await scene.ends(Outcome.CLOSED)
    assert [attempt.fix.outcome for attempt in result.state.attempts] == [FixOutcome.EDITED, FixOutcome.CANCELLED]
    assert result.state.unsettled == ()


async def test_a_fix_is_not_lost_because_its_account_could_not_be_kept(scene: Scene) -> None:
    scene.spending.fails = 99
    await scene.start_and_wait()
    scene.spending.fails = 0
    await scene.cancel()
    result = await scene.ends(Outcome.CANCELLED)
    assert result.state.unsettled == ()
    assert [settled.key for settled in scene.spending.settled] == [f"{scene.workflow_id}/1"]
    assert isinstance(scene.spending.settled[0], SettleRequest)
