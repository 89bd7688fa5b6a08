import pytest

from sweeper.model import ArtifactRef, Check, CheckPlan, Diagnosis, FailureClass, JobEvidence
from sweeper.policy.diagnosis import MAX_LINE, MAX_LINES, diagnose
from sweeper.policy.joblog import failing_script
from tests.support.logs import real_log
from tests.support.values import job, run_facts


def _plan(*commands: str) -> CheckPlan:
    return CheckPlan(checks=tuple(Check(name="test", job="test", command=command) for command in commands))


def _diagnose(*output: str, command: str = "pytest") -> Diagnosis:
    log = "\n".join([*output, "##[error]Process completed with exit code 1."]).encode()
    evidence = job().model_copy(update={"log": ArtifactRef(digest="sha256:0", size=len(log))})
    return diagnose(run_facts(), [evidence], [log], _plan(command))


@pytest.mark.parametrize(
    ("command", "failure_class"),
    [
        ("ruff format --check .", FailureClass.FORMAT),
        ("black . --check", FailureClass.FORMAT),
        ("npx prettier --check src", FailureClass.FORMAT),
        ("gofmt -l .", FailureClass.FORMAT),
        ("ruff check .", FailureClass.LINT),
        ("python -m flake8", FailureClass.LINT),
        ("npm run lint", FailureClass.LINT),
        ("cargo clippy -- -D warnings", FailureClass.LINT),
        ("pytest -q", FailureClass.TEST),
        ("python -m unittest", FailureClass.TEST),
        ("npm test", FailureClass.TEST),
        ("go test ./...", FailureClass.TEST),
        ("set -e\ncargo test", FailureClass.TEST),
        ("make all", FailureClass.UNKNOWN),
        ("mypytest", FailureClass.UNKNOWN),
        ("./latest", FailureClass.UNKNOWN),
    ],
)
def test_the_failing_command_tells_the_class(command: str, failure_class: FailureClass) -> None:
    assert _diagnose(command=command).failure_class is failure_class


def test_the_class_comes_with_its_reason() -> None:
    assert _diagnose(command="ruff check .").reasons == ("lint: job 'test' runs 'ruff check'",)
    assert _diagnose(command="make").reasons == ("job 'test' runs no tool that is known",)


def test_the_most_serious_class_of_all_failing_commands_decides_and_each_has_its_reason() -> None:
    found = diagnose(run_facts(), [job()], [None], _plan("make", "ruff format --check .", "pytest", "ruff check ."))
    assert (found.failure_class, found.command) == (FailureClass.TEST, "make")
    assert [reason.partition(":")[0] for reason in found.reasons[1:4]] == ["format", "test", "lint"]


def test_without_a_command_a_human_is_told() -> None:
    found = diagnose(run_facts(), [job()], [None], CheckPlan(unverifiable="no"))
    assert (found.action, found.command, found.failure_class) == ("tell_human", "", FailureClass.UNKNOWN)


def test_a_missing_log_is_a_reason_and_no_error() -> None:
    evidence = job().model_copy(update={"log_missing": "GitHub has no log of this job (404)"})
    assert "job 'test': no log (GitHub has no log of this job (404))" in (
        diagnose(run_facts(), [evidence], [None], _plan("pytest")).reasons
    )


def test_no_job_at_all_is_an_honest_unknown() -> None:
    found = diagnose(run_facts(), [], [], CheckPlan())
    assert (found.job, found.step, found.failure_class, found.jobs) == ("", "", FailureClass.UNKNOWN, ())


@pytest.mark.parametrize(
    "line",
    [
        "E   AssertionError: assert 1 == 2",
        "FAILED tests/test_app.py::test_adds - assert 1 == 2",
        "ERROR tests/test_app.py - ImportError",
        "src/app.py:1:8: F401 `os` imported but unused",
        "F401 [*] `os` imported but unused",
        "--> src/app.py:1:8",
        "Would reformat: src/app.py",
        "ModuleNotFoundError: No module named 'x'",
        "error: could not compile `app`",
        "error[E0308]: mismatched types",
        "##[error]src/app.ts:3:1 Missing semicolon",
        "--- FAIL: TestAdds (0.00s)",
        "FAIL\texample.com/app\t0.1s",
        "[ERROR] Failed to execute goal",
        "FAIL: test_adds (tests.test_app.Adds)",
    ],
)
def test_lines_that_tell_the_cause_are_kept(line: str) -> None:
    assert _diagnose("collecting ...", f"  {line}", "12 passed").error_lines == (line,)


@pytest.mark.parametrize("line", ["0 errors", "no error here", "PASSED tests/test_app.py", "FAILED", "12:30:11 ok"])
def test_ordinary_lines_are_not_kept(line: str) -> None:
    assert _diagnose(line).error_lines == ()


def test_files_and_tests_are_read_from_the_telling_lines() -> None:
    found = _diagnose(
        "FAILED tests/unit/test_app.py::test_adds[1-2] - assert 1 == 2",
        "FAIL: test_subtracts (tests.test_app.Subtracts)",
        "src/app.py:3:1: E999 SyntaxError",
        "/home/runner/work/app/app/src/other.py:1:1: F401 unused",
    )
    assert found.tests == ("tests/unit/test_app.py::test_adds[1-2]", "test_subtracts (tests.test_app.Subtracts)")
    assert found.files == ("tests/unit/test_app.py", "src/app.py", "src/other.py")


def test_lines_are_bounded_in_number_and_length_and_told_once() -> None:
    found = _diagnose(*[f"E   line {n} {'x' * 1000}" for n in range(100)], *["E   again"] * 50)
    assert len(found.error_lines) == MAX_LINES
    assert max(len(line) for line in found.error_lines) == MAX_LINE
    assert _diagnose(*["E   again"] * 50).error_lines == ("E   again",)


def test_a_secret_in_a_telling_line_is_redacted() -> None:
    assert _diagnose(f"E   ghp_{'a' * 36}").error_lines == ("E   [redacted]",)


def test_a_very_long_line_is_read_in_reasonable_time() -> None:
    for piece in ("1:", "a/", "a.", "error[", "E" * 4):
        assert len(_diagnose(piece * (300_000 // len(piece))).error_lines) <= 1


def test_the_signature_knows_workflow_jobs_and_steps_and_nothing_else() -> None:
    def signature(*jobs: JobEvidence, **facts: object) -> str:
        return diagnose(run_facts(**facts), jobs, [None] * len(jobs), CheckPlan()).signature

    one = signature(job("a"), job("b"))
    assert one == signature(job("b"), job("a"))
    assert one == signature(job("a"), job("b"), head_sha="0" * 40, html_url="elsewhere")
    assert one != signature(job("a"))
    assert one != signature(job("a"), job("b", failing="Run make"))
    assert one != signature(job("a"), job("b"), workflow_path="other.yml")


@pytest.mark.parametrize(
    ("name", "script", "telling"),
    [
        ("01_pytest_collection_modulenotfound", None, "E   ModuleNotFoundError: No module named 'paddlenlp'"),
        ("02_pytest_failures_bom_ansi", None, "E           AssertionError:"),
        ("04_mocha_failed", "npm test", "TypeError: Cannot read property 'url' of undefined"),
        ("05_maven_failure", None, "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin"),
        ("07_go_test_fail", None, "--- FAIL: Test_prepareStep (0.00s)"),
        ("09_operation_canceled", None, "##[error]The operation was canceled."),
        ("12_runner_shutdown_bom", None, "##[error]The runner has received a shutdown signal."),
        ("13_pip_wheel_build_ansi", None, "error: command '/opt/conda/envs/py_3.10/bin/cmake' failed"),
        ("15_action_download_timeout", None, "##[error]Failed to download archive"),
        ("17_pytest_syntaxerror", None, "SyntaxError: invalid decimal literal"),
        ("21_pytest_failed_timeout", None, "RuntimeError: Process 0 terminated or timed out"),
        ("24_eslint_problem_matcher_end_action", "npm run lint", "##[error]  6:1  error  Status"),
        ("27_mypy_problem_matcher", None, "##[error]vllm_ascend/distributed/ec_transfer/e_mooncake_backend.py:20"),
        ("28_cargo_test_windows", None, "error: test failed, to rerun pass `-p agent-compose"),
    ],
)
def test_real_logs_tell_their_cause(name: str, script: str | None, telling: str) -> None:
    log = real_log(name)
    found = diagnose(run_facts(), [job()], [log], CheckPlan())
    assert failing_script(log) == script
    assert any(line.startswith(telling) for line in found.error_lines), found.error_lines


@pytest.mark.parametrize("name", ["10_java_no_timestamp_continuation_cr", "19_github_api_rate_limit"])
def test_real_logs_without_a_telling_line_make_nothing_up(name: str) -> None:
    assert diagnose(run_facts(), [job()], [real_log(name)], CheckPlan()).error_lines == ()
