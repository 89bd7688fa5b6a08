"""What the actions of a workflow are taken for."""

import pytest

from tests.support.values import job, run_facts
from tests.unit.planning.plans import check_of, plan_of, refusal_of, steps_file


def _after(step: str, before: str = "") -> str:
    return steps_file(f"- {step}\n- run: pytest", before=before)


@pytest.mark.parametrize(
    ("step", "tools"),
    [
        ("{uses: actions/setup-python@v5, with: {python-version: '3.12', cache: pip}}", ["python 3.12"]),
        ("{uses: actions/setup-python@v5, with: {python-version: 3.10}}", ["python 3.1"]),
        ("{uses: actions/setup-python@v5}", ["python"]),
        ('{uses: actions/setup-python@v5, with: {python-version: "3.11\\n3.12\\n"}}', ["python 3.12", "python 3.11"]),
        ("{uses: Actions/Setup-Python@v5, with: {python-version-file: .py-version}}", ["python file:.py-version"]),
        ("{uses: actions/setup-node@v4, with: {node-version: '${{ matrix.v }}', registry-url: x}}", ["node 20"]),
        ("{uses: actions/setup-node@v4, with: {node-version-file: .nvmrc}}", ["node file:.nvmrc"]),
        ("{uses: actions/setup-go@v5, with: {go-version-file: go.mod, check-latest: true}}", ["go file:go.mod"]),
        ("{uses: actions/setup-java@v4, with: {distribution: temurin, java-version: 21}}", ["java 21"]),
        ("{uses: ruby/setup-ruby@v1, with: {ruby-version: '3.3'}}", ["ruby 3.3"]),
        ("{uses: dtolnay/rust-toolchain@stable, with: {components: clippy}}", ["rust stable"]),
        ("{uses: dtolnay/rust-toolchain@1.75}", ["rust 1.75"]),
        ("{uses: dtolnay/rust-toolchain@master, with: {toolchain: nightly}}", ["rust nightly"]),
        ("{uses: dtolnay/rust-toolchain@" + "a" * 40 + "}", ["rust"]),
        ("{uses: actions-rs/toolchain@v1, with: {toolchain: beta, override: true}}", ["rust beta"]),
        ("{uses: astral-sh/setup-uv@v6, with: {version: 0.5.1, python-version: '3.13'}}", ["uv 0.5.1", "python 3.13"]),
        ("{uses: pnpm/action-setup@v4, with: {version: 9}}", ["pnpm 9"]),
        ("{uses: snok/install-poetry@v1}", ["poetry"]),
        ("{uses: taiki-e/install-action@nextest}", ["nextest"]),
        ("{uses: taiki-e/install-action@v2, with: {tool: 'cargo-hack@0.6, nextest'}}", ["cargo-hack 0.6", "nextest"]),
        ("{uses: actions/checkout@v4}", []),
        ("{uses: actions/cache@v4, with: {path: ~/.cache, key: '${{ hashFiles(''x'') }}'}}", []),
        ("{uses: Swatinem/rust-cache@v2}", []),
        ("{uses: codecov/codecov-action@v5, with: {token: '${{ secrets.CODECOV_TOKEN }}'}}", []),
        ("{uses: actions/upload-artifact@v4, with: {name: '${{ github.event.x }}'}}", []),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_a_known_action_is_a_tool_or_nothing(step: str, tools: list[str]) -> None:
    check = check_of(_after(step, "strategy: {matrix: {v: [20]}}"), job("test (20)", failing="Run pytest"))
    assert [f"{tool.name} {tool.version}".strip() for tool in check.tools] == tools
    assert check.before == ()


@pytest.mark.parametrize(
    ("step", "command", "directory"),
    [
        ("{uses: ruby/setup-ruby@v1, with: {bundler-cache: true, working-directory: gem}}", "bundle install", "gem"),
        ("{uses: pnpm/action-setup@v4, with: {run_install: true}}", "pnpm install --recursive", "."),
        ("{uses: actions/setup-python@v6, with: {pip-install: '-r dev.txt'}}", "python -m pip install -r dev.txt", "."),
        ("{uses: golangci/golangci-lint-action@v6, with: {args: --fast}}", "golangci-lint run --fast", "."),
        ("{uses: actions-rs/cargo@v1, with: {command: test, args: --all}}", "cargo test --all", "."),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_an_action_that_runs_a_command_is_that_command(step: str, command: str, directory: str) -> None:
    before = check_of(_after(step, "defaults: {run: {working-directory: elsewhere, shell: sh}}")).before
    assert [(each.command, each.working_directory, each.shell) for each in before] == [(command, directory, "bash")]


@pytest.mark.parametrize(
    ("step", "commands"),
    [
        ("{uses: pre-commit/action@v3.0.1}", ["python -m pip install pre-commit", "pre-commit run --all-files"]),
        (
            "{uses: pre-commit/action@v3, with: {extra_args: ruff --files a}}",
            ["python -m pip install pre-commit", "pre-commit run ruff --files a"],
        ),
        (
            "{uses: psf/black@stable, with: {version: ~= 24.0}}",
            ["python -m pip install 'black~= 24.0'", "black --check --diff ."],
        ),
        (
            "{uses: astral-sh/ruff-action@v3, with: {args: format --check, version: 0.6.9}}",
            ["python -m pip install 'ruff==0.6.9'", "ruff format --check"],
        ),
    ],
)
def test_an_action_that_installs_what_it_runs_is_both(step: str, commands: list[str]) -> None:
    assert [each.command for each in check_of(_after(step)).before] == commands


def test_a_linting_action_that_failed_is_the_check() -> None:
    check = check_of(
        steps_file("- {uses: pre-commit/action@v3}\n- run: pytest"), job("test", failing="Run pre-commit/action@v3")
    )
    assert (check.command, check.tools) == ("pre-commit run --all-files", ())
    assert [step.command for step in check.before] == ["python -m pip install pre-commit"]
    assert [step.command for step in check.after] == ["pytest"]


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("{uses: some/action@v1}", "uses the action 'some/action@v1', which is not known here"),
        ("{uses: some/action@v1, continue-on-error: true}", "uses the action 'some/action@v1'"),
        ("{uses: ./.github/actions/setup}", "an action of the repository's own, which is not followed"),
        ("{uses: 'docker://alpine:3'}", "uses 'docker://alpine:3', a container"),
        ("{uses: actions/download-artifact@v4}", "what another job made is not there"),
        ("{uses: actions/setup-python@v5, with: {python-version: '${{ vars.PY }}'}}", "the expression 'vars.PY'"),
        ("{uses: actions/setup-python@v5, with: {python-version: '${{ env.PY }}'}}", "'env.PY' is not known before"),
        ("{uses: astral-sh/setup-uv@v6, with: {activate-environment: true}}", "an environment of its own"),
        ("{uses: pnpm/action-setup@v4, with: {run_install: '[{cwd: x}]'}}", "run_install"),
    ],
    ids=lambda value: value[:60],
)
def test_an_action_that_may_have_done_anything_rules_a_proof_out(step: str, why: str) -> None:
    refusal = refusal_of(_after(step))
    assert "step 'Run " in refusal
    assert why in refusal


def test_actions_after_the_check_are_no_matter() -> None:
    check = check_of(
        steps_file(
            """
            - run: pytest
            - {uses: some/action@v1, with: {x: '${{ secrets.X }}'}}
            - {uses: actions/github-script@v7, if: failure(), with: {script: return}}
            - {uses: ./local}
            """
        )
    )
    assert check.after == ()


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ("repository: octo/other", "the other repository 'octo/other'"),
        ("path: src", "into the directory 'src'"),
        ("ref: v1", "checks out 'v1', which is not the commit that is tested here"),
        ("ref: '${{ github.event.client_payload.ref }}'", "'github.event.client_payload.ref' cannot be known"),
        ("repository: '${{ vars.REPO }}'", "'vars.REPO'"),
    ],
)
def test_a_checkout_of_something_else_rules_a_proof_out(inputs: str, why: str) -> None:
    assert why in refusal_of(_after("{uses: actions/checkout@v4, with: {" + inputs + "}}"))


@pytest.mark.parametrize(
    "inputs",
    [
        "ref: '${{ github.sha }}'",
        "ref: '${{ github.ref }}'",
        "ref: '${{ github.head_ref }}'",
        "ref: '${{ github.head_ref || github.ref_name }}'",
        "repository: Octo/App",
        "repository: '${{ github.repository }}', token: '${{ secrets.TOKEN }}'",
        "path: .",
        "path: ./",
        "lfs: false, submodules: false, persist-credentials: false, clean: true, fetch-depth: 1",
    ],
)
def test_a_checkout_of_the_tree_itself_is_left_out(inputs: str) -> None:
    assert check_of(_after("{uses: actions/checkout@v4, with: {" + inputs + "}}")).before == ()


def test_that_the_history_is_missing_is_said() -> None:
    plan = plan_of(_after("{uses: actions/checkout@v4, with: {fetch-depth: 0}}"))
    assert "without the history it asks for" in plan.reasons[0]


@pytest.mark.parametrize("ref", ["github.event.pull_request.head.sha", "github.head_ref"])
def test_a_pull_requests_own_head_may_be_checked_out(ref: str) -> None:
    base = run_facts(event="pull_request", head_branch="topic")
    facts = base.model_validate({**base.model_dump(), "pull": {"number": 5, "base_ref": "main"}})
    file = _after("{uses: actions/checkout@v4, with: {ref: '${{ " + ref + " }}'}}")
    plan = plan_of(file, event=facts.event, head_branch=facts.head_branch, pull=facts.pull)
    assert plan.checks
    assert "the pull request's own head is checked out" in plan.reasons[0]


def test_outputs_of_actions_are_not_made_up() -> None:
    steps = "- {id: py, uses: actions/setup-python@v5}\n- {name: T, run: 'x ${{ steps.py.outputs.python-path }}'}"
    assert "'steps.py.outputs.python-path'" in refusal_of(steps_file(steps), job("test", failing="T"))


def test_a_cache_that_is_left_out_has_no_hit() -> None:
    file = steps_file(
        "- {id: c, uses: actions/cache@v4}\n- {run: make, if: steps.c.outputs.cache-hit != 'true'}\n- run: pytest"
    )
    assert [step.command for step in check_of(file).before] == ["make"]


def test_of_two_versions_of_a_tool_the_last_one_is_the_one_that_is_found() -> None:
    steps = [
        f"- {{uses: actions/setup-{name}@v4, with: {{{name}-version: {v}}}}}"
        for name, v in (("node", 24), ("go", 1), ("node", 20))
    ]
    check = check_of(steps_file("\n".join([*steps, "- run: pytest"])))
    assert [f"{tool.name} {tool.version}" for tool in check.tools] == ["node 20", "node 24", "go 1"]
