"""Called off at any moment, a sweep leaves nothing. Each story ends with nothing left over."""

import asyncio

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType

from sweeper.model import EffectState, FixOutcome, Outcome, ReviewState, Step
from tests.support.scene import FIXES, FIXES_MORE, Scene, effects
from tests.support.scene_doubles import BusyAgent

pytestmark = pytest.mark.slow


async def test_cancel_while_the_agent_works_ends_it_and_leaves_nothing(scene: Scene) -> None:
    scene.agents["scripted"] = agent = BusyAgent()
    await scene.start()
    await asyncio.wait_for(agent.started.wait(), 20)
    await scene.cancel("not wanted")
    result = await scene.ends(Outcome.CANCELLED)
    assert result.reason == "not wanted"
    assert agent.stopped.is_set()
    assert scene.github.pulls == {}
    assert [attempt.fix.outcome for attempt in result.state.attempts] == [FixOutcome.CANCELLED], "it is spent"


async def test_closing_the_proposal_reaches_the_agent_that_works_on_it(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.agents["scripted"] = agent = BusyAgent()
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await asyncio.wait_for(agent.started.wait(), 20)
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    result = await scene.ends(Outcome.CLOSED)
    assert agent.stopped.is_set()
    assert [attempt.fix.outcome for attempt in result.state.attempts] == [FixOutcome.EDITED, FixOutcome.CANCELLED]


async def test_a_ring_without_an_ending_disturbs_no_agent(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)
    await scene.start_and_wait()
    gate = scene.hold_agent()
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await gate.reached()
    await scene.ring()
    await scene.until_history_has(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
    gate.open()
    told = await scene.until(lambda told: told.budget.attempts_remaining == 1 and told.waiting_for is not None)
    assert told.current_step is Step.AWAIT_REVIEW
    assert len(scene.agent.tasks) == 2
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_cancel_while_waiting_closes_the_proposal(scene: Scene) -> None:
    await scene.start_and_wait()
    await scene.cancel("wrong run")
    result = await scene.ends(Outcome.CANCELLED)
    assert result.reason == "wrong run"
    assert scene.pull.closed_by == scene.github.bot_login
    assert "the sweep was cancelled" in scene.pull.comments[-1].body


async def test_a_workflow_cancelled_in_temporal_cleans_up_too(scene: Scene) -> None:
    await scene.start_and_wait()
    await scene.handle.cancel()
    assert (await scene.ends(Outcome.CANCELLED)).reason == "the workflow was cancelled"


async def test_cancel_while_a_push_is_under_way_waits_for_its_answer_and_takes_it_back(scene: Scene) -> None:
    pushing = asyncio.Event()

    async def hold_until_cancelled() -> None:
        pushing.set()
        await activity.wait_for_cancelled()

    scene.workspaces.before["push"] = hold_until_cancelled
    await scene.start()
    await asyncio.wait_for(pushing.wait(), 20)
    await scene.cancel("stop")
    result = await scene.ends(Outcome.CANCELLED)
    assert effects(result) == [("branch.push", EffectState.CREATED), ("branch.delete", EffectState.CREATED)]
    assert scene.github.pulls == {}


async def test_a_cancel_while_it_tidies_up_changes_nothing(scene: Scene) -> None:
    tidying, may_go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        tidying.set()
        await may_go_on.wait()

    await scene.start_and_wait()
    scene.workspaces.before["discard"] = hold
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    await asyncio.wait_for(tidying.wait(), 20)
    await scene.handle.cancel()
    await scene.until_history_has(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED, EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    )
    assert EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED not in await scene.events()
    may_go_on.set()
    assert (await scene.ends(Outcome.CLOSED)).reason == "closed by ann"
