"""Runs for a pull request: the merge that CI built counts, and the fix goes to the pull request's own branch."""

import pytest

from sweeper.model import Outcome, VerdictKind
from sweeper.workflows.progress import known
from tests.support.agents import Turn
from tests.support.code_host_state import FakeJob
from tests.support.scene import FIXES, GREEN, Scene, edit, job_log

pytestmark = pytest.mark.slow

STEPS = (("Run pytest", "failure"),)
FEATURE = {"feature.py": "is_new = True\n"}


def opened(scene: Scene, files: dict[str, str]) -> int:
    """Somebody opens a pull request with a branch of these changes."""
    scene.push("feature", files, start="main")
    return scene.github.open_by("ann", "feature")


def fails(scene: Scene, number: int, merged_with: str | None = None) -> None:
    """Its CI ends red. `merged_with`: the log names the merge with that commit, as `actions/checkout` does."""
    head = scene.github.branches["feature"]
    merge = (f"HEAD is now at {'ab12' * 10} Merge {head} into {merged_with}",) if merged_with else ()
    log = job_log("pytest", *merge, "E   assert 41 == 42", "FAILED tests/test_app.py::test_answer - assert 41 == 42")
    scene.fails(FakeJob("test", steps=STEPS, log=log), branch="feature", event="pull_request", pull=number)


async def test_a_fix_is_proved_on_the_merge_that_ci_built_and_proposed_to_the_pull_requests_branch(
    scene: Scene,
) -> None:
    number = opened(scene, FEATURE)
    built_with = scene.push("main", {"base.py": "is_base = True\n"})
    fails(scene, number, built_with)
    scene.push("main", {"later.py": "is_later = True\n"})
    await scene.start_and_wait()
    (proposal,) = scene.ours
    assert (proposal.base, proposal.branch) == ("feature", scene.branch)
    assert sorted(scene.workspaces.commits[proposal.head_sha].files) == ["app.py", "feature.py"]
    assert "the merge that CI built" in proposal.body
    await scene.cancel()
    state = (await scene.ends(Outcome.CANCELLED)).state
    tested, shown = known(state.tested), known(state.reproduction)
    assert (tested.merged_with, tested.source) == (built_with, "the merge that the log names")
    assert sorted(scene.workspaces.commits[shown.commit].files) == ["app.py", "base.py", "feature.py"]
    assert state.attempts[-1].verdict.kind is VerdictKind.FIXED
    assert scene.github.pulls[number].state == "open"


async def test_the_failure_is_the_merges_even_if_the_branch_alone_is_green(scene: Scene) -> None:
    """The target wants what the branch does not have: only their merge is red."""
    scene.push("main", {"app.py": GREEN})
    number = opened(scene, FEATURE)
    built_with = scene.push("main", {"app.py": "answer = 41\n"})
    fails(scene, number, built_with)
    await scene.start()
    result = await scene.result()
    assert known(result.state.reproduction).is_red
    assert result.outcome is not Outcome.NOT_REPRODUCED


async def test_a_pull_request_that_conflicts_with_what_ci_built_is_said_and_not_fixed(scene: Scene) -> None:
    number = opened(scene, {"app.py": "answer = 40\n"})
    built_with = scene.push("main", {"app.py": "answer = 43\n"})
    fails(scene, number, built_with)
    await scene.start()
    result = await scene.ends(Outcome.UNVERIFIABLE)
    assert result.reason.startswith("conflict: ")
    assert (scene.told.conclusion, scene.told.summary) == ("neutral", result.reason)
    assert (scene.agent.tasks, scene.ours) == ([], [])


async def test_a_pull_request_that_only_lacks_what_its_target_has_is_to_be_updated(scene: Scene) -> None:
    number = opened(scene, FEATURE)
    fails(scene, number, scene.github.branches["main"])
    scene.push("main", {"app.py": GREEN})
    await scene.start()
    result = await scene.ends(Outcome.ALREADY_FIXED_ELSEWHERE)
    assert f"update pull request {number}" in result.reason
    assert scene.told.summary == result.reason
    assert (scene.agent.tasks, scene.ours) == ([], [])


async def test_a_target_that_moved_on_without_the_fix_is_no_reason_to_stop(scene: Scene) -> None:
    number = opened(scene, FEATURE)
    fails(scene, number, scene.github.branches["main"])
    scene.push("main", {"later.py": "is_later = True\n"})
    await scene.start_and_wait()
    assert [proposal.base for proposal in scene.ours] == ["feature"]
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_a_fix_that_does_not_fit_the_merge_is_no_fix(scene: Scene) -> None:
    number = opened(scene, FEATURE)
    fails(scene, number, scene.push("main", {"base.py": "is_base = True\n"}))
    scene.agent_does(edit({"app.py": GREEN, "base.py": "is_base = False\n"}))
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert "it conflicts with what CI merges it with" in result.reason
    assert scene.workspaces.effects == []


async def test_without_a_checkout_in_the_log_githubs_own_record_of_the_target_counts(scene: Scene) -> None:
    number = opened(scene, FEATURE)
    target = scene.push("main", {"base.py": "is_base = True\n"})
    fails(scene, number)
    await scene.start(report_only=True)
    state = (await scene.ends(Outcome.LEFT_TO_HUMAN)).state
    assert known(state.tested).merged_with == target
    assert state.attempts[-1].verdict.kind is VerdictKind.FIXED


async def test_a_forks_pull_request_is_left_to_people_and_no_agent_sees_it(scene: Scene) -> None:
    number = scene.github.open_from_fork("stranger", "patch-1")
    scene.agent.turns = [Turn(edit=FIXES(scene.workspaces))]
    scene.fails(
        FakeJob("test", steps=STEPS),
        sha=scene.github.pulls[number].head_sha,
        branch="patch-1",
        event="pull_request",
        fork="stranger/app",
        pull=number,
    )
    await scene.start()
    result = await scene.ends(Outcome.LEFT_TO_HUMAN)
    assert "stranger/app" in result.reason
    assert (scene.agent.tasks, scene.sandbox.runs, scene.workspaces.calls) == ([], [], [])
    assert (scene.github.effects, scene.github.pulls[number].state) == ([], "open")
