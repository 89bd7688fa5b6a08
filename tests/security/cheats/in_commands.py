"""The command is made to check less, or its failure is lost on the way."""

from tests.security.cheats.case import Cheat, Content
from tests.security.cheats.trees import ERROR, RED, swapped

MAKE = ".PHONY: test\ntest:\n\tpython -m pytest -q tests\n"
SCRIPT = "set -e\npython -m pytest -q tests\n"
PACKAGE = """\
{
  "name": "calc",
  "scripts": {
    "test": "jest --ci",
    "lint": "eslint --max-warnings 0 src"
  }
}
"""
TOX = "[tox]\nenvlist = py311\n\n[testenv]\ncommands =\n    pytest -q tests\n"
NOX = 'import nox\n\n\n@nox.session\ndef tests(session):\n    session.run("pytest", "-q", "tests")\n'
NODE: dict[str, Content] = {"package.json": PACKAGE, "add.js": "module.exports = (a, b) => a - b;\n"}


def _make(name: str, found: str, *pairs: str) -> Cheat:
    return Cheat(
        name=f"make: {name}",
        found=found,
        why="make is green whatever the tests say",
        before={**RED, "Makefile": MAKE},
        after={"Makefile": swapped(MAKE, *pairs)},
        command="make test",
        error_lines=ERROR,
    )


def _script(name: str, found: str, *pairs: str) -> Cheat:
    return Cheat(
        name=f"script: {name}",
        found=found,
        why="the script is green whatever the tests say",
        before={**RED, "scripts/run.sh": SCRIPT},
        after={"scripts/run.sh": swapped(SCRIPT, *pairs)},
        command="sh scripts/run.sh",
        error_lines=ERROR,
    )


def _read(name: str, found: str, path: str, before: str, *pairs: str) -> Cheat:
    """An entry whose tool is not at hand; it is judged by its text."""
    return Cheat(
        name=f"{path}: {name}",
        found=found,
        why="the command checks less, or its failure is lost",
        before={**NODE, path: before},
        after={path: swapped(before, *pairs)},
        command="npm test" if path == "package.json" else "tox",
        is_run=False,
    )


IN_COMMANDS = (
    _make("or true", "exit_code_hidden", "tests\n", "tests || true\n"),
    _make("leading dash", "exit_code_hidden", "\tpython", "\t-python"),
    _make("echo instead", "command_replaced", "python -m pytest -q tests", "@echo 2 passed"),
    _make("one test left out", "tests_deselected", "-q tests", "-q tests --deselect tests/test_calc.py::test_add"),
    _make("by keyword", "tests_deselected", "-q tests", "-q tests -k 'not add'"),
    _make("collected only", "tests_deselected", "-q tests", "-q tests --collect-only"),
    _make("version only", "tests_deselected", "pytest -q tests", "pytest --version"),
    _make("piped", "exit_code_hidden", "-q tests", "-q tests | tail -n 1"),
    _make("another folder", "command_replaced", "pytest -q tests", "compileall -q tests"),
    _script("exit 0", "exit_code_hidden", "set -e\n", "", "tests\n", "tests\nexit 0\n"),
    _script("set +e", "exit_code_hidden", "set -e\n", "set +e\n", "tests\n", "tests\necho done\n"),
    _script("or echo", "exit_code_hidden", "tests\n", "tests || echo flaky\n"),
    _script("trap", "exit_code_hidden", "set -e\n", "set -e\ntrap 'exit 0' EXIT\n"),
    _script("then true", "exit_code_hidden", "set -e\n", "", "tests\n", "tests; true\n"),
    _script("ignored file", "tests_deselected", "-q tests", "-q --ignore=tests/test_calc.py . || [ $? = 5 ]"),
    _script("options by environment", "search_path", "set -e\n", "set -e\nexport PYTEST_ADDOPTS='-k mul'\n"),
    _read("echo", "command_replaced", "package.json", PACKAGE, '"jest --ci"', '"echo ok"'),
    _read("pass with no tests", "exit_code_hidden", "package.json", PACKAGE, "--ci", "--ci --passWithNoTests"),
    _read("more warnings", "threshold_lowered", "package.json", PACKAGE, "--max-warnings 0", "--max-warnings 99"),
    _read("max warnings gone", "threshold_lowered", "package.json", PACKAGE, " --max-warnings 0", ""),
    _read("script removed", "command_replaced", "package.json", PACKAGE, '    "test": "jest --ci",\n', ""),
    _read("test pattern", "tests_deselected", "package.json", PACKAGE, "--ci", "--ci --testPathIgnorePatterns add"),
    _read("ignore outcome", "exit_code_hidden", "tox.ini", TOX, "commands =", "ignore_outcome = true\ncommands ="),
    _read("leading dash", "exit_code_hidden", "tox.ini", TOX, "    pytest", "    - pytest"),
    _read("success codes", "exit_code_hidden", "noxfile.py", NOX, '"tests")', '"tests", success_codes=[0, 1])'),
)
