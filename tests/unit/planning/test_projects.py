"""Whole workflow files in the shapes that projects of several languages have them."""

import pytest

from tests.support.values import job
from tests.unit.planning.plans import check_of, plan_of, recorded

PYTHON = """
name: CI
on: {push: {branches: [main]}, pull_request: {}}
concurrency: {group: "ci-${{ github.ref }}", cancel-in-progress: true}
permissions: {contents: read}
env: {FORCE_COLOR: 1, PIP_DISABLE_PIP_VERSION_CHECK: 1}
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: 3.x, cache: pip}
      - uses: pre-commit/action@v3.0.1
  tests:
    name: ${{ matrix.name || format('Python {0}', matrix.python) }}
    needs: lint
    runs-on: ${{ matrix.os || 'ubuntu-latest' }}
    timeout-minutes: 15
    strategy:
      fail-fast: false
      matrix:
        include:
          - {python: "3.11"}
          - {python: "3.12"}
          - {name: Windows, python: "3.12", os: windows-latest}
          - {name: Oldest, python: "3.11", extra: --resolution lowest-direct}
    steps:
      - uses: actions/checkout@v4
        with: {fetch-depth: 0, persist-credentials: false}
      - uses: astral-sh/setup-uv@v6
        with: {enable-cache: true, cache-dependency-glob: uv.lock}
      - uses: actions/setup-python@v5
        with: {python-version: "${{ matrix.python }}", allow-prereleases: true}
      - name: Install
        run: |
          uv venv
          uv pip install ${{ matrix.extra }} -e '.[test]'
      - name: Versions
        run: uv pip list
        continue-on-error: true
      - name: Test
        run: .venv/bin/pytest --cov --cov-report=xml
        env: {HYPOTHESIS_PROFILE: ci}
      - name: Types
        if: matrix.python == '3.12'
        run: .venv/bin/mypy src
      - uses: codecov/codecov-action@v5
        if: ${{ !cancelled() }}
        with: {token: "${{ secrets.CODECOV_TOKEN }}"}
"""

NODE = """
name: test
on: [push, pull_request]
defaults: {run: {shell: bash}}
jobs:
  test:
    strategy:
      matrix:
        node: [20, 22]
        os: [ubuntu-latest, windows-latest]
        exclude: [{node: 20, os: windows-latest}]
    runs-on: ${{ matrix.os }}
    steps:
      - run: git config --global core.autocrlf false
        if: runner.os == 'Windows'
      - uses: actions/checkout@v4
      - uses: pnpm/action-setup@v4
      - uses: actions/setup-node@v4
        with: {node-version: "${{ matrix.node }}", cache: pnpm}
      - id: cache
        uses: actions/cache@v4
        with: {path: dist, key: "dist-${{ hashFiles('src/**') }}"}
      - run: pnpm install --frozen-lockfile
      - run: pnpm build
        if: steps.cache.outputs.cache-hit != 'true'
      - run: pnpm test -- --shard=${{ strategy.job-index }}
        working-directory: packages/core
      - run: pnpm lint
"""

GO = """
on: push
jobs:
  golangci:
    name: lint
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-go@v5
        with: {go-version-file: go.mod}
      - uses: golangci/golangci-lint-action@v6
        with: {version: v2.1, args: --timeout 5m}
  test:
    strategy: {matrix: {go: [stable, oldstable], tags: ["", "-tags nomsg"]}}
    name: go ${{ matrix.go }} ${{ matrix.tags }}
    runs-on: ubuntu-latest
    env: {GO111MODULE: on, TESTTAGS: "${{ matrix.tags }}"}
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.ref }}"}
      - uses: actions/setup-go@v5
        with: {go-version: "${{ matrix.go }}", cache: false}
      - run: go vet ./...
      - run: go test -race $TESTTAGS ./...
      - {name: Upload, uses: actions/upload-artifact@v4, if: always()}
"""

RUST = """
on: {push: {}, schedule: [{cron: 40 1 * * *}]}
env: {RUSTFLAGS: -Dwarnings, CARGO_TERM_COLOR: always}
jobs:
  test:
    name: Rust ${{matrix.rust}}
    runs-on: ubuntu-latest
    strategy: {matrix: {rust: [stable, "1.70"]}}
    steps:
      - uses: actions/checkout@v4
      - uses: dtolnay/rust-toolchain@master
        with: {toolchain: "${{matrix.rust}}"}
      - uses: Swatinem/rust-cache@v2
      - name: Deny warnings on the newest only
        if: matrix.rust == '1.70'
        run: echo RUSTFLAGS= >> $GITHUB_ENV
      - run: cargo build --workspace
      - run: cargo test --workspace
  clippy:
    runs-on: ubuntu-latest
    if: github.event_name != 'pull_request'
    steps:
      - uses: actions/checkout@v4
      - uses: dtolnay/rust-toolchain@clippy
      - run: cargo clippy --workspace -- -Dclippy::all
"""


PYTEST = ".venv/bin/pytest --cov --cov-report=xml"
SHARD = "pnpm test -- --shard=1"
GOLANGCI = "golangci/golangci-lint-action@v6"
RACE = "go test -race $TESTTAGS ./..."
CLIPPY = "cargo clippy --workspace -- -Dclippy::all"


@pytest.mark.parametrize(
    ("file", "failed", "expected", "tools"),
    [
        (
            PYTHON,
            ("lint", "Run pre-commit/action@v3.0.1"),
            ("pre-commit run --all-files", 1, 0),
            "python 3.x",
        ),
        (PYTHON, ("Python 3.12", "Test"), (PYTEST, 2, 1), "uv, python 3.12"),
        (PYTHON, ("Python 3.11", "Test"), (PYTEST, 2, 0), "uv, python 3.11"),
        (PYTHON, ("Python 3.12", "Types"), (".venv/bin/mypy src", 3, 0), "uv, python 3.12"),
        (NODE, ("test (22, ubuntu-latest)", f"Run {SHARD}"), (SHARD, 2, 1), "pnpm, node 22"),
        (
            GO,
            ("lint", f"Run {GOLANGCI}"),
            ("golangci-lint run --timeout 5m", 0, 0),
            "go file:go.mod, golangci-lint v2.1",
        ),
        (GO, ("go oldstable -tags nomsg", f"Run {RACE}"), (RACE, 1, 0), "go oldstable"),
        (RUST, ("Rust 1.70", "Run cargo test --workspace"), ("cargo test --workspace", 2, 0), "rust 1.70"),
        (RUST, ("clippy", f"Run {CLIPPY}"), (CLIPPY, 0, 0), "rust stable"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_plan_is_made_of(file: str, failed: tuple[str, str], expected: tuple[str, int, int], tools: str) -> None:
    name, step = failed
    check = check_of(file, job(name, failing=step))
    assert (check.command, len(check.before), len(check.after)) == expected
    assert ", ".join(f"{tool.name} {tool.version}".strip() for tool in check.tools) == tools


def test_rows_with_names_of_their_own_are_found_by_them() -> None:
    plan = plan_of(PYTHON, job("Windows", failing="Test"), job("Oldest", failing="Test"))
    assert plan.uncovered[0].startswith("job 'Windows' cannot be checked: it runs on 'windows-latest'")
    assert plan.checks[0].before[0].command.endswith("uv pip install --resolution lowest-direct -e '.[test]'")


def test_what_an_earlier_step_does_to_the_environment_reaches_the_check() -> None:
    new, old = (check_of(RUST, job(f"Rust {v}", failing="Run cargo test --workspace")) for v in ("stable", "1.70"))
    assert new.env == {"RUSTFLAGS": "-Dwarnings", "CARGO_TERM_COLOR": "always"}
    assert old.env["RUSTFLAGS"] == "${{ (env['RUSTFLAGS'] || '-Dwarnings') }}"


def test_the_whole_record_of_a_run_is_followed() -> None:
    steps = ["Set up job", "Run actions/checkout@v4", "Run pnpm/action-setup@v4", "Run actions/setup-node@v4"]
    evidence = recorded(
        "test (20, ubuntu-latest)",
        (steps[0], "success"),
        ("Run git config --global core.autocrlf false", "skipped"),
        *((name, "success") for name in steps[1:]),
        ("Run actions/cache@v4", "success"),
        ("Run pnpm install --frozen-lockfile", "success"),
        ("Run pnpm build", "skipped"),
        ("Run pnpm test -- --shard=0", "failure"),
        ("Run pnpm lint", "skipped"),
        ("Post Run actions/checkout@v4", "success"),
        ("Complete job", "success"),
    )
    check = check_of(NODE, evidence)
    assert [step.command for step in check.before] == ["pnpm install --frozen-lockfile"]
    assert (check.working_directory, check.shell) == ("packages/core", "bash")
