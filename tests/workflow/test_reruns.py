"""Failures that are not the code's: run again once, watched, and never answered with a change."""

from dataclasses import replace
from datetime import timedelta

import pytest

from sweeper.model import EffectState, Outcome
from sweeper.workflows.rerun import WATCHED
from tests.support.code_host_state import FakeJob
from tests.support.sandbox import Reply
from tests.support.scene import GREEN, SETTINGS, Scene, effects

pytestmark = pytest.mark.slow
SHUT_DOWN = (
    b"2026-01-01T00:00:00.0000000Z ##[group]Run pytest\n2026-01-01T00:00:00.0000000Z ##[endgroup]\n"
    b"2026-01-01T00:00:01.0000000Z ##[error]The runner has received a shutdown signal. This can happen when the runner"
    b" service is stopped, or a manually started runner is canceled.\n"
)


def loses_its_runner(scene: Scene) -> None:
    job = FakeJob("test", steps=(("Run pytest", "failure"),), log=SHUT_DOWN)
    scene.run = scene.github.add_run(jobs=[job])


def attempt_ends(scene: Scene, conclusion: str) -> None:
    """The newest attempt of the run is over."""
    attempts = scene.github.runs[scene.run.run_id]
    attempts[-1] = replace(attempts[-1], conclusion=conclusion)


def reruns(scene: Scene) -> list[EffectState]:
    return [effect.state for effect in scene.github.effects if effect.name == "run.rerun"]


async def watched(scene: Scene, **settings: object) -> None:
    loses_its_runner(scene)
    await scene.start(**settings)
    await scene.waits_for(WATCHED)


async def test_a_lost_runner_is_no_reason_to_change_code(scene: Scene) -> None:
    await watched(scene)
    attempt_ends(scene, "success")
    await scene.ring()
    result = await scene.ends(Outcome.INFRASTRUCTURE)
    assert result.reason.startswith("attempt 2 passed without a change")
    assert (reruns(scene), scene.agent.tasks, scene.github.pulls) == ([EffectState.CREATED], [], {})


async def test_a_lost_ring_is_made_up_for_by_a_look(scene: Scene) -> None:
    await watched(scene)
    attempt_ends(scene, "success")
    await scene.sleep(timedelta(hours=4))
    await scene.ends(Outcome.INFRASTRUCTURE)


async def test_an_attempt_that_fails_again_is_left_to_its_own_sweep(scene: Scene) -> None:
    await watched(scene)
    attempt_ends(scene, "failure")
    await scene.ring()
    result = await scene.ends(Outcome.SUPERSEDED)
    assert "attempt 2 ended as failure as well" in result.reason


async def test_the_second_attempt_is_not_run_again(scene: Scene) -> None:
    loses_its_runner(scene)
    scene.run = scene.github.rerun(scene.run, "failure")
    await scene.start()
    await scene.ends(Outcome.INFRASTRUCTURE)
    assert (reruns(scene), scene.agent.tasks) == ([], [])


async def test_what_a_person_has_run_again_already_is_only_watched(scene: Scene) -> None:
    loses_its_runner(scene)
    scene.github.rerun(scene.run, None)
    await scene.start()
    await scene.waits_for(WATCHED)
    attempt_ends(scene, "success")
    await scene.ring()
    result = await scene.ends(Outcome.INFRASTRUCTURE)
    assert effects(result) == [("run.rerun", EffectState.DEDUPLICATED)]


async def test_nothing_is_run_again_where_only_reports_are_wanted(scene: Scene) -> None:
    loses_its_runner(scene)
    await scene.start(report_only=True)
    result = await scene.ends(Outcome.INFRASTRUCTURE)
    assert (result.reason.startswith("report_only: "), scene.github.effects) == (True, [])


async def test_a_cancelled_sweep_stops_watching(scene: Scene) -> None:
    await watched(scene)
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_a_re_run_that_never_ends_is_not_watched_for_ever(scene: Scene) -> None:
    await watched(scene, proposal_ttl=timedelta(hours=5))
    await scene.sleep(timedelta(hours=6))
    await scene.ends(Outcome.EXPIRED)


async def test_red_and_green_on_the_same_tree_is_flaky_and_no_agent_is_asked(scene: Scene) -> None:
    replies = [Reply(1, b"E   assert 41 == 42\n1 failed\n"), Reply(0, b"1 passed\n")]
    scene.sandbox.on("pytest", lambda _run: replies.pop(0) if len(replies) > 1 else replies[0])
    await scene.start()
    await scene.waits_for(WATCHED)
    attempt_ends(scene, "success")
    await scene.ring()
    result = await scene.ends(Outcome.FLAKY)
    assert (scene.agent.tasks, reruns(scene)) == ([], [EffectState.CREATED])
    assert "the same tree passes and fails here" in result.reason


async def test_a_pull_request_that_passes_where_this_fails_is_linked_and_nothing_is_made(scene: Scene) -> None:
    scene.push("by-ann", {"app.py": GREEN})
    number = scene.github.open_by("ann", "by-ann")
    scene.github.add_run("by-ann", conclusion="success", jobs=[FakeJob("test", conclusion="success", steps=())])
    await scene.start()
    result = await scene.result()
    assert (result.outcome, f"/pull/{number}" in result.reason) == (Outcome.ALREADY_FIXED_ELSEWHERE, True)
    assert (scene.agent.tasks, scene.github.pulls[number].state) == ([], "open")


async def test_an_attempt_that_a_person_stops_is_told_as_what_it_was(scene: Scene) -> None:
    await watched(scene)
    attempt_ends(scene, "cancelled")
    await scene.ring()
    result = await scene.ends(Outcome.INFRASTRUCTURE)
    assert result.reason.startswith("attempt 2 ended as cancelled; infrastructure: ")


async def test_a_sweep_that_watches_for_long_begins_a_new_history_and_goes_on_watching(scene: Scene) -> None:
    timeouts = SETTINGS.timeouts.model_copy(update={"history_events": 40})
    await watched(scene, timeouts=timeouts)
    first = (await scene.info()).execution.run_id
    for _ in range(20):
        await scene.ring()
        if (await scene.info()).execution.run_id != first:
            break
        await scene.looks_again()
    assert (await scene.info()).execution.run_id != first
    await scene.waits_for(WATCHED)
    attempt_ends(scene, "success")
    await scene.ring()
    await scene.ends(Outcome.INFRASTRUCTURE)
    assert reruns(scene) == [EffectState.CREATED]
