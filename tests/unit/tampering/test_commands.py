"""Which files a command runs or obeys, and which it only looks at."""

import pytest

from sweeper.policy.tampering.commands import files_that_decide


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("./check.sh", "./check.sh"),
        ("scripts/lint --all", "scripts/lint"),
        ("bash -e tools/check.sh now", "tools/check.sh"),
        ("python tools/check.py src", "tools/check.py"),
        ("python3.11 -X dev manage.py test", "manage.py"),
        ("node --test-reporter=spec run.js", "run.js"),
        ("cd sub && FOO=1 env BAR=2 ./run", "./run"),
        ("uv run ./run", "./run"),
        ("poetry run python check.py", "check.py"),
        (". ./env.sh; pytest", "./env.sh"),
        ("timeout 60 ./slow.sh", "./slow.sh"),
        ("pytest -c ci.ini", "ci.ini"),
        ("mypy --config-file=strict.ini src", "strict.ini"),
        ("make -f ci.mk test", "ci.mk"),
        ("if ! ./check; then exit 1; fi", "./check"),
        ("echo $(./version.sh)", "./version.sh"),
    ],
)
def test_what_is_run_or_obeyed_decides(command: str, file: str) -> None:
    assert file in set(files_that_decide(command))


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("grep -q good file.txt", "file.txt"),
        ("ruff check app.py", "app.py"),
        ("mypy src/x.py", "src/x.py"),
        ("black --check setup.py", "setup.py"),
        ("python -m pyflakes app.py", "app.py"),
        ("python -c 'import app' app.py", "app.py"),
        ("test -s out.json && diff want.json out.json", "out.json"),
        ("cat 'it is' app.py", "app.py"),
    ],
)
def test_what_is_only_looked_at_does_not(command: str, file: str) -> None:
    assert file not in set(files_that_decide(command))


@pytest.mark.parametrize("command", ["", "&& ;; |", "'", "((((", "-c", "env", "$(", "\n\n", "a" * 100_000])
def test_odd_commands_are_no_error(command: str) -> None:
    list(files_that_decide(command))
