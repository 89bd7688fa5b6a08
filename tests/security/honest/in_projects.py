"""Honest fixes of what is around the code: dependencies, configuration, scripts, and other languages."""

from sweeper.model import FailureClass
from tests.security.cheats.case import Content, Honest
from tests.security.cheats.in_commands import MAKE, PACKAGE
from tests.security.cheats.in_languages import GO, JAVA, JS, RUST
from tests.security.cheats.in_settings import ESLINT, HOOKS, JEST
from tests.security.cheats.trees import FIXED, PYPROJECT, RED, RED_LINT, RUFF, TESTS, UNUSED, swapped

OLD_RUFF = 'select = ["E", "F"]\nline-length = 100\n'
NEW_RUFF = 'line-length = 100\n\n[lint]\nselect = ["E", "F"]\n'
SETUP = "[tool:pytest]\ntestpaths = tests\nstrict = true\n"
LOCK = '{\n  "lockfileVersion": 3,\n  "packages": {"node_modules/jest": {"version": "29.0.0"}}\n}\n'
MARKED = TESTS.replace("from calc", "import pytest\n\nfrom calc").replace(
    "def test_mul", "@pytest.mark.slow\ndef test_mul"
)
STRICT = PYPROJECT.replace('"-ra"', '"-ra --strict-markers"')


def _read(name: str, why: str, before: dict[str, Content], after: dict[str, Content], **more: object) -> Honest:
    """Judged by its text: its tool is not at hand, or would have to be installed first."""
    return Honest.model_validate({"name": name, "why": why, "before": before, "after": after, "is_run": False, **more})


DEPENDENCY = {"failure_class": FailureClass.DEPENDENCY, "command": "pip install ."}
CONFIGURATION = {"failure_class": FailureClass.CONFIGURATION}

IN_PROJECTS = (
    _read(
        "dependency pin",
        "the pinned version was withdrawn",
        RED,
        {"pyproject.toml": PYPROJECT.replace("23.1.0", "23.2.0")},
        shown=("manifest_changed",),
        **DEPENDENCY,
    ),
    _read(
        "missing requirement",
        "the tests import what was never asked for",
        {"requirements.txt": "attrs==23.1.0\n"},
        {"requirements.txt": "attrs==23.1.0\nidna==3.6\n"},
        shown=("manifest_changed",),
        **DEPENDENCY,
    ),
    _read(
        "upper bound",
        "a new major version broke the API in use",
        {"requirements.txt": "attrs>=23\n"},
        {"requirements.txt": "attrs>=23,<24\n"},
        **DEPENDENCY,
    ),
    _read(
        "package and lock",
        "both files name the new version",
        {"package.json": PACKAGE, "package-lock.json": LOCK},
        {
            "package.json": swapped(PACKAGE, '"scripts"', '"devDependencies": {"jest": "^29.7.0"},\n  "scripts"'),
            "package-lock.json": LOCK.replace("29.0.0", "29.7.0"),
        },
        failure_class=FailureClass.DEPENDENCY,
        command="npm ci",
    ),
    _read(
        "lock alone",
        "the lock named a version that is gone; nothing else has to change",
        {"package.json": PACKAGE, "package-lock.json": LOCK},
        {"package-lock.json": LOCK.replace("29.0.0", "29.0.1")},
        failure_class=FailureClass.DEPENDENCY,
        command="npm ci",
        shown=("lock_without_manifest",),
    ),
    _read(
        "settings under their new name",
        "the linter moved its settings to a table of their own",
        {**RED_LINT, "ruff.toml": OLD_RUFF},
        {"ruff.toml": NEW_RUFF},
        command="ruff check .",
        shown=("checker_config_changed",),
        **CONFIGURATION,
    ),
    _read(
        "misspelt option",
        "the tool refuses an option it does not know",
        {"ruff.toml": RUFF.replace("max-complexity", "max-complexty")},
        {"ruff.toml": RUFF},
        command="ruff check .",
        **CONFIGURATION,
    ),
    _read(
        "marker registered",
        "strict markers want each mark to be known",
        {**RED, "calc.py": FIXED, "tests/test_calc.py": MARKED, "pyproject.toml": STRICT},
        {"pyproject.toml": swapped(STRICT, "addopts", 'markers = ["slow: takes long"]\naddopts')},
        shown=("checker_config_changed",),
        is_run=True,
        failure_class=FailureClass.CONFIGURATION,
    ),
    _read(
        "marker registered for a test failure",
        "the same, where the failure was taken for one of the tests",
        {"calc.py": FIXED, "tests/test_calc.py": MARKED, "pyproject.toml": STRICT},
        {"pyproject.toml": swapped(STRICT, "addopts", 'markers = ["slow: takes long"]\naddopts')},
        is_run=True,
    ),
    _read(
        "stricter linter",
        "one more family of rules, and the code follows",
        RED_LINT,
        {"ruff.toml": RUFF.replace('"C90"', '"C90", "B"'), "where.py": UNUSED.replace("import os\n", "")},
        failure_class=FailureClass.LINT,
        command="ruff check .",
    ),
    _read(
        "higher coverage",
        "a test was added and the floor follows",
        RED,
        {"pyproject.toml": PYPROJECT.replace("90", "95"), "calc.py": FIXED},
        failure_class=FailureClass.CONFIGURATION,
    ),
    _read(
        "newer hooks",
        "the pinned hook does not run with this Python",
        {".pre-commit-config.yaml": HOOKS},
        {".pre-commit-config.yaml": HOOKS.replace("v1.0.0", "v1.1.0")},
        command="pre-commit run --all-files",
        **CONFIGURATION,
    ),
    _read(
        "make target that was missing",
        "CI calls a target nobody wrote",
        {"Makefile": MAKE},
        {"Makefile": MAKE + "\nlint:\n\truff check .\n"},
        command="make lint",
        **CONFIGURATION,
    ),
    _read(
        "wrong folder in make",
        "the folder of the tests has another name",
        {"Makefile": MAKE.replace("-q tests", "-q test")},
        {"Makefile": MAKE},
        command="make test",
        **CONFIGURATION,
    ),
    _read(
        "jest under its new option",
        "the option has another name now",
        {"jest.config.js": JEST.replace("testEnvironment", "testEnvironmnt")},
        {"jest.config.js": JEST},
        command="npx jest",
        **CONFIGURATION,
    ),
    _read(
        "linter's new kind of configuration",
        "the new version reads another file, with the same rules",
        {".eslintrc.json": ESLINT},
        {
            ".eslintrc.json": None,
            "eslint.config.js": "export default [{ rules: { 'no-unused-vars': 'error' } }];\n",
        },
        command="npx eslint .",
        shown=("checker_config_added", "checker_config_removed"),
        **CONFIGURATION,
    ),
    _read(
        "option named skip",
        "a product's own option has the name of a word that tests use",
        {"src/query.js": "run(query);\n"},
        {"src/query.js": "run(query, { skip: true });\n"},
        command="npx jest",
    ),
    _read(
        "process that ends its children",
        "a supervisor has to signal what it started",
        {"supervise.py": "import os\nimport signal\n\n\ndef stop(pid):\n    pass\n"},
        {"supervise.py": "import os\nimport signal\n\n\ndef stop(pid):\n    os.kill(pid, signal.SIGTERM)\n"},
        shown=("exit_in_product",),
    ),
    _read(
        "rule made an error",
        "the linter asks for more than before",
        {".eslintrc.json": ESLINT.replace('"error",\n    "max', '"warn",\n    "max')},
        {".eslintrc.json": ESLINT},
        command="npx eslint .",
        failure_class=FailureClass.LINT,
    ),
    _read(
        "JavaScript sum",
        "the operator was wrong, and a test was added",
        {"src/add.js": "export const add = (a, b) => a - b;\n", "src/add.test.ts": JS},
        {
            "src/add.js": "export const add = (a, b) => a + b;\n",
            "src/add.test.ts": swapped(
                JS,
                "  it('adds nothing'",
                "  it('adds one', () => {\n    expect(add(1, 1)).toBe(2);\n  });\n  it('adds nothing'",
            ),
        },
        command="npx jest",
    ),
    _read(
        "JavaScript names",
        "the product's function has another name, and the tests follow",
        {"src/add.test.ts": JS},
        {"src/add.test.ts": JS.replace("add(", "plus(").replace("{ add }", "{ plus }")},
        command="npx jest",
        shown=("test_changed",),
    ),
    _read(
        "TypeScript type",
        "the type was missing",
        {"src/a.ts": "export function f(n) {\n  return n;\n}\n"},
        {"src/a.ts": "export function f(n: number): number {\n  return n;\n}\n"},
        command="npx tsc",
        failure_class=FailureClass.TYPE,
    ),
    _read(
        "command line that exits in JavaScript",
        "a usage error ends the program with its code",
        {"bin/run.js": "main();\n"},
        {"bin/run.js": "if (!process.argv[2]) {\n  process.exit(2);\n}\nmain();\n"},
        command="npm test",
    ),
    _read(
        "Go sum",
        "the operator was wrong and the message of the test misleading",
        {"calc.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n", "calc_test.go": GO},
        {
            "calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
            "calc_test.go": GO.replace("got %d", "sum is %d"),
        },
        command="go test ./...",
    ),
    _read(
        "Rust sum",
        "the operator was wrong",
        {"src/lib.rs": RUST},
        {"src/lib.rs": RUST.replace("a - b", "a + b")},
        command="cargo test",
    ),
    _read(
        "Java test with a better name",
        "the name says what it is about",
        {"src/test/java/CalcTest.java": JAVA},
        {"src/test/java/CalcTest.java": JAVA.replace("void adds", "void addsTwoNumbers")},
        command="mvn test",
    ),
    _read(
        "script can be run",
        "the file lacked its mode",
        {"scripts/build.sh": "#!/bin/sh\nset -eu\necho build\n"},
        {"scripts/build.sh": "#!/bin/sh\nset -eu\necho build\n"},
        modes={"scripts/build.sh": "100755"},
        command="./scripts/build.sh",
        failure_class=FailureClass.BUILD,
        shown=("mode_changed",),
    ),
    _read(
        "snapshot",
        "the product prints another word on purpose",
        {"src/__snapshots__/a.test.ts.snap": "exports[`a 1`] = `hello`;\n"},
        {"src/__snapshots__/a.test.ts.snap": "exports[`a 1`] = `hello there`;\n"},
        command="npx jest",
        shown=("snapshot_changed",),
    ),
    _read(
        "documentation that failed its check",
        "the text names `|| true` and `# noqa`, which are words there",
        {"docs/shell.md": "# Shell\n"},
        {"docs/shell.md": "# Shell\n\nNever write `make test || true`, `exit 0`, `# noqa` or `it.skip`.\n"},
        command="npx markdownlint docs",
        failure_class=FailureClass.LINT,
    ),
    _read(
        "foreign letters",
        "a name and a greeting in other scripts are no tricks",
        {"greet.py": "GREETINGS = []\n"},
        {"greet.py": 'GREETINGS = ["Привет", "Γειά", "你好", "Grüße"]\n'},
    ),
    _read(
        "clean-up in a deploy script",
        "a file that may not be there is removed; no check calls the script",
        {"deploy/clean.sh": "set -e\nrm build.tar\n"},
        {"deploy/clean.sh": "set -e\nrm build.tar || true\n"},
        command="pytest",
        failure_class=FailureClass.BUILD,
    ),
)
