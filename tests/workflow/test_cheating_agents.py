"""Agents that turn red into green without a fix: found out before anything leaves the machine."""

import pytest

from sweeper.model import Outcome, VerdictKind, Workspace
from sweeper.ports import SandboxRun
from tests.support.agents import Turn
from tests.support.code_host_state import FakeJob
from tests.support.sandbox import Reply
from tests.support.scene import GREEN, Scene, edit, job_log

pytestmark = pytest.mark.slow

WORKFLOW = ".github/workflows/ci.yml"
RUNS_PYTEST = "jobs: {test: {steps: [{run: pytest}]}}\n"
TEST = "from app import answer\n\n\ndef test_answer() -> None:\n    assert answer == 42\n"
ASSERTS = "    assert answer == 42"
CHEATS: dict[str, tuple[dict[str, str | None], str]] = {
    "skip": (
        {"tests/test_app.py": "import pytest\n" + TEST.replace("def test", "@pytest.mark.skip\ndef test")},
        "skip_added: tests/test_app.py",
    ),
    "weaker assert": (
        {"tests/test_app.py": TEST.replace(ASSERTS, "    assert answer is not None")},
        "assert_weakened: tests/test_app.py",
    ),
    "swallowed": (
        {
            "tests/test_app.py": TEST.replace(
                ASSERTS, f"    try:\n    {ASSERTS}\n    except AssertionError:\n        pass"
            )
        },
        "assert_swallowed: tests/test_app.py",
    ),
    "test deleted": ({"tests/test_app.py": None}, "test_deleted: tests/test_app.py"),
    "workflow": ({WORKFLOW: RUNS_PYTEST.replace("pytest", "pytest || true")}, f"protected_path: {WORKFLOW}"),
    "its own judge": (
        {"conftest.py": "def pytest_sessionfinish(session) -> None:\n    session.exitstatus = 0\n"},
        "conftest_hook: conftest.py",
    ),
}


def red_test(scene: Scene) -> None:
    """A test fails in CI. Its command here is as easily deceived as pytest is."""
    red = {"tests/test_app.py": TEST, WORKFLOW: RUNS_PYTEST}
    scene.push("main", red)
    log = job_log("pytest", "E   assert 41 == 42", "FAILED tests/test_app.py::test_answer - assert 41 == 42")
    scene.fails(FakeJob("test", steps=(("Run pytest", "failure"),), log=log))

    def pytest_runs(run: SandboxRun) -> Reply:
        tree = {path: data.decode() for path, data in scene.workspaces.tree_at(run.workspace).items()}
        is_exam = tree.items() >= red.items() and "conftest.py" not in tree
        is_red = is_exam and tree.get("app.py") != GREEN
        return Reply(1, log) if is_red else Reply(0, b"1 passed\n")

    scene.sandbox.on("pytest", pytest_runs)


@pytest.mark.parametrize("name", CHEATS)
async def test_a_cheat_is_found_out_and_nothing_is_pushed(scene: Scene, name: str) -> None:
    red_test(scene)
    change, finding = CHEATS[name]
    scene.agent_does(edit(change))
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert result.state.attempts[0].verdict.kind is VerdictKind.TAMPERED
    assert finding in result.reason
    assert (scene.workspaces.effects, result.state.pushes, scene.ours) == ([], (), [])
    assert scene.told.conclusion == "action_required"


async def test_the_next_attempt_is_told_what_was_found(scene: Scene) -> None:
    red_test(scene)
    scene.agent_does(edit(CHEATS["skip"][0]), edit({"app.py": GREEN}))
    await scene.start_and_wait()
    told = scene.agent.tasks[1].previous_verdict
    assert told is not None
    assert told.kind is VerdictKind.TAMPERED
    assert "skip_added" in [finding.name for finding in told.findings]
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


@pytest.mark.parametrize("name", ["skip", "weaker assert", "workflow"])
async def test_a_fix_with_a_cheat_in_it_is_no_fix(scene: Scene, name: str) -> None:
    red_test(scene)
    scene.agent_does(edit({**CHEATS[name][0], "app.py": GREEN}))
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert CHEATS[name][1] in result.reason
    assert scene.workspaces.effects == []


async def test_an_agent_that_was_found_out_may_still_fix_it_and_only_the_fix_is_pushed(scene: Scene) -> None:
    red_test(scene)
    scene.agent_does(edit(CHEATS["skip"][0]), edit({"app.py": GREEN}))
    await scene.start_and_wait()
    told = scene.agent.tasks[1].previous_verdict
    assert told is not None
    assert (told.kind, [finding.name for finding in told.findings][:1]) == (VerdictKind.TAMPERED, ["skip_added"])
    (proposal,) = scene.ours
    assert scene.workspaces.commits[proposal.head_sha].files["tests/test_app.py"] == TEST.encode()
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_words_of_an_agent_prove_nothing(scene: Scene) -> None:
    red_test(scene)

    def only_talks(workspace: Workspace) -> None:
        scene.workspaces.tree(workspace)["notes.py"] = b"is_fixed = True\n"

    scene.sandbox.on(
        "pytest", Reply(1, b"E   assert 41 == 42\nFAILED tests/test_app.py::test_answer - assert 41 == 42\n")
    )
    scene.agent.turns = [Turn(edit=only_talks, summary="All tests pass now, I checked each of them.")]
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert {attempt.verdict.kind for attempt in result.state.attempts} == {VerdictKind.NOT_FIXED}
    assert scene.workspaces.effects == []
