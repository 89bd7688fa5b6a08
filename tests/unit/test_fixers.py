"""The table of deterministic fixers: which failing command is mended how."""

import pytest

from adapters.agents.fixers import repairs
from sweeper.model import Check

FIX = "--fix --no-unsafe-fixes"


def scripts(*commands: str, **more: object) -> list[str]:
    checks = [Check.model_validate({"name": "c", "command": command, **more}) for command in commands]
    return [repair.script for repair in repairs(checks)]


@pytest.mark.parametrize(
    ("command", "mended"),
    [
        ("ruff check .", f"ruff check {FIX} ."),
        ("ruff check", f"ruff check {FIX}"),
        ("ruff check src tests --select E,F", f"ruff check {FIX} src tests --select E,F"),
        ("ruff check --config=a.toml --output-format=github .", f"ruff check {FIX} --config=a.toml ."),
        ("ruff check --output-format github --no-fix .", f"ruff check {FIX} ."),
        ("ruff check --diff --exit-zero -o report.txt .", f"ruff check {FIX} ."),
        ("ruff check --fix --unsafe-fixes --exit-non-zero-on-fix .", f"ruff check {FIX} ."),
        ("ruff --config a.toml check .", f"ruff --config a.toml check {FIX} ."),
        ("ruff check 'a b' \"c d\" src/*.py", f"ruff check {FIX} 'a b' \"c d\" src/*.py"),
        ("ruff format --check .", "ruff format ."),
        ("ruff format --check --diff --config x src", "ruff format --config x src"),
        ("ruff check format", f"ruff check {FIX} format"),
        ("ruff format --check check", "ruff format check"),
        ("python -m ruff check .", f"python -m ruff check {FIX} ."),
        ("python3.12 -m ruff format --check", "python3.12 -m ruff format"),
        (".venv/bin/ruff check .", f".venv/bin/ruff check {FIX} ."),
        ("uv run ruff check .", f"uv run ruff check {FIX} ."),
        ("uv run --frozen ruff check .", f"uv run --frozen ruff check {FIX} ."),
        ("poetry run python -m ruff check .", f"poetry run python -m ruff check {FIX} ."),
        ("RUFF_X=1 ruff check .", f"RUFF_X=1 ruff check {FIX} ."),
        ("ruff check . || true", f"ruff check {FIX} ."),
        ("ruff check . 2>&1 | tee log.txt", f"ruff check {FIX} ."),
        ("ruff check . > report.txt", f"ruff check {FIX} ."),
        ("ruff check . # lint", f"ruff check {FIX} ."),
        ("ruff check \\\n  src \\\n  tests", f"ruff check {FIX} src tests"),
        ("cd backend && ruff check .", f"cd backend && ruff check {FIX} ."),
        ("set -e\ncd backend\npip install x\nruff check .", f"cd backend && ruff check {FIX} ."),
    ],
)
def test_mends(command: str, mended: str) -> None:
    assert scripts(command) == [mended]


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "pytest tests/ruff check",
        "echo ruff check .",
        "ruff",
        "ruff version",
        "ruff rule check",
        "black --check .",
        "ruff check $(git ls-files '*.py')",
        "(cd x && ruff check .)",
        "ruff check `cat list`",
        "ruff check $UNKNOWN",
        "if ruff check .; then echo; fi",
        "ruff check 'open quote",
        "cat <<EOF | ruff check -",
        "",
    ],
)
def test_leaves_alone(command: str) -> None:
    assert scripts(command) == []


def test_lint_comes_before_format_whatever_the_plans_order() -> None:
    assert scripts("ruff format --check .", "ruff check .") == [f"ruff check {FIX} .", "ruff format ."]


def test_both_may_stand_in_one_script() -> None:
    assert scripts("ruff format --check . && ruff check .") == [f"ruff check {FIX} .", "ruff format ."]


def test_the_same_repair_is_made_once() -> None:
    assert scripts("ruff check .", "ruff check --output-format=github .") == [f"ruff check {FIX} ."]


def test_a_variable_the_check_sets_may_be_used() -> None:
    assert scripts("ruff check $WHERE", env={"WHERE": "src"}) == [f"ruff check {FIX} $WHERE"]


def test_the_checks_directory_and_environment_are_kept() -> None:
    check = Check(name="c", command="ruff check .", working_directory="deep", env={"A": "1"})
    (repair,) = repairs([check])
    assert repair.check == check


def test_the_same_command_in_two_directories_is_two_repairs() -> None:
    checks = [Check(name="c", command="ruff check .", working_directory=place) for place in ("a", "b")]
    assert [repair.check.working_directory for repair in repairs(checks)] == ["a", "b"]
