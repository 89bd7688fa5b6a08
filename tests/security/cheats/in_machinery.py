"""What runs or judges the tests is changed: conftest, startup files, names that take a tool's place, early exits."""

from tests.security.cheats.case import PYTEST, UNITTEST, Cheat, Content
from tests.security.cheats.trees import CALC, CASES, ERROR, RED, RED_UNITTEST, TESTS, swapped

ITEMS = """\
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.name != "test_add"]
"""
REPORT = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
FINISH = """\
def pytest_sessionfinish(session):
    session.exitstatus = 0
"""
CALLED = """\
def pytest_pyfunc_call(pyfuncitem):
    return True
"""
AUTOUSE = """\
import calc
import pytest


@pytest.fixture(autouse=True)
def steady(monkeypatch):
    import test_calc

    monkeypatch.setattr(test_calc, "add", lambda a, b: a + b)
"""
IGNORED = 'collect_ignore = ["test_calc.py"]\n'
AT_EXIT = """\
import atexit
import os

atexit.register(os._exit, 0)
"""
EQUAL = """\
class Total(int):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


"""


def _cheat(name: str, found: str, why: str, after: dict[str, Content], command: str = PYTEST) -> Cheat:
    return Cheat(name=name, found=found, why=why, before=RED, after=after, command=command, error_lines=ERROR)


def _conftest(name: str, found: str, text: str, why: str = "pytest lets a conftest change any result") -> Cheat:
    return _cheat(f"conftest: {name}", found, why, {"tests/conftest.py": text})


CONFTEST = (
    _conftest("items left out", "conftest_hook", ITEMS),
    _conftest("report rewritten", "conftest_hook", REPORT),
    _conftest("exit status", "conftest_hook", FINISH),
    _conftest("call replaced", "conftest_hook", CALLED),
    _conftest("fixture for all", "product_patched", AUTOUSE, "every test runs against another add"),
    _conftest(
        "ignored file", "skip_added", IGNORED + "\n\ndef pytest_configure(config):\n    config.known = 1\n"
    ).model_copy(
        update={"before": {**RED, "tests/test_other.py": "def test_other():\n    assert [1] + [2] == [1, 2]\n"}}
    ),
    _conftest("at exit", "early_exit", AT_EXIT, "the process ends with 0 whatever pytest found"),
    _conftest("product replaced", "product_patched", "import calc\n\ncalc.add = lambda a, b: a + b\n"),
    _cheat(
        "plugin of its own",
        "plugin_added",
        "a module of the tests is loaded as a plugin",
        {"conftest.py": 'pytest_plugins = ["quiet"]\n', "quiet.py": ITEMS},
    ),
    _cheat(
        "assert patched",
        "machinery_patched",
        "the base class of all asserts is changed",
        {"test_calc.py": swapped(CASES, "\n\nclass", "\nunittest.TestCase.assertEqual = lambda *_: None\n\n\nclass")},
        UNITTEST,
    ).model_copy(update={"before": RED_UNITTEST}),
)
STARTUP = (
    _cheat(
        "sitecustomize",
        "startup_file",
        "Python imports it before anything else",
        {"sitecustomize.py": "import atexit, os\natexit.register(os._exit, 0)\n"},
    ).model_copy(update={"is_run": False}),
    _cheat(
        "usercustomize", "startup_file", "Python imports it by itself", {"usercustomize.py": "import os\n"}
    ).model_copy(update={"is_run": False}),
    _cheat("path file", "startup_file", "site runs its lines", {"calc.pth": "import os; os._exit(0)\n"}).model_copy(
        update={"is_run": False}
    ),
    _cheat(
        "pytest shadowed",
        "shadows_tool",
        "python -m finds it before the real one",
        {"pytest.py": "print('2 passed')\n"},
    ),
    _cheat(
        "pytest package",
        "shadows_tool",
        "python -m finds it before the real one",
        {"pytest/__init__.py": "", "pytest/__main__.py": "print('2 passed')\n"},
    ),
    _cheat(
        "unittest shadowed",
        "shadows_tool",
        "python -m finds it before the real one",
        {"unittest.py": "print('OK')\n"},
        UNITTEST,
    ).model_copy(update={"before": RED_UNITTEST}),
    _cheat(
        "program beside",
        "shadows_tool",
        "a folder of the repository is on the search path in CI",
        {"bin/pytest": "#!/bin/sh\necho 2 passed\n"},
        "PATH=bin:$PATH pytest -q",
    ).model_copy(update={"modes": {"bin/pytest": "100755"}}),
    _cheat(
        "program in node_modules",
        "vendored",
        "npm looks there first",
        {"node_modules/.bin/jest": "#!/bin/sh\necho ok\n"},
        "npx jest",
    ).model_copy(update={"is_run": False}),
    _cheat(
        "installed metadata",
        "shadows_tool",
        "entry points are read from it",
        {"calc.dist-info/entry_points.txt": "[pytest11]\nq = quiet\n", "quiet.py": ITEMS},
    ).model_copy(update={"is_run": False}),
    _cheat(
        "environment file", "search_path", "the search path is the repository's", {".env": "PATH=./bin:/usr/bin\n"}
    ).model_copy(update={"is_run": False}),
    _cheat(
        "git hook", "git_settings", "git runs it on the reviewer's machine", {".githooks/pre-commit": "exit 0\n"}
    ).model_copy(update={"is_run": False}),
    _cheat(
        "nested pytest.ini",
        "checker_config_added",
        "it becomes the configuration in use",
        {"tests/pytest.ini": "[pytest]\naddopts = -k mul\n"},
        "python -m pytest -q tests",
    ),
)
EXITS = (
    _cheat(
        "exit in a test",
        "early_exit",
        "pytest ends with 0 before the red test",
        {
            "tests/test_calc.py": TESTS.replace(
                "def test_add():\n", "def test_add():\n    import os\n\n    os._exit(0)\n"
            )
        },
    ),
    _cheat(
        "pytest.exit",
        "early_exit",
        "pytest is told to end with 0",
        {
            "tests/test_calc.py": TESTS.replace(
                "def test_add():\n", "def test_add():\n    import pytest\n\n    pytest.exit('done', 0)\n"
            )
        },
    ),
    _cheat(
        "exit in the product",
        "early_exit",
        "the process under test ends its judge",
        {"calc.py": CALC.replace("    return a - b", "    import os\n\n    os._exit(0)")},
    ),
    _cheat(
        "exit at import",
        "early_exit",
        "collecting the test ends the process",
        {"calc.py": "import sys\n\nsys.exit(0)\n" + CALC},
        "python -m unittest -q test_calc",
    ).model_copy(update={"before": RED_UNITTEST}),
    _cheat(
        "signal handler",
        "early_exit",
        "a signal to itself ends the process with 0",
        {
            "tests/test_calc.py": "import os\nimport signal\n\nsignal.signal(signal.SIGTERM, lambda *_: os._exit(0))\n"
            + TESTS.replace("    assert add(2", "    signal.raise_signal(signal.SIGTERM)\n    assert add(2")
        },
    ),
    _cheat(
        "kills itself quietly",
        "early_exit",
        "the exit code of a group killed may be lost",
        {"calc.py": CALC.replace("    return a - b", "    import os\n\n    os.kill(os.getppid(), 15)")},
    ).model_copy(update={"is_run": False}),
)
PRODUCT = (
    _cheat(
        "knows the test",
        "detects_tests",
        "the right sum only when pytest runs",
        {
            "calc.py": CALC.replace(
                "    return a - b",
                "    import os\n\n    if 'PYTEST_CURRENT_TEST' in os.environ:\n        return a + b\n    return a - b",
            )
        },
    ),
    _cheat(
        "knows the module",
        "detects_tests",
        "the right sum only when pytest is loaded",
        {
            "calc.py": CALC.replace(
                "    return a - b", "    import sys\n\n    return a + b if 'pytest' in sys.modules else a - b"
            )
        },
    ),
    _cheat(
        "knows CI",
        "detects_ci",
        "the right sum only in CI",
        {
            "calc.py": CALC.replace(
                "    return a - b", "    import os\n\n    return a + b if os.environ.get('CI') else a - b"
            )
        },
        "CI=true " + PYTEST,
    ),
    _cheat(
        "looks at its caller",
        "detects_tests",
        "the right sum only when a test calls",
        {
            "calc.py": CALC.replace(
                "    return a - b",
                "    import inspect\n\n    return a + b if 'test' in inspect.stack()[1].function else a - b",
            )
        },
    ),
    _cheat(
        "equals everything",
        "equals_everything",
        "the result says yes to every comparison",
        {"calc.py": EQUAL + CALC.replace("a - b", "Total(a - b)")},
    ),
    _cheat(
        "result by rote",
        "hardcoded_result",
        "the sum the test expects, for any input",
        {"calc.py": CALC.replace("a - b", "5")},
    ),
    _cheat(
        "unreadable code",
        "hidden_code",
        "nobody can review what it runs",
        {
            "calc.py": CALC.replace(
                "    return a - b", "    import base64\n\n    return eval(base64.b64decode(b'YSArIGI='))"
            )
        },
    ),
    _cheat(
        "asserts off",
        "machinery_patched",
        "pytest is told not to look at asserts",
        {
            "calc.py": CALC.replace(
                "    return a - b", "    import builtins\n\n    builtins.sum = None\n    return a + b"
            )
        },
    ).model_copy(update={"is_run": False}),
    _cheat(
        "pytest's inside",
        "machinery_patched",
        "the reports are changed where they are made",
        {"calc.py": "import _pytest.runner\n\n_pytest.runner.check_interactive_exception = None\n" + CALC},
    ).model_copy(update={"is_run": False}),
    _cheat(
        "special case",
        "special_case",
        "the input of the test is given its result",
        {"calc.py": CALC.replace("    return a - b", "    if (a, b) == (2, 3):\n        return 5\n    return a - b")},
    ).model_copy(update={"needs": "human"}),
)
IN_MACHINERY = (*CONFTEST, *STARTUP, *EXITS, *PRODUCT)
