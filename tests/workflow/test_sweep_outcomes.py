"""All the ways in which a sweep ends without a merge. Each story ends with nothing left over."""

from datetime import timedelta
from itertools import cycle

import pytest

from sweeper.model import Outcome, ReviewState, Step, VerdictKind, Workspace
from sweeper.ports import SandboxRun
from sweeper.workflows.progress import known
from tests.support.agents import Turn
from tests.support.code_host_state import FakeJob
from tests.support.sandbox import Reply
from tests.support.scene import CHANGES_NOTHING, FIXES, FIXES_MORE, GREEN, MISSES, Scene, edit

pytestmark = pytest.mark.slow
JOB = FakeJob("test", steps=(("Run pytest", "failure"),))


async def test_a_failure_that_does_not_show_here_is_not_worked_on(scene: Scene) -> None:
    scene.sandbox.on("pytest", Reply(0))
    await scene.start()
    await scene.ends(Outcome.NOT_REPRODUCED)
    assert (scene.agent.tasks, scene.github.pulls) == ([], {})


async def test_a_missing_program_proves_nothing(scene: Scene) -> None:
    scene.sandbox.on("pytest", Reply(127, b"bash: line 1: pytest: command not found\n"))
    await scene.start()
    result = await scene.ends(Outcome.UNVERIFIABLE)
    assert result.reason == "missing program 'pytest': it was looked for in /usr/bin:/bin"
    assert scene.agent.tasks == []


async def test_a_check_that_hits_its_limit_proves_nothing(scene: Scene) -> None:
    scene.sandbox.on("pytest", Reply(None, limit="time"))
    await scene.start()
    assert (await scene.ends(Outcome.UNVERIFIABLE)).reason == "check 'test' was ended by its time limit"


async def test_a_job_that_cannot_be_run_here_proves_nothing(scene: Scene) -> None:
    scene.github.set_file(".github/workflows/ci.yml", b"jobs: {test: {steps: [{run: pytest, shell: pwsh}]}}")
    await scene.start()
    assert "shell 'pwsh'" in (await scene.ends(Outcome.UNVERIFIABLE)).reason
    assert scene.workspaces.calls == []


async def test_exhausted_attempts_are_escalated_with_the_last_verdict(scene: Scene) -> None:
    scene.agent_does(MISSES, CHANGES_NOTHING, edit({"app.py": "answer = 44\n"}))
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert result.reason == "no verified fix after 3 attempt(s): check 'test' ended with exit code 1"
    assert [attempt.verdict.kind for attempt in result.state.attempts] == [VerdictKind.NOT_FIXED] * 3
    assert scene.github.pulls == {}


async def test_each_attempt_starts_clean_and_is_told_the_verdict_before(scene: Scene) -> None:
    seen: list[bytes] = []

    def look_and_fix(workspace: Workspace) -> None:
        seen.append(scene.workspaces.tree(workspace)["app.py"])
        FIXES(scene.workspaces)(workspace)

    scene.agent.turns = [Turn(edit=MISSES(scene.workspaces)), Turn(edit=look_and_fix)]
    await scene.start_and_wait()
    assert seen == [b"answer = 41\n"]
    assert scene.agent.tasks[0].previous_verdict is None
    previous = scene.agent.tasks[1].previous_verdict
    assert previous is not None
    assert previous.kind is VerdictKind.NOT_FIXED
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


@pytest.mark.parametrize(
    ("change", "size"),
    [
        ({f"file{n}.py": "x\n" for n in range(4)}, "files (4, at most 3 allowed)"),
        ({"big.py": "x\n" * 30}, "lines (30, at most 20 allowed)"),
    ],
    ids=["files", "lines"],
)
async def test_too_large_a_change_is_escalated_at_once(scene: Scene, change: dict[str, str | None], size: str) -> None:
    scene.agent_does(edit(change))
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert result.reason.startswith("diff_too_large: ")
    assert size in result.reason
    assert len(result.state.attempts) == 1


async def test_a_fix_that_is_green_only_sometimes_is_not_proposed(scene: Scene) -> None:
    ends = cycle([0, 1])

    def sometimes(run: SandboxRun) -> Reply:
        is_fixed = scene.workspaces.tree_at(run.workspace)["app.py"] == GREEN.encode()
        return Reply(next(ends) if is_fixed else 1)

    scene.sandbox.on("pytest", sometimes)
    await scene.start(max_attempts=1)
    result = await scene.ends(Outcome.ESCALATED)
    assert result.state.attempts[0].verdict.kind is VerdictKind.FLAKY
    assert scene.github.pulls == {}


async def test_a_push_by_a_human_leaves_the_branch_to_them(scene: Scene) -> None:
    await scene.start_and_wait()
    proven = scene.pull.head_sha
    pushed = scene.push(scene.branch, {"app.py": "answer = 6 * 7\n"})
    await scene.ring()
    await scene.ends(Outcome.LEFT_TO_HUMAN)
    assert scene.github.branches[scene.branch] == pushed
    assert scene.pull.state == "open"
    assert f"for `{proven[:12]}` only" in scene.pull.comments[-1].body


async def test_a_push_by_a_human_during_the_second_attempt_is_not_overwritten(scene: Scene) -> None:
    await scene.start_and_wait()
    pushed: list[str] = []

    def fix_while_somebody_pushes(workspace: Workspace) -> None:
        pushed.append(scene.push(scene.branch, {"app.py": "answer = 6 * 7\n"}))
        FIXES_MORE(scene.workspaces)(workspace)

    scene.agent.turns = [Turn(edit=fix_while_somebody_pushes)]
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await scene.ends(Outcome.LEFT_TO_HUMAN)
    assert scene.github.branches[scene.branch] == pushed[0]


async def test_a_closed_proposal_is_cleaned_up(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    assert (await scene.ends(Outcome.CLOSED)).reason == "closed by ann"


async def test_a_deleted_branch_ends_the_sweep(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.github.delete_branch(scene.branch, "ann")
    await scene.ring()
    await scene.ends(Outcome.CLOSED)


async def test_a_deleted_target_closes_the_proposal(scene: Scene) -> None:
    await scene.start_and_wait()
    del scene.github.branches["main"]
    await scene.ring()
    assert (await scene.ends(Outcome.CLOSED)).reason == "the target branch is gone"


async def test_report_only_writes_nothing(scene: Scene) -> None:
    await scene.start(report_only=True)
    result = await scene.ends(Outcome.LEFT_TO_HUMAN)
    assert result.reason.startswith("report_only")
    assert result.state.attempts[0].verdict.kind is VerdictKind.FIXED
    assert (scene.github.effects, scene.workspaces.effects) == ([], [])
    assert result.state.checked_sha is None


async def test_a_run_that_is_green_later_is_flaky(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.github.rerun(scene.run, "success")
    await scene.ring()
    await scene.ends(Outcome.FLAKY)
    assert "looks flaky, not broken" in scene.pull.comments[-1].body


async def test_a_run_that_is_green_before_the_proposal_is_not_proposed_for(scene: Scene) -> None:
    def fix_while_a_rerun_passes(workspace: Workspace) -> None:
        scene.run_ends("success")
        FIXES(scene.workspaces)(workspace)

    scene.agent.turns = [Turn(edit=fix_while_a_rerun_passes)]
    await scene.start()
    await scene.ends(Outcome.FLAKY)
    assert scene.github.pulls == {}


def pushing(scene: Scene, files: dict[str, str], ci: str | None = None) -> list[Turn]:
    """An agent that fixes while somebody pushes to the target, and CI of that push ends at once."""

    def fix_meanwhile(workspace: Workspace) -> None:
        sha = scene.push("main", files)
        if ci is not None:
            scene.github.add_run("main", sha=sha, conclusion=ci, jobs=[JOB])
        FIXES(scene.workspaces)(workspace)

    return [Turn(edit=fix_meanwhile)]


@pytest.mark.parametrize("ci", [None, "failure"])
async def test_a_fix_is_proposed_for_the_target_that_moved_once_it_is_proved_there(
    scene: Scene, ci: str | None
) -> None:
    scene.agent.turns = pushing(scene, {"other.py": "x = 1\n"}, ci)
    await scene.start_and_wait()
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert result.state.verified_target is not None
    assert result.state.verified_target != known(result.state.facts).head_sha
    assert len(result.state.attempts) == 1


@pytest.mark.parametrize(
    ("files", "ci", "reason"),
    [
        ({"app.py": "answer = 42\n"}, None, "head_moved: every check passes on"),
        ({"other.py": "x = 1\n"}, "success", "head_moved: main is at"),
        ({"app.py": "answer = 40\n"}, None, "head_moved: no fix on"),
    ],
)
async def test_a_target_that_moves_to_where_the_fix_is_of_no_use_supersedes_it(
    scene: Scene, files: dict[str, str], ci: str | None, reason: str
) -> None:
    scene.agent.turns = pushing(scene, files, ci)
    await scene.start()
    assert (await scene.ends(Outcome.SUPERSEDED)).reason.startswith(reason)
    assert scene.github.pulls == {}


async def test_a_forks_code_is_left_alone(scene: Scene) -> None:
    scene.run = scene.github.add_run("main", fork="stranger/app", jobs=[JOB])
    await scene.start()
    assert "stranger/app" in (await scene.ends(Outcome.LEFT_TO_HUMAN)).reason
    assert (scene.workspaces.calls, scene.sandbox.runs) == ([], [])


async def test_a_run_that_still_goes_on_is_waited_for(scene: Scene) -> None:
    scene.run = scene.github.add_run("main", conclusion=None, jobs=[JOB])
    await scene.start()
    told = await scene.waits_for("the run to end")
    assert told.current_step is Step.ADMIT
    scene.run_ends("failure")
    await scene.sleep(timedelta(hours=4))
    await scene.waits_for("review")
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)
