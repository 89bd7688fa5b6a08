"""The steps of a job: which come before, which is the check, which come after, and as what."""

import pytest

from sweeper.model import PlanStep
from tests.support.values import job, run_facts
from tests.unit.planning.plans import check_of, plan_of, recorded, refusal_of, steps_file

PULL = {
    "event": "pull_request",
    "head_branch": "topic",
    "pull": {"number": 5, "base_ref": "main", "base_sha": "b" * 40},
}


def test_steps_before_run_first_and_tests_after_must_stay_green() -> None:
    file = steps_file(
        """
        - run: pip install -e .
        - {name: Lint, run: ruff check .}
        - run: pytest
        - run: mypy
        - run: twine upload dist/*
        - {name: Check the docs, run: make docs}
        - {if: failure(), run: pytest --lf}
        - {if: always(), run: pytest tests/slow}
        - {run: test -n "$T", env: {T: '${{ secrets.T }}'}}
        """
    )
    check = check_of(file)
    assert [step.command for step in check.before] == ["pip install -e .", "ruff check ."]
    assert check.command == "pytest"
    assert [step.command for step in check.after] == ["mypy", "make docs", "pytest tests/slow"]


def test_each_step_has_its_sentence() -> None:
    steps = "- uses: actions/checkout@v4\n- run: make\n- run: pytest\n- run: mypy\n- run: make\n- uses: a/b@v1"
    plan = plan_of(steps_file(steps))
    assert plan.reasons == (
        "Step 'Run actions/checkout@v4' is left out: the tree is there already.",
        "Step 'Run make' runs before the check.",
        "Step 'Run pytest' failed: it is the check.",
        "Step 'Run mypy' is a test after the one that failed: it must not become redder.",
        "Step 'Run make' comes after the check and is left out: it is no test of a job that passes.",
        "Step 'Run a/b@v1' comes after the check and is left out: it is no test of a job that passes.",
    )


def test_nearer_environment_and_defaults_win() -> None:
    top = "env: {A: workflow, B: workflow, C: workflow}\ndefaults: {run: {shell: bash, working-directory: top}}"
    before = "env: {B: job, C: job}\ndefaults: {run: {working-directory: backend}}"
    file = steps_file(
        "- {run: make, working-directory: ./x, shell: sh}\n- {run: pytest, env: {C: step}}", before=before, top=top
    )
    check = check_of(file)
    assert check.env == {"A": "workflow", "B": "job", "C": "step"}
    assert (check.shell, check.working_directory) == ("bash", "backend")
    assert (check.before[0].shell, check.before[0].working_directory) == ("sh", "./x")
    assert check.before[0].env["C"] == "job"


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        ("", True),
        ("success()", True),
        ("${{ always() }}", True),
        ("true", True),
        ("failure()", False),
        ("cancelled() || failure()", False),
        ("github.event_name == 'push' && runner.os == 'Linux'", True),
        ("github.event_name != 'push'", False),
        ("startsWith(github.ref, 'refs/tags/')", False),
        ("contains(fromJSON('[\"main\"]'), github.ref_name)", True),
        ("!contains(github.actor, 'bot')", True),
        ("github.event.pull_request == null", True),
        ("inputs.debug", False),
        ("env.MODE == 'fast'", True),
        ("env.mode == 'slow' || matrix.none", False),
    ],
)
def test_a_step_before_runs_if_its_condition_holds(condition: str, runs: bool) -> None:
    file = steps_file(
        f'- run: make\n  if: "{condition.replace(chr(34), chr(92) + chr(34))}"\n- run: pytest', top="env: {MODE: fast}"
    )
    assert [step.command for step in check_of(file).before] == (["make"] if runs else [])


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("steps.x.outputs.y == '1'", "steps.x.outputs.y == '1'"),
        ("hashFiles('a') != ''", "hashFiles('a') != ''"),
        ("github.event.action == 'opened'", "github.event.action == 'opened'"),
        ("vars.ON", "vars.ON"),
        ("needs.a.outputs.b", "needs.a.outputs.b"),
        ("${{ true }} && x", "no single expression"),
    ],
)
def test_a_condition_that_is_not_known_is_named(condition: str, named: str) -> None:
    file = steps_file(f'- {{id: x, run: make}}\n- {{name: Maybe, run: make, if: "{condition}"}}\n- run: pytest')
    refusal = refusal_of(file)
    assert "step 'Maybe' has the condition" in refusal
    assert named in refusal


def test_what_a_step_that_does_not_run_would_have_needed_is_no_matter() -> None:
    secret = "- {run: make, if: failure(), env: {T: '${{ secrets.T }}'}}"
    action = "- {uses: a/b@v1, if: github.ref == 'x'}"
    assert check_of(steps_file(f"{secret}\n{action}\n- run: pytest")).before == ()


@pytest.mark.parametrize(("conclusion", "before"), [("success", ["make"]), ("skipped", [])])
def test_githubs_record_says_whether_a_step_ran(conclusion: str, before: list[str]) -> None:
    file = steps_file("- {name: Maybe, run: make, if: vars.ON}\n- run: pytest")
    evidence = recorded("test", ("Set up job", "success"), ("Maybe", conclusion), ("Run pytest", "failure"))
    assert [step.command for step in check_of(file, evidence).before] == before


def test_an_unknown_action_that_was_skipped_is_no_matter() -> None:
    file = steps_file("- {uses: some/action@v1, if: vars.ON}\n- run: pytest")
    evidence = recorded("test", ("Run some/action@v1", "skipped"), ("Run pytest", "failure"))
    assert check_of(file, evidence).before == ()


def test_of_steps_with_one_name_the_record_tells_which_failed() -> None:
    file = steps_file("- {name: Test, run: one}\n- {name: Test, run: two}\n- {name: Test, run: three}")
    evidence = recorded("test", ("Test", "success"), ("Test", "failure"), ("Test", "skipped"))
    check = check_of(file, evidence)
    assert ([step.command for step in check.before], check.command) == (["one"], "two")
    assert "there are 3 steps called 'Test'" in refusal_of(file, job("test", failing="Test"))


def test_the_name_of_a_step_may_be_known_only_to_the_run() -> None:
    file = steps_file("- {id: v, run: make}\n- {name: 'Test of ${{ steps.v.outputs.x }} here', run: pytest}")
    assert check_of(file, job("test", failing="Test of 1.2 here")).command == "pytest"
    assert "is no step of the workflow file" in refusal_of(file, job("test", failing="Test of 1.2"))


def test_a_step_that_may_fail_is_marked() -> None:
    file = steps_file(
        "- {run: make, continue-on-error: true}\n- {run: b, continue-on-error: '${{ false }}'}\n- run: pytest"
    )
    assert [step.may_fail for step in check_of(file).before] == [True, False]


def test_a_limit_of_minutes_is_told_but_not_kept() -> None:
    plan = plan_of(steps_file("- {run: pytest, timeout-minutes: 5}"))
    assert plan.reasons == ("Step 'Run pytest' failed: it is the check, without its own limit of 5 minutes.",)


def test_outputs_are_left_for_the_run() -> None:
    file = steps_file(
        "- {id: V, run: 'echo x=1 >> $GITHUB_OUTPUT', env: {Q: 'a ${{ matrix.none }}'}}\n"
        "- {run: 'pytest ${{ steps.v.outputs.x }}', name: T}"
    )
    check = check_of(file, job("test", failing="T"))
    assert check.before == (
        PlanStep(name="Run echo x=1 >> $GITHUB_OUTPUT", command="echo x=1 >> $GITHUB_OUTPUT", env={"Q": "a "}, id="V"),
    )
    assert check.command == "pytest ${{ steps['v']['outputs']['x'] }}"


def test_what_a_script_puts_into_the_environment_is_asked_for_when_it_runs() -> None:
    file = steps_file(
        """
        - {run: 'echo LEVEL=high >> $GITHUB_ENV'}
        - {name: T, run: 'pytest ${{ env.LEVEL }} ${{ env.OTHER }} ${{ env.NEW }} ${{ env.OWN }}', env: {OWN: o}}
        """,
        before="env: {LEVEL: low, OTHER: fixed}",
    )
    check = check_of(file, job("test", failing="T"))
    assert check.before[0].env == {"LEVEL": "low", "OTHER": "fixed"}
    assert check.env == {"LEVEL": "${{ (env['LEVEL'] || 'low') }}", "OTHER": "fixed", "OWN": "o"}
    assert check.command == "pytest ${{ env['LEVEL'] }} fixed ${{ env['NEW'] }} o"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("github.sha", "f" * 40),
        ("github.ref", "refs/heads/main"),
        ("github.ref_name", "main"),
        ("github.head_ref", ""),
        ("github.repository", "octo/app"),
        ("github.repository_owner", "octo"),
        ("github.event_name", "push"),
        ("github.workflow", "CI"),
        ("github.run_id", "1001"),
        ("github.run_attempt", "1"),
        ("runner.os-runner.arch", ""),
        ("job.status", "success"),
        ("github.workspace", "${{ github['workspace'] }}"),
        ("runner.temp", "${{ runner['temp'] }}"),
    ],
)
def test_contexts_of_a_push(expression: str, value: str) -> None:
    if expression == "runner.os-runner.arch":
        expression, value = "format('{0}-{1}', runner.os, runner.arch)", "Linux-X64"
    file = steps_file(f'- {{name: T, run: "x ${{{{ {expression} }}}}"}}')
    assert check_of(file, job("test", failing="T")).command == f"x {value}".strip()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("github.ref", "refs/pull/5/merge"),
        ("github.ref_name", "5/merge"),
        ("github.head_ref", "topic"),
        ("github.base_ref", "main"),
        ("github.event.pull_request.number", "5"),
        ("github.event.pull_request.head.sha", "f" * 40),
        ("github.event.pull_request.base.sha", "b" * 40),
    ],
)
def test_contexts_of_a_pull_request(expression: str, value: str) -> None:
    file = steps_file(f"- {{name: T, run: 'x ${{{{ {expression} }}}}'}}")
    pull = run_facts().model_validate({**run_facts().model_dump(), **PULL})
    facts = {name: getattr(pull, name) for name in PULL}
    assert check_of(file, job("test", failing="T"), **facts).command == f"x {value}"


@pytest.mark.parametrize("expression", ["github.sha", "github.event.pull_request.title", "github.token"])
def test_what_a_pull_request_does_not_tell_is_named(expression: str) -> None:
    pull = run_facts().model_validate({**run_facts().model_dump(), **PULL})
    facts = {name: getattr(pull, name) for name in PULL}
    refusal = refusal_of(
        steps_file(f"- {{name: T, run: 'x ${{{{ {expression} }}}}'}}"), job("test", failing="T"), **facts
    )
    assert f"step 'T': the expression '{expression}' cannot be known here" in refusal


@pytest.mark.parametrize(
    ("steps", "before", "why"),
    [
        ("- run: pytest", "env: {K: '${{ secrets.K }}'}", "sets K in its environment, but the expression 'secrets.K'"),
        ("- {run: pytest, env: {K: '${{ vars.K }}'}}", "", "step 'Run pytest' sets K in its environment"),
        ("- {run: make, env: {K: '${{ secrets.K }}'}}\n- run: pytest", "", "step 'Run make' sets K"),
        ("- run: pytest", "env: '${{ fromJSON(vars.ENV) }}'", "'fromJSON(vars.ENV)'"),
        ("- run: pytest", "env: words", "that is no mapping"),
        ("- {run: pytest, shell: pwsh}", "", "the shell 'pwsh' is not to be had here"),
        ("- run: pytest", "defaults: {run: {shell: cmd}}", "the shell 'cmd'"),
        ("- run: pytest", "runs-on: windows-latest", "it runs on 'windows-latest'"),
        ("- run: pytest", "runs-on: [self-hosted, macOS]", "it runs on 'macos'"),
        ("- run: pytest", "runs-on: {labels: windows-big}", "it runs on 'windows-big'"),
        ("- run: pytest", "runs-on: '${{ vars.RUNNER }}'", "'vars.RUNNER'"),
        ("- run: pytest", "services: {db: {image: postgres}}", "it needs services (db)"),
        ("- run: pytest", "container: python:3.12", "it runs in a container"),
        ("- run: pytest", "container: {image: x}", "it runs in a container"),
        ("- run: pytest", "uses: ./.github/workflows/x.yml", "it calls the workflow './.github/workflows/x.yml'"),
        ("- {name: Run pytest, uses: some/action@v1}", "", "uses the action 'some/action@v1', which is not known here"),
        ("- {name: Run pytest, uses: actions/cache@v4}", "", "which runs no check"),
        ("- {name: Run pytest, run: '${{ matrix.none }}'}", "", "failed, but there is nothing that it runs"),
        ("- run: other", "", "what failed, 'Run pytest', is no step of the workflow file"),
    ],
    ids=lambda value: value[:50],
)
def test_what_cannot_be_proved_here_is_unverifiable_and_says_why(steps: str, before: str, why: str) -> None:
    file = steps_file(steps, before=before)
    if "runs-on" in before:
        file = file.replace("    runs-on: ubuntu-latest\n", "")
    refusal = refusal_of(file)
    assert why in refusal
    assert refusal.startswith("job 'test' cannot be checked: ")
    assert refusal.endswith("(`checks` in .github/sweeper.yml can name commands instead)")


@pytest.mark.parametrize(
    ("runs_on", "note"),
    [
        ("ubuntu-24.04-arm", "it ran on ARM in CI"),
        ("[self-hosted, linux]", "its runner 'self-hosted, linux' is taken for a usual Linux one"),
        ("ubuntu-24.04", None),
        ("'${{ github.event_name == ''push'' && ''ubuntu-latest'' || ''macos-latest'' }}'", None),
    ],
)
def test_other_linux_runners_will_do_and_that_is_said(runs_on: str, note: str | None) -> None:
    file = steps_file("- run: pytest").replace("ubuntu-latest", runs_on, 1)
    plan = plan_of(file)
    assert plan.checks
    assert [reason for reason in plan.reasons if reason.startswith("Job")] == (
        [f"Job 'test': {note}" + plan.reasons[0].partition(note)[2]] if note else []
    )


def test_no_container_by_an_expression_is_none() -> None:
    assert check_of(steps_file("- run: pytest", before="container: '${{ matrix.image }}'")).command == "pytest"


def test_a_job_that_died_without_a_failing_step_has_a_check_only_if_it_has_one_script() -> None:
    died = job("test", failing=None)
    assert check_of(steps_file("- uses: actions/checkout@v4\n- run: pytest"), died).command == "pytest"
    assert "it died without a step that failed" in refusal_of(steps_file("- run: a\n- run: b"), died)


@pytest.mark.parametrize(
    ("script", "is_left_out"),
    [
        ("", True),
        ("# nothing yet", True),
        ('echo "$CONTEXT"', True),
        ("echo one\necho two", True),
        ("echo x >> $GITHUB_ENV", False),
        ("echo x | tee y", False),
        ("echo $(make)", False),
        ("echo `make`", False),
        ("echo x; make", False),
        ("echo x && make", False),
        ("echo a\\\nmake", False),
        ("echo ::add-path::/x", False),
        ("echoes", False),
    ],
)
def test_a_step_that_only_says_something_is_left_out_whatever_it_would_say(script: str, is_left_out: bool) -> None:
    head = "- name: Note\n  env: {CONTEXT: '${{ toJSON(github) }}'}\n  run: |\n    "
    plan = plan_of(steps_file(head + script.replace("\n", "\n    ") + "\n- run: pytest"))
    assert bool(plan.checks) == is_left_out
