"""What a person who read each real log says of it, written down before any code was asked."""

from dataclasses import dataclass, field

from sweeper.model import Action, Annotation, FailureClass
from sweeper.model.run import StepFacts


@dataclass(frozen=True)
class Truth:
    """One saved log as a person read it.

    `steps` and `conclusion` are what GitHub told beside the log, where that is known. `lines`: each must be part of an
    error line. `not_lines`: looks like a cause there and is none. `files` and `tests`: each must be among those found;
    `why`: for the next person who doubts the row. `annotation`: this entry of an annotations file, there is no log.
    """

    log: str
    failure_class: FailureClass
    action: Action
    step: str
    lines: tuple[str, ...]
    why: str
    job: str = ""
    conclusion: str = "failure"
    steps: tuple[StepFacts, ...] = field(default=())
    not_lines: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    annotations: tuple[Annotation, ...] = ()

    @property
    def title(self) -> str:
        """A name for reports, one for each row."""
        return f"{self.log}: {self.annotations[-1].message[:40]}" if self.annotations else self.log


def noted(*messages: str) -> tuple[Annotation, ...]:
    """Failure annotations as GitHub itself makes them."""
    return tuple(Annotation(level="failure", path=".github", message=message) for message in messages)


TIME_LIMIT = "The job has exceeded the maximum execution time of 20m0s"
CANCELED = "The operation was canceled."
DISK = (
    "System.IO.IOException: No space left on device : "
    "'/home/runner/actions-runner/cached/2.335.1/_diag/Worker_20260716-092159-utc.log'"
)
LOST = (
    "The hosted runner lost communication with the server. Anything in your workflow that terminates the runner "
    "process, starves it for CPU/Memory, or blocks its network access can cause this error."
)
INTERNAL = "GitHub Actions has encountered an internal error when running your job."
NOTES = "30_annotations_only_failures"
RERUN = "nothing in the repository is at fault: once more is worth a try"

TRUTHS: tuple[Truth, ...] = (
    Truth(
        "01_pytest_collection_modulenotfound",
        FailureClass.TEST,
        Action.FIX,
        "",
        ("No module named 'kenlm'", "unexpected keyword argument 'encoding'"),
        "eleven test files cannot be collected, for four reasons of which missing modules are but one: a test failure",
        files=("tests/kenlm_test.py", "tests/en_spell_bug_fix_test.py"),
    ),
    Truth(
        "02_pytest_failures_bom_ansi",
        FailureClass.TEST,
        Action.FIX,
        "",
        ("AssertionError",),
        "one numpy comparison in one test; the summary shows skipped tests only, the name of the failed one is cut off",
        job="test (ubuntu-latest, >3.9, lowest-direct, ci,optional, 10)",
        files=("tests/transformations/test_advanced_transformations.py",),
    ),
    Truth(
        "04_mocha_failed",
        FailureClass.TEST,
        Action.FIX,
        "Run npm test",
        ("Cannot read property 'url' of undefined",),
        "two mocha tests fail; they speak to a live service, which one log cannot tell from a broken test",
        files=("test/login.test.js", "test/music_url.test.js"),
    ),
    Truth(
        "05_maven_failure",
        FailureClass.BUILD,
        Action.FIX,
        "",
        ("invalid target release: 17",),
        "the compiler plugin is asked for a Java newer than the one the workflow set up",
    ),
    Truth(
        "07_go_test_fail",
        FailureClass.TEST,
        Action.FIX,
        "",
        ("Test_prepareStep/Error_during_expired_context_of_the_example",),
        "one go test, run by gradle: the gradle lines follow from it",
        files=("code_processing_test.go",),
        tests=("Test_prepareStep/Error_during_expired_context_of_the_example",),
    ),
    Truth(
        "09_operation_canceled",
        FailureClass.UNKNOWN,
        Action.TELL_HUMAN,
        "",
        (CANCELED,),
        "cancelled after ten minutes, no time limit noted; the exceptions before it are printed by passing tests",
        conclusion="cancelled",
        not_lines=("ClassCastException",),
    ),
    Truth(
        "10_java_no_timestamp_continuation_cr",
        FailureClass.BUILD,
        Action.FIX,
        "",
        ("BUILD FAILED",),
        "gradle failed; what went wrong stood before the window that was kept",
    ),
    Truth(
        "12_runner_shutdown_bom",
        FailureClass.INFRASTRUCTURE,
        Action.RERUN_ONCE,
        "",
        ("The runner has received a shutdown signal",),
        RERUN,
    ),
    Truth(
        "13_pip_wheel_build_ansi",
        FailureClass.DEPENDENCY,
        Action.FIX,
        "",
        ("Failed building wheel for torchcomms", "CMake Error at"),
        "pip cannot build another project's package: its CMake wants a variable that the job does not set",
    ),
    Truth(
        "15_action_download_timeout",
        FailureClass.INFRASTRUCTURE,
        Action.RERUN_ONCE,
        "",
        ("download has timed out",),
        "an action's archive did not arrive, before any step: " + RERUN,
    ),
    Truth(
        "17_pytest_syntaxerror",
        FailureClass.TEST,
        Action.FIX,
        "",
        ("SyntaxError: invalid decimal literal",),
        "a conflict marker left in a module that the tests import: they never start",
    ),
    Truth(
        "19_github_api_rate_limit",
        FailureClass.INFRASTRUCTURE,
        Action.WAIT,
        "",
        ("API rate limit exceeded",),
        "GitHub's answer to too many requests; at once again fails alike",
    ),
    Truth(
        "21_pytest_failed_timeout",
        FailureClass.TEST,
        Action.FIX,
        "",
        ("Process 0 terminated or timed out",),
        "a test waited for its child processes in vain; one log cannot tell a hang from a slow machine",
        files=("distributed/test_c10d_spawn_gloo.py",),
        tests=("distributed/test_c10d_spawn_gloo.py::TestDistributedNNFunctionsGloo::test_all_gather",),
    ),
    Truth(
        "23_ruff_gh_log_failed_format",
        FailureClass.LINT,
        Action.FIX,
        "Ruff lint + format (changed Python only)",
        ("F401",),
        "an unused import, and the log is in the format of `gh run view --log-failed`",
        job="lint",
        files=("backend/app/routes/auth.py",),
    ),
    Truth(
        "24_eslint_problem_matcher_end_action",
        FailureClass.LINT,
        Action.FIX,
        "Run npm run lint",
        ('Status "shipped" does not match',),
        "one finding of eslint, by a rule of the project's own",
        files=("specs/theming-tokens/spec.md",),
    ),
    Truth(
        "27_mypy_problem_matcher",
        FailureClass.TYPE,
        Action.FIX,
        "",
        ("Missing return statement",),
        "one finding of mypy",
        files=("vllm_ascend/distributed/ec_transfer/e_mooncake_backend.py",),
    ),
    Truth(
        "28_cargo_test_windows",
        FailureClass.TEST,
        Action.FIX,
        "",
        ("killing_the_rust_host_cleans_the_exact_proof_tree_without_a_completion_receipt",),
        "one rust test; its own wait ran out, which is no time limit of the job",
        files=("crates/agent-compose/tests/proof_supervision.rs",),
        tests=("killing_the_rust_host_cleans_the_exact_proof_tree_without_a_completion_receipt",),
    ),
    Truth(
        NOTES,
        FailureClass.INFRASTRUCTURE,
        Action.RERUN_ONCE,
        "",
        ("has exceeded the maximum execution time",),
        "a time limit shows as cancelled; only the note names it",
        conclusion="cancelled",
        annotations=noted(CANCELED, TIME_LIMIT),
    ),
    Truth(
        NOTES,
        FailureClass.UNKNOWN,
        Action.TELL_HUMAN,
        "",
        (CANCELED,),
        "somebody, or a newer push, ended it: running it again would be against their will",
        conclusion="cancelled",
        annotations=noted(CANCELED),
    ),
    Truth(
        NOTES,
        FailureClass.INFRASTRUCTURE,
        Action.RERUN_ONCE,
        "",
        ("No space left on device",),
        "the runner's own disk was full, its log is gone",
        annotations=noted(DISK),
    ),
    Truth(
        NOTES,
        FailureClass.INFRASTRUCTURE,
        Action.RERUN_ONCE,
        "",
        ("lost communication with the server",),
        RERUN,
        annotations=noted(LOST),
    ),
    Truth(
        NOTES,
        FailureClass.INFRASTRUCTURE,
        Action.RERUN_ONCE,
        "",
        ("has encountered an internal error",),
        RERUN,
        annotations=noted(INTERNAL),
    ),
)
