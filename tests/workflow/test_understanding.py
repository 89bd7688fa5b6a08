"""What a sweep makes of a failure before code is changed: whose business it is, how it shows, what else is known."""

import pytest

from sweeper.model import Annotation, EffectState, Outcome, VerdictKind
from sweeper.policy.repository_config import CONFIG_PATH
from sweeper.workflows.progress import known
from sweeper.workflows.rerun import WATCHED
from tests.support.code_host_state import FakeJob
from tests.support.sandbox import Reply
from tests.support.scene import FIXES, GREEN, Scene, job_log

pytestmark = pytest.mark.slow

STEPS = (("Run pytest", "failure"),)
WORKFLOW = ".github/workflows/ci.yml"
TEST_LOG = job_log("pytest", "E   assert 41 == 42", "FAILED tests/test_app.py::test_answer - assert 41 == 42")
LINT_LOG = job_log("ruff check .", "app.py:1:1: F401 [*] `os` imported but unused", "Found 1 error.")
NOTHING_TOLD = Annotation(level="failure", message="Process completed with exit code 1.")
RUNNER_LOST = Annotation(level="failure", message="The hosted runner lost communication with the server. Anything in")
OVER_TIME = Annotation(level="failure", message="The job has exceeded the maximum execution time of 20m0s")
CANCELLED = Annotation(level="failure", message="The operation was canceled.")
PYTHONS = ("3.9", "3.10", "3.11", "3.12")
MATRIX = b"jobs: {test: {strategy: {matrix: {py: ['3.9', '3.10', '3.11', '3.12']}}, steps: [{run: pytest}]}}"


def untouched(scene: Scene) -> bool:
    """No agent was asked, nothing was pushed or proposed."""
    writes = {effect.name for effect in (*scene.github.effects, *scene.workspaces.effects)}
    return scene.agent.tasks == [] and writes.isdisjoint({"branch.push", "pull.create"})


def reruns(scene: Scene) -> list[EffectState]:
    return [effect.state for effect in scene.github.effects if effect.name == "run.rerun"]


def commands(scene: Scene) -> list[str]:
    """All that was run in the sandbox."""
    return [" ".join(run.argv) for run in scene.sandbox.runs]


# Whose business it is


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("action-semantic-pull-request", 'No release type found in pull request title "Mend it"'),
        ("label-checker", "Label error. Requires at least 1 of: bug, enhancement. Found: "),
    ],
    ids=["title", "label"],
)
async def test_words_of_a_pull_request_are_its_authors_to_mend_and_the_commit_says_so(
    scene: Scene, script: str, words: str
) -> None:
    scene.push("feature", {"feature.py": "is_new = True\n"}, start="main")
    number = scene.github.open_by("ann", "feature")
    scene.github.set_file(WORKFLOW, f"jobs: {{words: {{steps: [{{uses: some/{script}@v5}}]}}}}".encode())
    log = job_log(f"some/{script}@v5", f"##[error]{words}")
    steps = ((f"Run some/{script}@v5", "failure"),)
    scene.fails(FakeJob("words", steps=steps, log=log), branch="feature", event="pull_request", pull=number)
    await scene.start()
    result = await scene.ends(Outcome.OUTSIDE_CODE)
    assert words[:30] in result.reason
    assert (scene.told.sha, scene.told.conclusion) == (scene.github.branches["feature"], "neutral")
    assert words[:30] in scene.told.summary
    assert (untouched(scene), scene.sandbox.runs, sorted(scene.github.branches)) == (True, [], ["feature", "main"])


# What is known of it


@pytest.mark.parametrize("log", [None, b""], ids=["gone", "empty"])
async def test_without_a_log_and_a_note_that_tells_why_a_human_is_told_and_nothing_is_guessed(
    scene: Scene, log: bytes | None
) -> None:
    scene.fails(FakeJob("test", steps=STEPS, log=log, annotations=(NOTHING_TOLD,)))
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert "no evidence" in result.reason
    assert (untouched(scene), scene.sandbox.runs, reruns(scene)) == (True, [], [])
    assert (scene.told.conclusion, "no evidence" in scene.told.summary) == ("action_required", True)


@pytest.mark.parametrize(
    ("run_ended", "job_ended", "note"),
    [("failure", "failure", RUNNER_LOST), ("cancelled", "cancelled", OVER_TIME)],
    ids=["runner lost", "time limit"],
)
async def test_without_a_log_a_note_that_tells_why_is_enough(
    scene: Scene, run_ended: str, job_ended: str, note: Annotation
) -> None:
    job = FakeJob("test", conclusion=job_ended, steps=(("Run pytest", job_ended),), log=None, annotations=(note,))
    scene.fails(job, conclusion=run_ended)
    await scene.start()
    await scene.waits_for(WATCHED)
    scene.newest_attempt_ends("success")
    await scene.ring()
    result = await scene.ends(Outcome.INFRASTRUCTURE)
    assert note.message[:40] in result.reason
    assert (untouched(scene), reruns(scene)) == (True, [EffectState.CREATED])


async def test_a_run_that_a_person_cancelled_is_nothing_to_fix(scene: Scene) -> None:
    job = FakeJob("test", conclusion="cancelled", steps=(("Run pytest", "cancelled"),), annotations=(CANCELLED,))
    scene.fails(job, conclusion="cancelled")
    await scene.start()
    assert "cancelled" in (await scene.ends(Outcome.CLOSED)).reason
    assert (untouched(scene), reruns(scene)) == (True, [])


async def test_a_job_that_was_stopped_is_neither_fixed_nor_run_again(scene: Scene) -> None:
    log = job_log("pytest", "collected 3 items", "##[error]The operation was canceled.")
    scene.fails(FakeJob("test", steps=STEPS, log=log))
    await scene.start()
    assert "cancelled" in (await scene.ends(Outcome.ESCALATED)).reason
    assert (untouched(scene), reruns(scene)) == (True, [])


@pytest.mark.parametrize("green_is", ["earlier", "later"])
async def test_the_same_commit_that_passed_in_another_attempt_is_flaky(scene: Scene, green_is: str) -> None:
    if green_is == "later":
        scene.github.rerun(scene.run, "success")
    else:
        scene.run_ends("success")
        scene.run = scene.github.rerun(scene.run, "failure")
    await scene.start()
    result = await scene.ends(Outcome.FLAKY)
    assert "the same commit passed in attempt" in result.reason
    assert (untouched(scene), scene.sandbox.runs, reruns(scene)) == (True, [], [])


async def test_what_is_known_of_it_elsewhere_stands_in_the_proposal(scene: Scene) -> None:
    scene.sweeps.earlier = ("sweep-9-1",)
    scene.github.add_run("main", event="schedule", jobs=[FakeJob("test", steps=STEPS)])
    await scene.start_and_wait()
    body = scene.pull.body
    assert "The head of `main` fails in the same way." in body
    assert "Seen in earlier sweeps: `sweep-9-1`." in body
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


# Many jobs


async def test_jobs_with_one_cause_get_one_proposal_that_lists_them(scene: Scene) -> None:
    scene.github.set_file(WORKFLOW, MATRIX)
    names = [f"test ({version})" for version in PYTHONS]
    scene.fails(*(FakeJob(name, steps=STEPS, log=TEST_LOG) for name in names))
    await scene.start_and_wait()
    assert len(scene.agent.tasks) == 1
    assert "4 jobs" in scene.pull.body
    assert [name for name in names if f"`{name}`" not in scene.pull.body] == []
    await scene.cancel()
    state = (await scene.ends(Outcome.CANCELLED)).state
    diagnosis = known(state.diagnosis)
    assert len(known(state.plan).checks) == 1
    assert [reason for reason in diagnosis.reasons if reason.startswith("test: ")] == [diagnosis.reasons[0]]
    assert "4 jobs alike" in diagnosis.reasons[0]


async def test_one_job_of_a_matrix_has_the_signature_of_all_of_them(scene: Scene) -> None:
    scene.github.set_file(WORKFLOW, MATRIX)
    signatures = []
    for versions in (PYTHONS, PYTHONS[2:3]):
        scene.fails(*(FakeJob(f"test ({version})", steps=STEPS, log=TEST_LOG) for version in versions))
        await scene.start(report_only=True)
        signatures.append(known((await scene.ends(Outcome.LEFT_TO_HUMAN)).state.diagnosis).signature)
    assert len(set(signatures)) == 1


async def test_jobs_with_causes_of_their_own_are_each_named_with_theirs(scene: Scene) -> None:
    scene.github.set_file(WORKFLOW, b"jobs: {test: {steps: [{run: pytest}]}, lint: {steps: [{run: ruff check .}]}}")
    scene.sandbox.on("ruff", lambda run: Reply(0 if is_mended(scene, run.workspace) else 1, LINT_LOG))
    lint = FakeJob("lint", steps=(("Run ruff check .", "failure"),), log=LINT_LOG)
    scene.fails(FakeJob("test", steps=STEPS, log=TEST_LOG), lint)
    await scene.start_and_wait()
    body = scene.pull.body
    assert "2 jobs, `lint`, `test`, of" in body
    assert "test: job 'test', step 'Run pytest'" in body
    assert "lint: job 'lint', step 'Run ruff check .'" in body
    assert any("ruff check" in command for command in commands(scene))
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


def is_mended(scene: Scene, path: str) -> bool:
    return scene.workspaces.tree_at(path)["app.py"] == GREEN.encode()


# What the repository says of itself


async def test_checks_and_setup_of_the_repository_win_over_its_workflow(scene: Scene) -> None:
    scene.github.set_file(CONFIG_PATH, b"setup: [make deps]\nchecks: [make check]\n")
    scene.sandbox.on("make deps", Reply(0))
    scene.sandbox.on("make check", lambda run: Reply(0 if is_mended(scene, run.workspace) else 1))
    await scene.start_and_wait()
    ran = commands(scene)
    assert (any("make deps" in one for one in ran), any("make check" in one for one in ran)) == (True, True)
    assert not any("pytest" in one for one in ran)
    await scene.cancel()
    plan = known((await scene.ends(Outcome.CANCELLED)).state.plan)
    assert [check.command for check in plan.checks] == ["make check"]
    assert plan.source == CONFIG_PATH


async def test_a_branch_cannot_bring_rules_of_its_own(scene: Scene) -> None:
    head = scene.push("feature", {"feature.py": "is_new = True\n"}, start="main")
    scene.github.set_file(CONFIG_PATH, b"checks: ['true']\n", head)
    scene.fails(FakeJob("test", steps=STEPS), branch="feature")
    await scene.start_and_wait()
    await scene.cancel()
    plan = known((await scene.ends(Outcome.CANCELLED)).state.plan)
    assert [check.command for check in plan.checks] == ["pytest"]


async def test_a_path_that_the_repository_protects_is_not_changed_by_a_fix(scene: Scene) -> None:
    scene.github.set_file(CONFIG_PATH, b"protected: ['app.*']\n")
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert result.state.attempts[0].verdict.kind is VerdictKind.TAMPERED
    assert "protected_path: app.py" in result.reason
    assert scene.workspaces.effects == []


async def test_a_repository_may_ask_for_smaller_changes(scene: Scene) -> None:
    scene.github.set_file(CONFIG_PATH, b"limits:\n  lines: 1\n")
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert result.reason.startswith("diff_too_large: ")
    assert "at most 1 allowed" in result.reason
    assert scene.workspaces.effects == []


async def test_a_mistake_in_the_repositorys_settings_is_named_and_nothing_is_tried(scene: Scene) -> None:
    scene.github.set_file(CONFIG_PATH, b"setup: [make deps]\nprotcted: [docs]\n")
    await scene.start()
    result = await scene.ends(Outcome.UNVERIFIABLE)
    said = f"{CONFIG_PATH}, line 2: there is no setting 'protcted', did you mean 'protected'?"
    assert (result.reason, scene.told.summary) == (said, said)
    assert (untouched(scene), scene.sandbox.runs) == (True, [])


# Whether it can be shown here


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ("{steps: [{run: ./login, env: {KEY: '${{ secrets.API_KEY }}'}}, {run: pytest}]}", "secret"),
        ("{services: {db: {image: postgres}}, steps: [{run: pytest}]}", "service"),
        ("{container: 'node:20', steps: [{run: pytest}]}", "container"),
        ("{steps: [{uses: some/made-up-action@v1}, {run: pytest}]}", "'some/made-up-action@v1'"),
    ],
    ids=["secret", "service", "container", "action"],
)
async def test_a_plan_that_needs_what_is_not_here_ends_with_the_reason_on_the_commit(
    scene: Scene, job: str, why: str
) -> None:
    scene.github.set_file(WORKFLOW, f"jobs: {{test: {job}}}".encode())
    scene.fails(FakeJob("test", steps=STEPS, log=TEST_LOG))
    await scene.start()
    result = await scene.ends(Outcome.UNVERIFIABLE)
    assert why in result.reason
    assert CONFIG_PATH in result.reason
    assert (scene.told.summary, scene.told.conclusion) == (result.reason, "neutral")
    assert (untouched(scene), scene.sandbox.runs) == (True, [])


async def test_red_for_another_reason_than_in_ci_proves_nothing(scene: Scene) -> None:
    scene.fails(FakeJob("test", steps=STEPS, log=TEST_LOG))
    output = b"E   ModuleNotFoundError: No module named 'numpy'\nERROR tests/test_app.py\n1 error in 0.1s\n"
    scene.sandbox.on("pytest", Reply(2, output))
    await scene.start()
    result = await scene.ends(Outcome.UNVERIFIABLE)
    assert result.reason == "fails here for another reason than in CI: 1 error in 0.1s"
    assert untouched(scene)


async def test_red_for_the_same_reason_as_in_ci_is_worked_on(scene: Scene) -> None:
    scene.fails(FakeJob("test", steps=STEPS, log=TEST_LOG))
    scene.agent_does(FIXES)
    await scene.start_and_wait()
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)
