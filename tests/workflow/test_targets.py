"""Sweeps that meet at a target: turns, joining, superseding, mutes, caps, and holders that die."""

from datetime import timedelta

import pytest
from temporalio.client import WorkflowHandle

from sweeper import ids
from sweeper.activities.names import TASK_QUEUE
from sweeper.model import (
    Outcome,
    ReviewState,
    RunRef,
    Step,
    SweepInput,
    SweepResult,
    Trigger,
    TriggerSource,
)
from sweeper.model.crowd import Crowd
from sweeper.workflows.sweep import SweepWorkflow
from tests.support.code_host_state import FakeJob
from tests.support.scene import FIXES, FIXES_MORE, RED, SETTINGS, Scene

JOB = FakeJob("test", steps=(("Run pytest", "failure"),))
OTHER_CAUSE = FakeJob("types", steps=(("Run pytest", "failure"),))
OTHER_WORKFLOW = ".github/workflows/nightly.yml"
MINUTE = timedelta(minutes=1)
PATIENT = SETTINGS.timeouts.model_copy(update={"heartbeat": timedelta(hours=2)})
"""For agents that are held up while time is skipped: no real heartbeat can keep pace with that."""

pytestmark = pytest.mark.slow
Handle = WorkflowHandle[SweepWorkflow, SweepResult]


BOTH_JOBS = b"jobs: {test: {steps: [{run: pytest}]}, types: {steps: [{run: pytest}]}}"


@pytest.fixture(autouse=True)
def two_workflows(scene: Scene) -> None:
    scene.github.set_file(".github/workflows/ci.yml", BOTH_JOBS)
    scene.github.set_file(OTHER_WORKFLOW, BOTH_JOBS)


async def begun(scene: Scene, run: RunRef, trigger: Trigger | None = None, **settings: object) -> Handle:
    """A sweep of another run of the scene's repository."""
    sweep = SweepInput(
        run=run,
        trigger=trigger or Trigger(source=TriggerSource.WORKFLOW_RUN, actor=f"run {run.run_id}"),
        settings=SETTINGS.model_copy(update=settings),
    )
    return await scene.env.client.start_workflow(
        SweepWorkflow.run, sweep, id=ids.sweep_id(run, scene.github.api_url), task_queue=TASK_QUEUE
    )


async def stopped(scene: Scene, *sweeps: Handle) -> None:
    """Cancelled while they wait: this server loses a workflow that cancels what has just ended."""
    for sweep in sweeps:
        await scene.waits_for("review", sweep.id)
        await sweep.signal("cancel", "enough")
        assert (await sweep.result()).outcome is Outcome.CANCELLED


async def test_thirty_pushes_in_thirty_minutes_get_one_proposal_and_at_most_two_agent_runs(scene: Scene) -> None:
    gate = scene.hold_agent()
    await scene.start(timeouts=PATIENT)
    await gate.reached()
    handles = []
    for minute in range(1, 30):
        if minute > 5:  # this server lets no time pass while an activity runs: those pushes come at once
            await scene.sleep(MINUTE)
        scene.push("main", {f"feature{minute}.py": "done = True\n"})
        handles.append(await begun(scene, scene.github.add_run("main", jobs=[JOB])))
        if minute == 5:
            gate.open()
            await scene.waits_for("review")
    results = [await handle.result() for handle in handles]
    assert {result.outcome for result in results} <= {Outcome.JOINED, Outcome.SUPERSEDED}
    assert results[-1].outcome is Outcome.JOINED
    assert len(scene.github.pulls) == 1
    assert len(scene.agent.tasks) <= 2
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.ends(Outcome.MERGED)


async def test_another_cause_on_the_branch_gets_its_own_proposal_while_one_is_parked_for_a_week(scene: Scene) -> None:
    await scene.start_and_wait(proposal_ttl=timedelta(days=14), poll_interval=timedelta(days=3))
    await scene.sleep(timedelta(days=7))
    other = await begun(scene, scene.github.add_run("main", jobs=[OTHER_CAUSE]))
    await scene.until_open_pulls(2)
    await stopped(scene, other, scene.handle)


async def test_two_causes_take_turns_in_the_order_they_came(scene: Scene) -> None:
    gate = scene.hold_agent()
    await scene.start(timeouts=PATIENT)
    await gate.reached()
    other = await begun(scene, scene.github.add_run("main", jobs=[OTHER_CAUSE], workflow_path=OTHER_WORKFLOW))
    told = await scene.waits_for(f"its turn at the branch, place 1 behind {scene.workflow_id}", other.id)
    assert told.current_step is Step.ENTER
    assert len(scene.agent.tasks) == 1
    gate.open()
    await scene.until_open_pulls(2)
    await stopped(scene, other, scene.handle)


async def test_a_newer_run_of_the_same_workflow_supersedes_one_that_waits(scene: Scene) -> None:
    gate = scene.hold_agent()
    await scene.start(timeouts=PATIENT)
    await gate.reached()
    older = await begun(scene, scene.github.add_run("main", jobs=[OTHER_CAUSE], workflow_path=OTHER_WORKFLOW))
    await scene.waits_for("its turn", older.id)
    newer = await begun(scene, scene.github.add_run("main", jobs=[JOB], workflow_path=OTHER_WORKFLOW))
    result = await older.result()
    assert (result.outcome, result.reason) == (
        Outcome.SUPERSEDED,
        f"newer_run: {newer.id} is for a newer run of the same workflow",
    )
    gate.open()
    await scene.until_open_pulls(2)
    await stopped(scene, newer, scene.handle)


async def test_a_humans_no_mutes_the_cause_until_its_time_is_over(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)  # what was closed is not proposed again
    await scene.start_and_wait()
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    await scene.ends(Outcome.CLOSED)
    again = await begun(scene, scene.github.add_run("main", jobs=[JOB]))
    result = await again.result()
    assert (result.outcome, len(scene.agent.tasks)) == (Outcome.MUTED, 1)
    await scene.sleep(timedelta(days=31))
    later = await begun(scene, scene.github.add_run("main", jobs=[JOB]))
    await stopped(scene, later)


async def test_who_asks_by_hand_is_not_held_back_by_a_no(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)
    await scene.start_and_wait()
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    await scene.ends(Outcome.CLOSED)
    by_hand = Trigger(source=TriggerSource.CLI, request_id="r1")
    again = await begun(scene, scene.github.add_run("main", jobs=[JOB]), by_hand)
    await stopped(scene, again)


@pytest.mark.parametrize(
    ("around", "waits_for"),
    [
        (Crowd(ahead=5), "room for a proposal: 5 wait for a human or came before (limit 5)"),
        (Crowd(started=()), ""),
    ],
)
async def test_a_full_repository_holds_a_sweep_up_and_loses_none(scene: Scene, around: Crowd, waits_for: str) -> None:
    scene.sweeps.around = around
    await scene.start()
    if waits_for:
        await scene.waits_for(waits_for)
        assert scene.agent.tasks == []
        scene.sweeps.around = Crowd()
        await scene.ring()
    await scene.waits_for("review")
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_the_same_failure_after_a_merge_gets_a_sweep_of_its_own(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.ends(Outcome.MERGED)
    scene.push("main", {"app.py": "answer = 40\n"})
    again = await begun(scene, scene.github.add_run("main", jobs=[JOB]))
    await stopped(scene, again)


async def test_a_machine_without_a_free_place_names_what_it_waits_for_and_goes_on(scene: Scene) -> None:
    gate = scene.hold_agent()
    await scene.start(timeouts=PATIENT, places=1)
    await gate.reached()
    scene.push("release", RED)
    other = await begun(scene, scene.github.add_run("release", jobs=[JOB]), places=1)
    await scene.waits_for(f"a free place on this machine (limit 1), place 1 behind {scene.workflow_id}", other.id)
    assert len(scene.agent.tasks) == 1
    gate.open()
    await scene.until_open_pulls(2)
    await stopped(scene, other, scene.handle)


async def test_an_approval_that_is_taken_back_holds_nobody_up(scene: Scene) -> None:
    await scene.start_and_wait(timeouts=PATIENT)
    number = scene.pull.number
    gate = scene.hold_agent()
    holder = await begun(scene, scene.github.add_run("main", jobs=[OTHER_CAUSE]), timeouts=PATIENT)
    await gate.reached()
    approval = scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.waits_for(f"its turn at the branch, behind {holder.id}")
    scene.github.dismiss(number, approval)
    await scene.ring()
    await scene.waits_for("review")
    third = await begun(scene, scene.github.add_run("main", jobs=[JOB], workflow_path=OTHER_WORKFLOW))
    await scene.waits_for(f"its turn at the branch, place 1 behind {holder.id}", third.id)
    gate.open()
    await scene.until_open_pulls(3)
    await stopped(scene, third, holder, scene.handle)


async def test_who_is_in_is_not_held_up_by_a_cap_when_it_looks_again(scene: Scene) -> None:
    gate = scene.hold_agent()
    await scene.start(timeouts=PATIENT)
    await gate.reached()
    scene.push("main", {"feature.py": "done = True\n"})
    newer = await begun(scene, scene.github.add_run("main", jobs=[JOB]))
    assert (await newer.result()).outcome is Outcome.JOINED
    scene.sweeps.around = Crowd(ahead=99)
    gate.open()
    await scene.waits_for("review")
    await stopped(scene, scene.handle)
