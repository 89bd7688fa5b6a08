from collections.abc import Sequence

import pytest

from sweeper.model import Check, CheckPlan, JobEvidence
from sweeper.policy.plan import check_plan, shell_argv
from tests.support.values import job

CI = """
name: CI
on:
  push: {branches: [main]}
  pull_request:
permissions: {contents: read}
concurrency: ci-${{ github.ref }}
env:
  PIP_NO_INPUT: 1
  LEVEL: workflow
defaults:
  run:
    shell: bash
jobs:
  lint:
    name: Lint & format
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12"}
      - run: pip install ruff
      - name: Ruff
        run: ruff check .
  test:
    runs-on: ${{ matrix.os }}
    strategy:
      matrix: {os: [ubuntu-latest, macos-latest], python: ["3.11", "3.12"]}
    defaults:
      run: {working-directory: backend, shell: sh}
    env:
      LEVEL: job
      FAST: true
    steps:
      - uses: actions/checkout@v4
      - run: |
          set -x
          pytest -q
      - run: make e2e
        shell: bash
        working-directory: ./e2e
        env: {LEVEL: step, RATIO: 3.10, NOTHING: , WORD: on, DAY: 2026-03-01, QUOTED: "3.10"}
  docs:
    name: docs
    runs-on: ubuntu-latest
    steps:
      - {run: mkdocs build}
  windows:
    runs-on: windows-latest
    steps:
      - run: pytest
        shell: pwsh
  templated:
    runs-on: ubuntu-latest
    steps:
      - {name: In the command, run: "pytest ${{ matrix.args }}"}
      - {name: In the environment, run: pytest, env: {KEY: "${{ secrets.KEY }}"}}
      - {name: In the place, run: pytest, working-directory: "${{ matrix.dir }}"}
  called:
    uses: ./.github/workflows/reusable.yml
  two:
    runs-on: ubuntu-latest
    steps: [{run: first}, {run: second}]
"""

LOG = (
    b"2026-01-01T00:00:00.0000000Z ##[group]Run pytest -q\n"
    b"2026-01-01T00:00:00.0000000Z \x1b[36;1mpytest -q\x1b[0m\n"
    b"2026-01-01T00:00:00.0000000Z ##[endgroup]\n"
    b"2026-01-01T00:00:01.0000000Z ##[error]Process completed with exit code 1.\n"
)


def _plan(*jobs: JobEvidence, workflow: str | bytes | None = CI, logs: Sequence[bytes | None] = ()) -> CheckPlan:
    data = workflow.encode() if isinstance(workflow, str) else workflow
    return check_plan(jobs, logs or [None] * len(jobs), data)


def _check(evidence: JobEvidence, workflow: str = CI) -> Check:
    plan = _plan(evidence, workflow=workflow)
    assert (plan.unverifiable, plan.source, len(plan.checks)) == (None, "workflow file", 1)
    return plan.checks[0]


@pytest.mark.parametrize(
    ("shown", "failing", "command"),
    [
        ("Lint & format", "Ruff", "ruff check ."),
        ("lint", "Ruff", "ruff check ."),
        ("Lint & format", "Run pip install ruff", "pip install ruff"),
        ("test (ubuntu-latest, 3.11)", "Run set -x", "set -x\npytest -q"),
        ("test", "Run make e2e", "make e2e"),
        ("docs", "Run mkdocs build", "mkdocs build"),
        ("docs", None, "mkdocs build"),
    ],
)
def test_finds_the_failing_steps_command(shown: str, failing: str | None, command: str) -> None:
    check = _check(job(shown, failing=failing))
    assert (check.name, check.job, check.command) == (shown, shown, command)


def test_nearer_defaults_and_environment_win() -> None:
    lint, test, e2e = (
        _check(job("lint", failing="Ruff")),
        _check(job("test", failing="Run set -x")),
        _check(job("test", failing="Run make e2e")),
    )
    assert (lint.shell, lint.working_directory) == ("bash", ".")
    assert (test.shell, test.working_directory) == ("sh", "backend")
    assert (e2e.shell, e2e.working_directory) == ("bash", "./e2e")
    assert [check.env["LEVEL"] for check in (lint, test, e2e)] == ["workflow", "job", "step"]


def test_scalars_are_written_out_as_github_does() -> None:
    env = _check(job("test", failing="Run make e2e")).env
    assert env == {
        "PIP_NO_INPUT": "1",
        "LEVEL": "step",
        "FAST": "true",
        "RATIO": "3.1",
        "NOTHING": "",
        "WORD": "on",
        "DAY": "2026-03-01",
        "QUOTED": "3.10",
    }


def test_without_a_shell_the_runners_default_holds() -> None:
    check = _check(job("a"), workflow="jobs: {a: {steps: [{run: pytest}]}}")
    assert (check.shell, check.working_directory, check.env) == ("default", ".", {})


@pytest.mark.parametrize(
    ("workflow", "command"),
    [
        ("jobs: {test: {steps: [{name: 3.12, run: pytest}, {run: false}]}}", "false"),
        ("jobs: {on: {name: test, steps: [{run: false}]}}", "false"),
        ("jobs: {test: {steps: [{run: ' false '}]}}", "false"),
        ("x: &steps [{run: false}]\njobs: {test: {steps: *steps}}", "false"),
    ],
)
def test_reads_yaml_as_github_does(workflow: str, command: str) -> None:
    assert _check(job("test", failing="Run false"), workflow=workflow).command == command


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (job("windows"), "step 'Run pytest' uses shell 'pwsh'; bash and sh are supported"),
        (
            job("templated", failing="In the command"),
            "step 'In the command' uses a ${{ }} expression, which cannot be evaluated here",
        ),
        (
            job("templated", failing="In the environment"),
            "step 'In the environment' uses a ${{ }} expression, which cannot be evaluated here",
        ),
        (
            job("templated", failing="In the place"),
            "step 'In the place' uses a ${{ }} expression, which cannot be evaluated here",
        ),
        (job("gone"), "job 'gone' is not in the workflow file"),
        (job("testing"), "job 'testing' is not in the workflow file"),
        (job("called"), "no failing run step in the workflow file"),
        (job("lint", failing="Run actions/checkout@v4"), "no failing run step in the workflow file"),
        (job("lint", failing="Set up job"), "no failing run step in the workflow file"),
        (job("two", failing=None), "no failing run step in the workflow file"),
    ],
)
def test_what_cannot_be_run_here_is_unverifiable_and_says_why(evidence: JobEvidence, reason: str) -> None:
    assert _plan(evidence) == CheckPlan(source="workflow file", unverifiable=reason)


def test_an_expression_for_the_whole_environment_is_not_overlooked() -> None:
    plan = _plan(job("a"), workflow="jobs: {a: {env: '${{ fromJSON(vars.ENV) }}', steps: [{run: pytest}]}}")
    assert plan.unverifiable == "step 'Run pytest' uses a ${{ }} expression, which cannot be evaluated here"


def test_the_same_command_of_two_matrix_rows_is_one_check() -> None:
    rows = [job(f"test (ubuntu-latest, {v})", failing="Run set -x") for v in ("3.11", "3.12")]
    assert [check.job for check in _plan(*rows).checks] == ["test (ubuntu-latest, 3.11)"]


def test_each_failing_job_has_its_check() -> None:
    plan = _plan(job("lint", failing="Ruff"), job("docs", failing="Run mkdocs build"))
    assert [check.command for check in plan.checks] == ["ruff check .", "mkdocs build"]


def test_the_operators_checks_win_over_everything() -> None:
    plan = check_plan([job("windows")], [LOG], CI.encode(), ["make a", "make b"])
    assert plan.source == "operator's checks"
    assert [(check.name, check.command) for check in plan.checks] == [("check 1", "make a"), ("check 2", "make b")]


def test_without_a_workflow_file_the_log_tells_the_command() -> None:
    plan = _plan(job("test", failing="Run pytest -q"), job("quiet"), workflow=None, logs=[LOG, None])
    assert (plan.source, plan.unverifiable) == ("job log", None)
    assert [(c.name, c.command, c.step) for c in plan.checks] == [("test", "pytest -q", "Run pytest -q")]


def test_with_neither_file_nor_log_nothing_is_guessed() -> None:
    plan = _plan(job("test"), workflow=None)
    assert plan.unverifiable == "no workflow file at that commit and no command in the log"


def _bomb(levels: int) -> str:
    lines = ["a0: &a0 {KEY: value}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join([*lines, f"env: {{BOOM: *a{levels - 1}}}", "jobs: {test: {steps: [{run: pytest}]}}"])


def _wide_bomb() -> str:
    steps = "steps: &steps [" + ", ".join(["*step"] * 2000) + "]"
    jobs = "\n".join(f"  job{n}: {{steps: *steps}}" for n in range(2000))
    return f"step: &step {{run: pytest}}\n{steps}\njobs:\n{jobs}"


@pytest.mark.parametrize(
    ("workflow", "reason"),
    [
        ("- a list", "not valid YAML of a workflow"),
        ("just words", "not valid YAML of a workflow"),
        ("jobs: [a, list]", "not valid YAML of a workflow"),
        ("jobs: {test: {steps: {a: mapping}}}", "not valid YAML of a workflow"),
        ("jobs: {test: {steps: [{run: [a, list]}]}}", "not valid YAML of a workflow"),
        ("jobs: {test: {env: {A: [1]}, steps: [{run: pytest}]}}", "not valid YAML of a workflow"),
        ("jobs: {test: {env: just words, steps: [{run: [x]}]}}", "not valid YAML of a workflow"),
        ("jobs: {test: *nowhere}", "not valid YAML of a workflow"),
        ("jobs: {{}: 1}", "not valid YAML of a workflow"),
        ("a: 'never closed", "not valid YAML of a workflow"),
        ("a: !!python/object/apply:os.system [id]", "not valid YAML of a workflow"),
        ("a: !!timestamp 2026-13-45", "not valid YAML of a workflow"),
        ("a: !!float many", "not valid YAML of a workflow"),
        ("a: !!bool perhaps", "not valid YAML of a workflow"),
        ("[" * 500, "not valid YAML of a workflow"),
        (b"\xff\xfe\x00\xd8", "not valid YAML of a workflow"),
        (b"jobs: \x00", "not valid YAML of a workflow"),
        ("# " + "x" * 200_000, "is larger than 128 KiB"),
        (_bomb(20), "unfolds to too many values"),
        (_wide_bomb(), "unfolds to too many values"),
        ("a: &a [*a]", "unfolds to too many values"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_hostile_workflow_file_is_refused_with_a_reason(workflow: str | bytes, reason: str) -> None:
    plan = _plan(job("test"), workflow=workflow)
    assert plan.checks == ()
    assert (plan.unverifiable or "").endswith(f" {reason}")


@pytest.mark.parametrize("workflow", ["", "# only a comment", "null", "on: push"])
def test_an_empty_workflow_file_knows_no_job(workflow: str) -> None:
    assert _plan(job("test"), workflow=workflow).unverifiable == "job 'test' is not in the workflow file"


@pytest.mark.parametrize(
    ("shell", "argv"),
    [
        ("default", ("bash", "-e", "-c", "a | b")),
        ("bash", ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", "a | b")),
        ("sh", ("sh", "-e", "-c", "a | b")),
    ],
)
def test_starts_a_shell_as_the_runner_does(shell: str, argv: tuple[str, ...]) -> None:
    assert shell_argv(Check(name="test", command="a | b", shell=shell)) == argv
