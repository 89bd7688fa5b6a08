import pytest

from sweeper.model import FailureClass
from sweeper.policy.tampering import exam_files, must_hold
from tests.unit.tampering.changes import case

TREE = (
    "Makefile",
    "README.md",
    "calc.py",
    "conftest.py",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "ruff.toml",
    "scripts/check.sh",
    "scripts/deploy.sh",
    "sitecustomize.py",
    "src/a.ts",
    "src/__snapshots__/a.test.ts.snap",
    "src/a.test.ts",
    "tests/conftest.py",
    "tests/test_calc.py",
    "tests/test_other.py",
    "tsconfig.json",
)
ALWAYS = {
    "conftest.py",
    "package.json",
    "pyproject.toml",
    "ruff.toml",
    "sitecustomize.py",
    "tests/conftest.py",
    "tsconfig.json",
}


@pytest.mark.parametrize(
    ("command", "tests", "more"),
    [
        ("pytest", ("tests/test_calc.py::test_add[1-2]",), {"tests/test_calc.py"}),
        ("python -m unittest", ("test_add (tests.test_calc.CalcTest.test_add)",), {"tests/test_calc.py"}),
        ("make test", ("tests/test_calc.py::test_add",), {"Makefile", "tests/test_calc.py"}),
        ("bash ./scripts/check.sh", ("tests/test_other.py::test_b",), {"scripts/check.sh", "tests/test_other.py"}),
        ("npx jest", ("src/a.test.ts > adds",), {"src/a.test.ts", "src/__snapshots__/a.test.ts.snap"}),
    ],
)
def test_configuration_and_what_the_plan_calls_and_the_failing_tests_are_put_back(
    command: str, tests: tuple[str, ...], more: set[str]
) -> None:
    exam = case({}, {}, command=command, failing_tests=tests).exam()
    assert set(exam_files(TREE, exam)) == ALWAYS | more


def test_where_nobody_knows_which_tests_fail_all_of_them_are_put_back() -> None:
    found = set(exam_files(TREE, case({}, {}).exam()))
    assert found >= {"tests/test_calc.py", "tests/test_other.py", "src/a.test.ts"}


def test_where_no_test_failed_tests_stay_as_the_change_has_them() -> None:
    found = exam_files(TREE, case({}, {}, failure_class=FailureClass.LINT).exam())
    assert not {"tests/test_calc.py", "calc.py", "README.md"} & set(found)


def test_a_script_is_looked_for_in_the_folder_the_command_runs_in() -> None:
    exam = case({}, {}, command="./check.sh").exam()
    check = exam.plan.checks[0].model_copy(update={"working_directory": "./scripts"})
    exam = exam.model_copy(update={"plan": exam.plan.model_copy(update={"checks": (check,)})})
    assert "scripts/check.sh" in exam_files(TREE, exam)


@pytest.mark.parametrize(
    ("path", "failure_class", "holds"),
    [
        ("ruff.toml", FailureClass.LINT, True),
        ("ruff.toml", FailureClass.CONFIGURATION, False),
        ("Makefile", FailureClass.TEST, True),
        ("Makefile", FailureClass.CONFIGURATION, False),
        ("conftest.py", FailureClass.TEST, True),
        ("conftest.py", FailureClass.CONFIGURATION, True),
        ("sitecustomize.py", FailureClass.CONFIGURATION, True),
        ("pyproject.toml", FailureClass.TEST, False),
        ("package.json", FailureClass.TEST, False),
        ("tests/test_calc.py", FailureClass.TEST, False),
    ],
)
def test_green_by_the_patchs_own_configuration_is_no_proof_unless_configuration_failed(
    path: str, failure_class: FailureClass, holds: bool
) -> None:
    exam = case({}, {}, command="make test", failure_class=failure_class).exam()
    assert must_hold(path, exam) is holds


@pytest.mark.parametrize(
    "line",
    ["ImportError while loading conftest '/repo/tests/conftest.py'.", "E       fixture 'number' not found"],
)
def test_a_conftest_that_is_itself_to_blame_may_be_mended(line: str) -> None:
    assert not must_hold("tests/conftest.py", case({}, {}, error_lines=(line,)).exam())
