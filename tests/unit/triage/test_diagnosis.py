import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.model import (
    Action,
    Annotation,
    ArtifactRef,
    Background,
    Check,
    CheckPlan,
    Diagnosis,
    FailureClass,
    JobEvidence,
)
from sweeper.policy.triage import diagnose
from sweeper.policy.triage.diagnosis import MAX_LINE, MAX_LINES
from tests.support.values import job, run_facts, run_ref
from tests.unit.triage.test_reader import EXIT, actions_log, run_step

PLAN = CheckPlan(checks=(Check(name="test", job="test", command="./check"),), source="workflow file")
OPERATORS = CheckPlan(checks=(Check(name="check 1", command="./check"),), source="operator's checks")
SECOND = run_facts(run=run_ref(run_attempt=2))


def evidence(name: str = "test", *notes: str, conclusion: str = "failure", step: str | None = "Run x") -> JobEvidence:
    found = job(name, failing=step)
    facts = found.job.model_copy(update={"conclusion": conclusion})
    annotations = tuple(Annotation(level="failure", message=note, path=".github") for note in notes)
    log = ArtifactRef(digest="sha256:0", size=1)
    return found.model_copy(update={"job": facts, "annotations": annotations, "log": log})


def of_log(
    *lines: str, facts: object = None, plan: CheckPlan = PLAN, background: Background | None = None
) -> Diagnosis:
    chosen = SECOND if facts else run_facts()
    return diagnose(chosen, [evidence()], [actions_log(*lines)], plan, background or Background())


@pytest.mark.parametrize(
    ("script", "output", "failure_class"),
    [
        ("pytest", ["FAILED a.py::b - KeyError"], FailureClass.TEST),
        ("ruff check .", ["a.py:1:1: E501 Line too long"], FailureClass.LINT),
        ("make all", ["a.py:3: error: wrong  [return-value]"], FailureClass.TYPE),
        ("pytest -q", ["words"], FailureClass.TEST),
        ("npx eslint .", [], FailureClass.LINT),
        ("./all", ["words"], FailureClass.UNKNOWN),
    ],
)
def test_the_words_of_a_tool_go_before_its_name(script: str, output: list[str], failure_class: FailureClass) -> None:
    found = of_log(*run_step(script, *output, exit_code=1), plan=CheckPlan())
    assert found.failure_class is failure_class
    assert found.command == script


def test_words_of_steps_that_passed_decide_nothing() -> None:
    found = of_log(
        *run_step("lint || true", "a.py:1:1: E501 Line too long", "Found 1 error."),
        *run_step("pytest", "ok", "##[error]ERROR in a log line of a passing test", "FAILED a.py::b", exit_code=1),
        "Post job cleanup.",
        "a.py:1: error: not this  [x]",
        plan=CheckPlan(),
    )
    assert (found.failure_class, found.tests) == (FailureClass.TEST, ("a.py::b",))


@pytest.mark.parametrize("red_herring", ["0 failed", "0 errors, 0 warnings", "test_error_handling PASSED", "no error"])
def test_the_word_error_alone_says_nothing(red_herring: str) -> None:
    assert of_log(*run_step("./all", red_herring, exit_code=1)).failure_class is FailureClass.UNKNOWN


def test_code_that_failed_is_to_be_fixed_in_any_attempt() -> None:
    lines = run_step("pytest", "FAILED a.py::b", exit_code=1)
    assert of_log(*lines).action is of_log(*lines, facts=SECOND).action is Action.FIX


def test_an_unknown_failure_with_a_check_may_be_fixed_and_without_one_a_human_is_told() -> None:
    lines = run_step("./all", "words", exit_code=1)
    assert of_log(*lines).action is Action.FIX
    assert "the check shows" in of_log(*lines).reasons[0]
    assert of_log(*lines, plan=CheckPlan(unverifiable="no")).action is Action.TELL_HUMAN


def test_a_killed_process_is_infrastructure_whatever_it_said_before() -> None:
    found = of_log(*run_step("pytest", "FAILED a.py::b", exit_code=137))
    assert (found.failure_class, found.action) == (FailureClass.INFRASTRUCTURE, Action.RERUN_ONCE)
    assert "137" in found.reasons[0]


def test_infrastructure_is_run_again_once_and_then_a_human_is_told() -> None:
    line = "##[error]The runner has received a shutdown signal. This can happen when the runner service is stopped."
    assert of_log(line).action is Action.RERUN_ONCE
    again = of_log(line, facts=SECOND)
    assert (again.failure_class, again.action) == (FailureClass.INFRASTRUCTURE, Action.TELL_HUMAN)


@pytest.mark.parametrize(
    "note",
    [
        "The job has exceeded the maximum execution time of 20m0s",
        "System.IO.IOException: No space left on device : '/home/runner/_diag/Worker_1.log'",
        "The hosted runner lost communication with the server. Anything in your workflow ...",
        "GitHub Actions has encountered an internal error when running your job.",
    ],
)
@pytest.mark.parametrize("conclusion", ["failure", "cancelled"])
def test_a_note_that_tells_why_is_enough_without_a_log(note: str, conclusion: str) -> None:
    jobs = [evidence("test", "The operation was canceled.", note, conclusion=conclusion)]
    found = diagnose(run_facts(), jobs, [None], PLAN)
    assert (found.failure_class, found.action) == (FailureClass.INFRASTRUCTURE, Action.RERUN_ONCE)
    assert note[:40] in found.reasons[0]


def test_the_note_of_a_problem_matcher_stands_for_a_lost_log() -> None:
    note = Annotation(level="failure", message="src/a.py:3:8: F401 `os` imported but unused", path="src/a.py", line=3)
    found = evidence().model_copy(update={"annotations": (note,), "log": None})
    told = diagnose(run_facts(), [found], [None], PLAN)
    assert (told.failure_class, told.action, told.files) == (FailureClass.LINT, Action.FIX, ("src/a.py",))


def test_a_warning_among_the_notes_is_no_reason() -> None:
    noted = Annotation(level="warning", message="No space left on device: the cache was not saved", path=".github")
    job_with_note = evidence().model_copy(update={"annotations": (noted,)})
    found = diagnose(run_facts(), [job_with_note], [actions_log("FAILED a.py::b", EXIT.format(1))], PLAN)
    assert found.failure_class is FailureClass.TEST
    lost = job_with_note.model_copy(update={"log": None, "log_missing": "404"})
    assert diagnose(run_facts(), [lost], [None], PLAN).reasons[0].startswith("no evidence: ")


def test_a_job_over_its_time_limit_is_infrastructure() -> None:
    found = diagnose(run_facts(), [evidence(conclusion="timed_out")], [None], PLAN)
    assert found.failure_class is FailureClass.INFRASTRUCTURE


def test_a_job_that_was_cancelled_beside_one_that_failed_decides_nothing() -> None:
    jobs = [evidence("a", conclusion="cancelled"), evidence("b")]
    logs = [actions_log("##[error]The operation was canceled."), actions_log("FAILED a.py::b", EXIT.format(1))]
    found = diagnose(run_facts(), jobs, logs, PLAN)
    assert (found.failure_class, found.job, found.jobs) == (FailureClass.TEST, "b", ("a", "b"))
    assert found.signature == diagnose(run_facts(), jobs[1:], logs[1:], PLAN).signature


def test_a_log_that_ends_with_a_cancellation_is_no_unknown_failure_to_be_fixed() -> None:
    found = of_log("##[group]Run ./check", "##[endgroup]", "words", "##[error]The operation was canceled.")
    assert (found.failure_class, found.action) == (FailureClass.UNKNOWN, Action.TELL_HUMAN)
    assert "cancelled" in found.reasons[0]


def test_different_causes_give_a_reason_each_and_the_most_serious_class() -> None:
    jobs = [evidence("lint"), evidence("test"), evidence("net")]
    lost = actions_log("##[error]The runner has received a shutdown signal. This can happen when it is stopped.")
    lint, test = (actions_log(line, EXIT.format(1)) for line in ("a.py:1:1: E501 Line too long", "FAILED a.py::b"))
    found = diagnose(run_facts(), jobs, [lint, test, lost], CheckPlan())
    assert (found.failure_class, found.job, found.action) == (FailureClass.TEST, "test", Action.FIX)
    assert [reason.partition(":")[0] for reason in found.reasons] == ["test", "lint", "infrastructure"]
    alone = [
        diagnose(run_facts(), [one], [log], CheckPlan()).signature
        for one, log in zip(jobs, [lint, test, lost], strict=True)
    ]
    assert found.signature not in alone


def test_the_same_commit_that_passed_in_another_attempt_is_flaky() -> None:
    lines = run_step("pytest", "FAILED a.py::b", exit_code=1)
    passed = Background(green_attempts=(2,))
    found = of_log(*lines, background=passed)
    assert (found.failure_class, found.action) == (FailureClass.FLAKY, Action.RERUN_ONCE)
    assert "attempt 2" in found.reasons[0]
    assert of_log(*lines, background=passed, facts=SECOND).action is Action.TELL_HUMAN
    assert found.signature == of_log(*lines).signature


def test_what_is_known_from_elsewhere_becomes_reasons() -> None:
    known = Background(
        head_fails_alike=True, seen_in=("sweep-1",), last_green="e" * 40, commits_since_green=("abc one", "def two")
    )
    reasons = " | ".join(of_log("FAILED a.py::b", EXIT.format(1), background=known).reasons)
    for word in ("fails the same way", "sweep-1", "eeeeeee", "2 known commits"):
        assert word in reasons


def test_a_workflow_that_could_not_start_is_its_files_fault() -> None:
    found = diagnose(run_facts(conclusion="startup_failure"), [], [], CheckPlan(unverifiable="no"))
    assert (found.failure_class, found.action) == (FailureClass.CONFIGURATION, Action.TELL_HUMAN)
    assert found.files == (".github/workflows/ci.yml",)


def test_what_people_see_is_short_and_holds_no_secret() -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    lines = [f"FAILED tests/t.py::test_{n} - Error: {token} " + "x" * 500 for n in range(40)]
    found = of_log(*run_step("pytest", *lines, exit_code=1))
    assert len(found.error_lines) == MAX_LINES
    assert max(map(len, (*found.error_lines, *found.reasons, *found.tests))) <= MAX_LINE
    assert token not in found.model_dump_json()


@given(
    st.lists(st.binary(max_size=300), max_size=3), st.sampled_from(["failure", "cancelled", "timed_out", None, "new"])
)
def test_no_log_and_no_conclusion_make_it_fail(logs: list[bytes], conclusion: str | None) -> None:
    jobs = [evidence(f"job {n}", conclusion=conclusion or "") for n, _ in enumerate(logs)]
    assert len(diagnose(run_facts(), jobs, logs, PLAN).signature) == 16
