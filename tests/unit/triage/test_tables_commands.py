"""What a script runs gives a class where its output says nothing that is known: the most serious of its commands."""

import pytest

from sweeper.model import FailureClass
from sweeper.policy.triage.clues import command_of

TEST, TYPE, LINT = FailureClass.TEST, FailureClass.TYPE, FailureClass.LINT
FORMAT, BUILD, DEPENDENCY = FailureClass.FORMAT, FailureClass.BUILD, FailureClass.DEPENDENCY

SCRIPTS: tuple[tuple[str, FailureClass], ...] = (
    ("pytest -q", TEST),
    ("python -m pytest tests", TEST),
    ("uv run pytest --cov", TEST),
    ("python3.12 -m unittest discover", TEST),
    ("python manage.py test", TEST),
    ("tox -e py311", TEST),
    ("pipx run nox -s tests", TEST),
    ("npm test", TEST),
    ("npm run test:unit", TEST),
    ("npm run --silent test", TEST),
    ("pnpm test", TEST),
    ("yarn test --ci", TEST),
    ("bun test", TEST),
    ("npx vitest run", TEST),
    ("npx jest --ci", TEST),
    ("./node_modules/.bin/jest --ci", TEST),
    ("go test ./...", TEST),
    ("cargo test --workspace", TEST),
    ("cargo nextest run", TEST),
    ("mvn -B verify", TEST),
    ("./mvnw --no-transfer-progress test", TEST),
    ("./gradlew check", TEST),
    ("./gradlew :app:test --stacktrace", TEST),
    ("make -j2 test", TEST),
    ("ctest --output-on-failure", TEST),
    ("ruff check .\nruff format --check .\npytest", TEST),
    ("mypy src", TYPE),
    ("npx tsc --noEmit", TYPE),
    ("npx pyright", TYPE),
    ("npm run typecheck", TYPE),
    ("ruff check . && mypy .", TYPE),
    ("ruff check .", LINT),
    ("uvx ruff check src", LINT),
    ("flake8 src", LINT),
    ("npm run lint", LINT),
    ("yarn lint", LINT),
    ("npx eslint . --max-warnings 0", LINT),
    ("pre-commit run --all-files", LINT),
    ("golangci-lint run", LINT),
    ("go vet ./...", LINT),
    ("cargo clippy -- -D warnings", LINT),
    ("make lint", LINT),
    ("ruff format --check .", FORMAT),
    ("black --check .", FORMAT),
    ("isort --check-only .", FORMAT),
    ("npx prettier --check .", FORMAT),
    ("cargo fmt --all -- --check", FORMAT),
    ("cargo +nightly fmt --check", FORMAT),
    ('test -z "$(gofmt -l .)"', FORMAT),
    ("go build ./...", BUILD),
    ("cargo build --release", BUILD),
    ("mvn package -DskipTests", BUILD),
    ("./gradlew assemble", BUILD),
    ("cmake --build build", BUILD),
    ("docker build -t app .", BUILD),
    ("npm run build", BUILD),
    ("python -m build", BUILD),
    ("make", BUILD),
    ("pip install -e .[dev]", DEPENDENCY),
    ("python -m pip install -r requirements.txt", DEPENDENCY),
    ("npm ci", DEPENDENCY),
    ("yarn install --frozen-lockfile", DEPENDENCY),
    ("poetry install", DEPENDENCY),
    ("uv sync --locked", DEPENDENCY),
    ("pip install -U pytest mypy\npip install tox", DEPENDENCY),
    ("pip install pytest && pytest", TEST),
    ("cargo install cargo-nextest", DEPENDENCY),
    ("npm install --no-save jest", DEPENDENCY),
    ("go mod download", DEPENDENCY),
    ("sudo apt-get install -y libfoo-dev", DEPENDENCY),
)
NOTHING_KNOWN = ("echo done", "./scripts/latest.sh", "cat pytest.ini", "export MAKEFLAGS=-j2", "ls toxic", "")


@pytest.mark.parametrize(("script", "expected"), SCRIPTS)
def test_a_script_has_the_class_of_the_most_serious_command_in_it(script: str, expected: FailureClass) -> None:
    known = command_of(script)
    assert known is not None
    assert known[0].failure_class is expected


@pytest.mark.parametrize("script", NOTHING_KNOWN)
def test_a_script_of_unknown_commands_has_no_class(script: str) -> None:
    assert command_of(script) is None
