"""Which failing command is mended how: every row of the catalogue, and the spellings that workflows use."""

import pytest

from adapters.agents.fixing import Complaint, Place, fits, packages_asked, repairs
from adapters.agents.fixing.catalogue import FIXERS
from sweeper.model import Check, FailureClass

FIX = "--fix --no-unsafe-fixes"
NPM_LOCK = "--package-lock-only --ignore-scripts --no-audit --no-fund"
CLIPPY = "--fix --allow-dirty --allow-staged"

ROWS = [
    # Lock files
    ("uv lock --check", "uv lock"),
    ("uv lock --locked --project a", "uv lock --project a"),
    ("uv sync --locked --all-extras --dev", "uv lock"),
    ("uv --directory=backend sync --locked", "uv --directory=backend lock"),
    ("poetry check --lock", "poetry lock"),
    ("poetry lock --check", "poetry lock"),
    ("poetry install --no-interaction --with dev", "poetry lock"),
    ("npm ci", f"npm install {NPM_LOCK}"),
    ("npm ci --prefer-offline --prefix web", f"npm install {NPM_LOCK} --prefix web"),
    ("npm ci --legacy-peer-deps --no-audit", f"npm install {NPM_LOCK} --legacy-peer-deps"),
    ("pnpm install --frozen-lockfile", "pnpm install --lockfile-only --no-frozen-lockfile --ignore-scripts"),
    ("yarn install --immutable", "yarn install --mode=update-lockfile --no-immutable"),
    ("cargo build --locked --release", "cargo update --workspace"),
    (
        "cargo +1.80 test --locked --manifest-path x/Cargo.toml -- -q",
        "cargo +1.80 update --workspace --manifest-path x/Cargo.toml",
    ),
    ("go mod tidy -diff", "go mod tidy"),
    ("go mod tidy && git diff --exit-code", "go mod tidy"),
    ("go build ./...", "go mod tidy"),
    ("pip-compile --dry-run requirements.in -o requirements.txt", "pip-compile requirements.in -o requirements.txt"),
    ("uv pip compile requirements.in -o requirements.txt", "uv pip compile requirements.in -o requirements.txt"),
    # Everything at once
    ("pre-commit run --all-files --show-diff-on-failure", "pre-commit run --all-files || pre-commit run --all-files"),
    ("SKIP=mypy pre-commit run -a", "SKIP=mypy pre-commit run -a || SKIP=mypy pre-commit run -a"),
    ("uvx pre-commit run -a", "uvx pre-commit run -a || uvx pre-commit run -a"),
    ("prek run --all-files", "prek run --all-files || prek run --all-files"),
    # Python
    ("ruff check .", f"ruff check {FIX} ."),
    ("ruff check src tests --select E,F", f"ruff check {FIX} src tests --select E,F"),
    ("ruff check --config=a.toml --output-format=github .", f"ruff check {FIX} --config=a.toml ."),
    ("ruff check --output-format github --no-fix .", f"ruff check {FIX} ."),
    ("ruff check --diff --exit-zero -o report.txt .", f"ruff check {FIX} ."),
    ("ruff check --fix --unsafe-fixes --exit-non-zero-on-fix .", f"ruff check {FIX} ."),
    ("ruff --config a.toml check .", f"ruff --config a.toml check {FIX} ."),
    ("ruff check format", f"ruff check {FIX} format"),
    ("ruff format --check check", "ruff format check"),
    ("ruff format --check --diff --config x src", "ruff format --config x src"),
    ("autoflake --check -r --remove-all-unused-imports .", "autoflake --in-place -r --remove-all-unused-imports ."),
    ("pyupgrade --py311-plus a.py b.py", "pyupgrade --py311-plus a.py b.py"),
    ("codespell docs -S '*.svg'", "codespell --write-changes docs -S '*.svg'"),
    ("isort --check-only --diff --profile black .", "isort --profile black ."),
    ("isort -c src", "isort src"),
    ("usort check src", "usort format src"),
    ("black --check --diff --line-length 100 .", "black --line-length 100 ."),
    ("black . && git diff --exit-code", "black ."),
    ("autopep8 --diff --exit-code -r src", "autopep8 --in-place -r src"),
    ("yapf -d -r src", "yapf --in-place -r src"),
    ("docformatter --check -r src", "docformatter --in-place -r src"),
    # JavaScript, styles, Markdown
    ("eslint . --max-warnings 0 --ext .ts,.tsx", "eslint --fix . --ext .ts,.tsx"),
    ("eslint --quiet --format=stylish 'src/**/*.ts'", "eslint --fix 'src/**/*.ts'"),
    ("npx --no-install oxlint --deny-warnings src", "npx --no-install oxlint --fix --deny-warnings src"),
    ("npx standard", "npx standard --fix"),
    ("xo src", "xo --fix src"),
    ("ts-standard", "ts-standard --fix"),
    ('stylelint "**/*.{css,scss}" --max-warnings=0', 'stylelint --fix "**/*.{css,scss}"'),
    ("markdownlint '**/*.md'", "markdownlint --fix '**/*.md'"),
    ("npx markdownlint-cli2 '**/*.md' '#node_modules'", "npx markdownlint-cli2 --fix '**/*.md' '#node_modules'"),
    ("biome ci .", "biome check --write ."),
    ("biome ci --reporter=github --error-on-warnings src", "biome check --write src"),
    ("npx @biomejs/biome check src", "npx @biomejs/biome check --write src"),
    ("biome lint .", "biome lint --write ."),
    ("biome format --colors=off .", "biome format --write --colors=off ."),
    ("deno lint", "deno lint --fix"),
    ("deno fmt --check src", "deno fmt src"),
    ("prettier --check .", "prettier --write ."),
    (
        'npx prettier -c "src/**/*.{ts,tsx}" --log-level warn',
        'npx prettier --write "src/**/*.{ts,tsx}" --log-level warn',
    ),
    ("npx prettier@3.3.3 -l src", "npx prettier@3.3.3 --write src"),
    ("dprint check", "dprint fmt"),
    # Others
    (
        "cargo clippy --all-targets -- -D warnings -W clippy::all",
        f"cargo clippy {CLIPPY} --all-targets -- -W clippy::all",
    ),
    ("golangci-lint run --timeout 5m ./...", "golangci-lint run --fix --timeout 5m ./..."),
    ("bundle exec rubocop --parallel --format github", "bundle exec rubocop --autocorrect"),
    ("goimports -l .", "goimports -w ."),
    ("gofumpt -l -d .", "gofumpt -w ."),
    ("gofmt -s -l .", "gofmt -w -s ."),
    ("cargo fmt --all -- --check", "cargo fmt --all --"),
    ("cargo +nightly fmt --check", "cargo +nightly fmt"),
    ("rustfmt --check --edition 2021 src/*.rs", "rustfmt --edition 2021 src/*.rs"),
    ("clang-format --dry-run --Werror src/*.c", "clang-format -i src/*.c"),
    ("terraform fmt -check -recursive -diff", "terraform fmt -recursive"),
    ("tofu fmt -check=true infra", "tofu fmt infra"),
    ("shfmt -d -i 2 scripts", "shfmt -w -i 2 scripts"),
    ("taplo fmt --check", "taplo fmt"),
    ("taplo format --check --diff a.toml", "taplo format a.toml"),
    ("yamlfmt -lint .", "yamlfmt ."),
    ("buf format -d --exit-code", "buf format -w"),
    ("stylua --check .", "stylua ."),
    ("mix format --check-formatted", "mix format"),
    ("zig fmt --check src", "zig fmt src"),
    ("dart format --output=none --set-exit-if-changed .", "dart format ."),
    ("dotnet format --verify-no-changes x.sln", "dotnet format x.sln"),
]

SPELLINGS = [
    ("ruff check", f"ruff check {FIX}"),
    ("ruff check 'a b' \"c d\" src/*.py", f"ruff check {FIX} 'a b' \"c d\" src/*.py"),
    ("black --check --exclude '(a|b) # no' .", "black --exclude '(a|b) # no' ."),
    ("black --check a\\ b.py", "black a\\ b.py"),
    ("python -m ruff check .", f"python -m ruff check {FIX} ."),
    ("python3.12 -m black --check", "python3.12 -m black"),
    ("python -W error -m black --check .", None),
    ("python -I -m black --check .", "python -I -m black ."),
    (".venv/bin/ruff check .", f".venv/bin/ruff check {FIX} ."),
    ("./node_modules/.bin/prettier --check .", "./node_modules/.bin/prettier --write ."),
    ("uv run ruff check .", f"uv run ruff check {FIX} ."),
    ("uv run --frozen --with ruff ruff check .", f"uv run --frozen --with ruff ruff check {FIX} ."),
    ("uvx ruff@0.6.2 check .", f"uvx ruff@0.6.2 check {FIX} ."),
    ("pipx run black==24.1.0 --check .", "pipx run black==24.1.0 ."),
    ("poetry run python -m ruff check .", f"poetry run python -m ruff check {FIX} ."),
    ("yarn prettier --check src", "yarn prettier --write src"),
    ("pnpm exec eslint .", "pnpm exec eslint --fix ."),
    ("pnpm dlx prettier -c .", "pnpm dlx prettier --write ."),
    ("npm exec -- eslint .", "npm exec -- eslint --fix ."),
    ("RUFF_X=1 ruff check .", f"RUFF_X=1 ruff check {FIX} ."),
    ("FOO='a b' black --check .", "FOO='a b' black ."),
    ("env -u X ruff check .", None),
    ("env FOO=1 black --check .", "env FOO=1 black ."),
    ("ruff check . || true", f"ruff check {FIX} ."),
    ("ruff check . || exit 1", f"ruff check {FIX} ."),
    ("ruff check . 2>&1 | tee log.txt", f"ruff check {FIX} ."),
    ("ruff check . > report.txt", f"ruff check {FIX} ."),
    ("ruff check . &> report.txt", f"ruff check {FIX} ."),
    ("ruff check . # lint", f"ruff check {FIX} ."),
    ("# ruff check .\nblack --check .", "black ."),
    ("ruff check \\\n  src \\\n  tests", f"ruff check {FIX} src tests"),
    ("if ! black --check .; then\n  echo 'run black'\n  exit 1\nfi", "black ."),
    ("while ! black --check .; do sleep 1; done", "black ."),
    ("! ruff check fixtures/broken && black --check .", "black ."),
    ("! ruff check fixtures/broken | tee log\nblack --check .", "black ."),
    ('test -z "$(gofmt -l .)"', "gofmt -w ."),
    ("test -z `gofmt -l .`", "gofmt -w ."),
    ("diff -u <(echo -n) <(gofmt -d -s .)", "gofmt -w -s ."),
    ("if [ -n \"$(gofmt -s -l $(git ls-files '*.go'))\" ]; then exit 1; fi", "gofmt -w -s $(git ls-files '*.go')"),
    ("black --check $(git ls-files '*.py')", "black $(git ls-files '*.py')"),
    ("git ls-files -z '*.c' | xargs -0 clang-format -n -Werror", "git ls-files -z '*.c' | xargs -0 clang-format -i"),
    ("cd backend && ruff check .", f"cd backend && ruff check {FIX} ."),
    ("cd a\ncd b; black --check .", "cd a && cd b && black ."),
    ("(cd a && ls)\nblack --check .", "black ."),
    ("(cd a && black --check .)", "cd a && black ."),
    (
        "set -e\ncd backend\npip install black==24.1\nblack --check .",
        "cd backend && { pip install black==24.1 || true; } && black .",
    ),
    (
        "python -m venv v\n. v/bin/activate\npip install -q black\nblack --check .",
        "{ python -m venv v || true; } && . v/bin/activate && { pip install -q black || true; } && black .",
    ),
    ("DIRS='a b'\nblack --check $DIRS", "DIRS='a b' && black $DIRS"),
    ('export D=src; black --check "$D"', 'export D=src && black "$D"'),
    ("black --check $GITHUB_WORKSPACE/src", "black $GITHUB_WORKSPACE/src"),
    ("black --check '$UNKNOWN'", "black '$UNKNOWN'"),
]

LEFT_ALONE = [
    *("pytest -q", "pytest tests/ruff check", "echo ruff check .", "ruff", "ruff version", "ruff rule check"),
    *("! black --check .", "a && ! ruff check broken", "! time black --check ."),
    *("ruff check $UNKNOWN", "ruff check 'open quote", "cat <<EOF | ruff check -", "cat a.py | black -", ""),
    *("for f in a b; do black --check $f; done", 'lint() { black --check "$@"; }', "make lint", "tox -e lint"),
    *("uv sync", "uv sync --frozen", "poetry check", "cargo build", "terraform validate", "npm install", "biome start"),
    *("dotnet build", "uv run pytest", "npx", "python -m", "xargs black", "pre-commit install", "npm run lint"),
]


def scripts(*commands: str, **more: object) -> list[str]:
    checks = [Check.model_validate({"name": "c", "command": command, **more}) for command in commands]
    return [repair.script for repair in repairs(checks)]


@pytest.mark.parametrize(("command", "mended"), ROWS)
def test_each_tool_has_a_mending_form(command: str, mended: str) -> None:
    assert scripts(command) == [mended]


def test_every_row_of_the_catalogue_is_in_the_table() -> None:
    used = {repair.fixer for command, _ in ROWS for repair in repairs([Check(name="c", command=command)])}
    assert [fixer.name for fixer in FIXERS if fixer not in used] == []


@pytest.mark.parametrize(("command", "mended"), SPELLINGS)
def test_only_the_tools_own_words_change(command: str, mended: str | None) -> None:
    assert scripts(command) == ([mended] if mended else [])


@pytest.mark.parametrize("command", LEFT_ALONE)
def test_leaves_alone(command: str) -> None:
    assert scripts(command) == []


def test_a_shell_that_cannot_be_read_is_left_alone() -> None:
    assert scripts("black --check .", shell="pwsh") == []
    assert scripts("black --check .", shell="bash -l {0}") == ["black ."]


def test_lint_comes_before_format_whatever_the_plans_order() -> None:
    assert scripts("ruff format --check .", "ruff check .") == [f"ruff check {FIX} .", "ruff format ."]


def test_several_tools_may_stand_in_one_script() -> None:
    command = "prettier -c . && black --check .\nisort -c . ; ruff check ."
    assert scripts(command) == [f"ruff check {FIX} .", "isort .", "black .", "prettier --write ."]


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


@pytest.mark.parametrize(
    "text",
    [
        *("$(" * 20_000, "$(a);" * 12_000, "`" * 20_001, '"' * 20_001, "a" * 60_000, "\\" * 30_001),
        *("a;" * 30_000, "cd a;" * 12_000, "x=1;" * 15_000, "a|" * 30_000, "black;" * 501, " " * 65_536),
    ],
    ids=lambda text: repr(text[:6]),
)
def test_a_script_that_is_made_to_be_slow_is_not_read(text: str) -> None:
    assert scripts(f"{text} black --check .") == []


def test_a_long_script_is_read() -> None:
    for before in ("echo hello\n" * 400, "(" * 30_000):
        assert scripts(f"{before} black --check .") == ["black ."]


PACKAGE = {
    "lint": "eslint . --max-warnings 0",
    "lint:all": "npm run lint && npm run style",
    "style": "stylelint '**/*.css'",
    "format:check": "prettier --check .",
    "both": "eslint src && prettier --check src",
    "local": "NODE_ENV=test ./node_modules/.bin/prettier -c .",
    "there": "cd app && npx prettier -c .",
    "loop": "npm run loop",
    "prettier": "prettier --check docs",
}


@pytest.mark.parametrize(
    ("command", "mended"),
    [
        ("npm run lint", ["npx --no-install eslint --fix ."]),
        ("npm run --silent lint -- --ext .ts", ["npx --no-install eslint --fix . --ext .ts"]),
        ("npm run lint:all", ["npx --no-install eslint --fix .", "npx --no-install stylelint --fix '**/*.css'"]),
        ("npm run both -- lib", ["npx --no-install eslint --fix src", "npx --no-install prettier --write src lib"]),
        ("yarn lint", ["yarn run eslint --fix ."]),
        ("yarn run format:check", ["yarn run prettier --write ."]),
        ("yarn prettier", ["yarn run prettier --write docs"]),
        ("yarn lint --ext .ts", ["yarn run eslint --fix . --ext .ts"]),
        ("pnpm lint", ["pnpm exec eslint --fix ."]),
        ("pnpm run format:check", ["pnpm exec prettier --write ."]),
        ("bun run lint", ["bunx --no-install eslint --fix ."]),
        ("CI=1 npm run lint", ["npx --no-install eslint --fix ."]),
        ("npm run local", ["NODE_ENV=test npx --no-install ./node_modules/.bin/prettier --write ."]),
        ("npm run there", ["cd app && npx prettier --write ."]),
        ("npm ci && npm run lint", ["{ npm ci || true; } && npx --no-install eslint --fix ."]),
        ("npm run loop", []),
        ("npm run absent", []),
        ("npm run", []),
    ],
)
def test_a_script_of_package_json_is_looked_up(command: str, mended: list[str]) -> None:
    check = Check(name="c", command=command)
    found = repairs([check], {Place("."): PACKAGE})
    assert [repair.script for repair in found if "lock" not in repair.fixer.name] == mended


@pytest.mark.parametrize(
    ("command", "moves"),
    [
        ("cd web && npm run lint", ("cd web",)),
        ("npm --prefix web run lint", ("cd web",)),
        ("npm run lint --prefix=web", ("cd web",)),
        ("yarn --cwd web lint", ("cd web",)),
        ("pnpm -C web run lint", ("cd web",)),
        ("cd a; npm run lint --prefix web", ("cd a", "cd web")),
    ],
)
def test_a_package_json_is_asked_for_where_the_command_runs(command: str, moves: tuple[str, ...]) -> None:
    check = Check(name="c", command=command, working_directory="deep")
    assert packages_asked([check]) == (Place("deep", moves),)
    (repair,) = repairs([check], {Place("deep", moves): PACKAGE})
    assert repair.script.startswith(" && ".join(moves) + " && ")


def test_no_package_json_is_asked_for_without_need() -> None:
    commands = ("ruff check .", "npm ci", "npx eslint .", "npm exec eslint", "echo npm run lint")
    assert packages_asked([Check(name="c", command=command) for command in commands]) == ()


@pytest.mark.parametrize(
    ("command", "failure_class", "log", "expected"),
    [
        ("ruff check .", FailureClass.LINT, "", True),
        ("ruff check .", FailureClass.FORMAT, "", True),
        ("ruff check .", FailureClass.UNKNOWN, "", True),
        ("ruff check .", FailureClass.TEST, "", False),
        ("ruff check .", FailureClass.INFRASTRUCTURE, "", False),
        (
            "npm ci",
            FailureClass.DEPENDENCY,
            "npm error `npm ci` can only install packages when your package.json and",
            True,
        ),
        ("npm ci", FailureClass.DEPENDENCY, "npm error 404 'x' is not in this registry", False),
        ("npm ci", FailureClass.LINT, "`npm ci` can only install packages when your package.json and", False),
        ("uv lock --check", FailureClass.DEPENDENCY, "", True),
        (
            "cargo test --locked",
            FailureClass.DEPENDENCY,
            "error: cannot update the lock file /x/Cargo.lock because",
            True,
        ),
        ("cargo test --locked", FailureClass.BUILD, "error[E0308]: mismatched types", False),
        ("go build ./...", FailureClass.BUILD, "a.go:3:2: missing go.sum entry for module", True),
        ("go build ./...", FailureClass.BUILD, "a.go:3:2: undefined: x", False),
    ],
)
def test_a_fixer_is_for_some_diagnoses(command: str, failure_class: FailureClass, log: str, expected: bool) -> None:
    (repair,) = repairs([Check(name="c", command=command)])
    assert fits(repair, Complaint(failure_class, log)) is expected
