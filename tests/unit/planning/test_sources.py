"""Where a plan comes from: the operator, the repository, the workflow file, the log; and what no check stands for."""

from sweeper.model import Check, CheckPlan, PlanStep
from sweeper.policy.planning import check_plan
from sweeper.policy.repository_config import RepositoryConfig
from tests.support.values import job, run_facts
from tests.unit.planning.plans import plan_of, steps_file

FILE = steps_file("- run: pytest", top="env: {LEVEL: workflow}").encode()
TWO = b"""
jobs:
  test: {runs-on: ubuntu-latest, steps: [{run: pytest}]}
  win: {runs-on: windows-latest, steps: [{run: pytest}]}
  lint: {runs-on: ubuntu-latest, steps: [{run: ruff check .}]}
"""
CONFIG = RepositoryConfig(checks=("make ${{ x", "make b"), setup=("pip install .",))


def test_the_operators_checks_win_over_everything() -> None:
    plan = check_plan([job("test")], ["log"], FILE, run_facts(), CONFIG, ["make a", "make b"])
    assert plan == CheckPlan(
        checks=(Check(name="check 1", command="make a"), Check(name="check 2", command="make b")),
        source="operator's checks",
    )


def test_the_repositorys_own_checks_come_next_with_its_setup_and_nothing_of_the_workflow() -> None:
    plan = check_plan([job("test")], ["log"], FILE, run_facts(), CONFIG)
    before = (PlanStep(name="setup 1", command="pip install ."),)
    assert plan.source == ".github/sweeper.yml"
    assert plan.checks == (
        Check(name="check 1", command="make ${{ '${{' }} x", before=before),
        Check(name="check 2", command="make b", before=before),
    )


def test_a_setup_without_checks_is_not_used_and_that_is_said() -> None:
    plan = check_plan([job("test")], [None], FILE, run_facts(), RepositoryConfig(setup=("a",)))
    assert (plan.source, plan.checks[0].before) == ("workflow file", ())
    assert plan.reasons[0] == "`setup` in .github/sweeper.yml is not used: it belongs to `checks`."


def test_without_a_workflow_file_the_log_tells_the_command() -> None:
    plan = check_plan([job("test"), job("quiet")], ["pytest -q ${{", None], None, run_facts())
    assert (plan.source, plan.unverifiable) == ("job log", None)
    assert [(c.name, c.command, c.step) for c in plan.checks] == [("test", "pytest -q ${{ '${{' }}", "Run pytest")]
    assert plan.uncovered == (
        "job 'quiet' cannot be checked: there is no workflow file at that commit and no command in its log",
    )


def test_a_script_with_a_hidden_secret_is_not_run() -> None:
    plan = check_plan([job("test")], ["curl -H 'token: ***'"], None, run_facts())
    assert "its log hides a secret" in (plan.unverifiable or "")


def test_with_a_workflow_file_the_log_is_not_asked() -> None:
    plan = check_plan([job("win")], ["pytest"], TWO, run_facts())
    assert (plan.source, plan.checks) == ("workflow file", ())


def test_with_neither_nothing_is_guessed() -> None:
    plan = check_plan([job("test")], [None], None, run_facts())
    assert "no workflow file at that commit and no command in its log" in (plan.unverifiable or "")
    assert check_plan([], [], FILE, run_facts()).unverifiable


def test_each_failing_job_has_its_check_and_one_without_is_named() -> None:
    plan = plan_of(TWO.decode(), job("test"), job("win"), job("lint", failing="Run ruff check ."), job("gone"))
    assert [check.command for check in plan.checks] == ["pytest", "ruff check ."]
    assert plan.unverifiable is None
    assert plan.uncovered == (
        "job 'win' cannot be checked: it runs on 'windows-latest', and only Linux is to be had here",
        "job 'gone' cannot be checked: it is not in the workflow file",
    )


def test_a_job_of_a_called_workflow_is_told_from_one_that_is_not_there() -> None:
    file = "jobs: {call: {name: Shared, uses: octo/x/.github/workflows/y.yml@v1}}"
    plan = plan_of(file, job("Shared / test"))
    assert "it is part of another workflow that this one calls" in (plan.unverifiable or "")
    assert "it calls the workflow 'octo/x/" in (plan_of(file, job("Shared")).unverifiable or "")


def test_what_a_called_workflow_needs_from_outside_is_unknown_in_a_dispatch_only() -> None:
    file = steps_file("- {name: T, run: 'x ${{ inputs.level }}'}")
    assert plan_of(file, job("test", failing="T")).checks[0].command == "x"
    assert "'inputs.level'" in (plan_of(file, job("test", failing="T"), event="workflow_dispatch").unverifiable or "")
