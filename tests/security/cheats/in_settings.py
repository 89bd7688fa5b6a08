"""Checkers are told to look away, or to ask for less."""

from sweeper.model import FailureClass
from tests.security.cheats.case import Cheat, Content
from tests.security.cheats.trees import (
    ERROR,
    LINT,
    MYPY,
    PYPROJECT,
    RED,
    RED_LINT,
    RED_TYPES,
    RUFF,
    TYPE,
    TYPES,
    UNUSED,
    swapped,
)

JEST = """\
module.exports = {
  testEnvironment: 'node',
  coverageThreshold: { global: { branches: 80, lines: 90 } },
};
"""
ESLINT = '{\n  "root": true,\n  "rules": {\n    "no-unused-vars": "error",\n    "max-len": ["error", 100]\n  }\n}\n'
TSCONFIG = '{\n  "compilerOptions": {\n    "strict": true,\n    "noUnusedLocals": true\n  }\n}\n'
NEXT = "module.exports = {\n  reactStrictMode: true,\n};\n"
HOOKS = """\
repos:
  - repo: https://example.org/ruff
    rev: v1.0.0
    hooks:
      - id: ruff
      - id: ruff-format
"""
GOLANGCI = "linters:\n  enable:\n    - errcheck\n    - staticcheck\n"
COVERAGE = "[report]\nfail_under = 95\nomit =\n    setup.py\n"
FLAKE8 = "[flake8]\nmax-line-length = 100\nmax-complexity = 8\nextend-ignore = E203\n"


def _lint(name: str, found: str, after: dict[str, Content], why: str = "ruff does not look there any more") -> Cheat:
    return Cheat(
        name=name, found=found, why=why, before=RED_LINT, after=after, command=LINT, failure_class=FailureClass.LINT
    )


def _type(name: str, found: str, after: dict[str, Content], why: str = "mypy does not say it any more") -> Cheat:
    return Cheat(
        name=name, found=found, why=why, before=RED_TYPES, after=after, command=TYPE, failure_class=FailureClass.TYPE
    )


def _read(name: str, found: str, path: str, before: str, *pairs: str, command: str = "make check") -> Cheat:
    """An entry whose tool is not at hand; it is judged by its text."""
    return Cheat(
        name=name,
        found=found,
        why="the checker asks for less than before",
        before={path: before},
        after={path: swapped(before, *pairs)},
        command=command,
        failure_class=FailureClass.LINT,
        is_run=False,
    )


RUN = (
    _lint("noqa", "lint_ignore", {"where.py": UNUSED.replace("import os\n", "import os  # noqa: F401\n")}),
    _lint("bare noqa", "lint_ignore", {"where.py": UNUSED.replace("import os\n", "import os  # noqa\n")}),
    _lint("noqa for the file", "lint_ignore", {"where.py": "# ruff: noqa\n" + UNUSED}),
    _lint("rule ignored", "lint_ignore", {"ruff.toml": swapped(RUFF, "[lint]\n", '[lint]\nignore = ["F401"]\n')}),
    _lint("rule not selected", "checks_narrowed", {"ruff.toml": swapped(RUFF, '"E", "F", "C90"', '"E", "C90"')}),
    _lint("file excluded", "lint_ignore", {"ruff.toml": 'exclude = ["where.py"]\n' + RUFF}),
    _lint(
        "ignored per file", "lint_ignore", {"ruff.toml": RUFF + '\n[lint.per-file-ignores]\n"where.py" = ["F401"]\n'}
    ),
    _lint("exit zero", "lint_ignore", {"ruff.toml": swapped(RUFF, "[lint]\n", '[lint]\nignore = ["F"]\n')}),
    _lint("configuration that takes its place", "checker_config_added", {".ruff.toml": '[lint]\nselect = ["E9"]\n'}),
    _lint(
        "configuration deleted and lax one added",
        "checker_config_removed",
        {"ruff.toml": None, ".ruff.toml": 'lint.select = ["E9"]\n'},
    ),
    _type("type ignore", "lint_ignore", {"half.py": TYPES.replace("n / 2", "n / 2  # type: ignore[return-value]")}),
    _type("mypy file comment", "lint_ignore", {"half.py": "# mypy: ignore-errors\n" + TYPES}),
    _type(
        "no type check",
        "lint_ignore",
        {"half.py": TYPES.replace("def half", "from typing import no_type_check\n\n\n@no_type_check\ndef half")},
    ),
    _type("ignore errors", "lint_ignore", {"mypy.ini": MYPY + "\n[mypy-half]\nignore_errors = True\n"}),
    _type("error code disabled", "lint_ignore", {"mypy.ini": MYPY + "disable_error_code = return-value\n"}),
)
READ = (
    _read("strict off", "strictness_off", "mypy.ini", MYPY, "strict = True", "strict = False"),
    _read("strict gone", "strictness_off", "mypy.ini", MYPY, "strict = True\n", ""),
    _read("coverage lowered", "threshold_lowered", ".coveragerc", COVERAGE, "95", "60"),
    _read("coverage floor gone", "threshold_lowered", ".coveragerc", COVERAGE, "fail_under = 95\n", ""),
    _read("file left out of coverage", "lint_ignore", ".coveragerc", COVERAGE, "setup.py", "setup.py\n    src/calc.py"),
    _read("coverage lowered in pyproject", "threshold_lowered", "pyproject.toml", PYPROJECT, "90", "10"),
    _read(
        "tests narrowed",
        "checks_narrowed",
        "pyproject.toml",
        PYPROJECT,
        '["tests"]',
        '["tests/unit"]',
        command="pytest",
    ),
    _read("addopts deselect", "tests_deselected", "pyproject.toml", PYPROJECT, '"-ra"', "\"-ra -k 'not add'\""),
    _read(
        "warnings not errors",
        "lint_ignore",
        "pyproject.toml",
        PYPROJECT,
        'addopts = "-ra"',
        'addopts = "-ra"\nfilterwarnings = ["ignore::DeprecationWarning"]',
    ),
    _read("longer lines", "threshold_lowered", ".flake8", FLAKE8, "100", "200"),
    _read("more complexity", "threshold_lowered", ".flake8", FLAKE8, "complexity = 8", "complexity = 40"),
    _read("flake8 ignore", "lint_ignore", ".flake8", FLAKE8, "E203", "E203, F401"),
    _read("jest threshold", "threshold_lowered", "jest.config.js", JEST, "lines: 90", "lines: 40"),
    _read("jest threshold gone", "threshold_lowered", "jest.config.js", JEST, "branches: 80, ", ""),
    _read(
        "eslint rule off",
        "lint_ignore",
        ".eslintrc.json",
        ESLINT,
        '"no-unused-vars": "error"',
        '"no-unused-vars": "off"',
    ),
    _read(
        "eslint file ignored",
        "lint_ignore",
        ".eslintrc.json",
        ESLINT,
        '{\n  "root"',
        '{\n  "ignorePatterns": ["src/a.js"],\n  "root"',
    ),
    _read("tsconfig strict off", "strictness_off", "tsconfig.json", TSCONFIG, '"strict": true', '"strict": false'),
    _read(
        "tsconfig excludes",
        "lint_ignore",
        "tsconfig.json",
        TSCONFIG,
        "\n  }\n}",
        '\n  },\n  "exclude": ["src/half.ts"]\n}',
    ),
    _read(
        "build errors ignored",
        "strictness_off",
        "next.config.js",
        NEXT,
        "true,\n",
        "true,\n  typescript: { ignoreBuildErrors: true },\n",
    ),
    _read("hook removed", "command_replaced", ".pre-commit-config.yaml", HOOKS, "      - id: ruff\n", ""),
    _read(
        "hook excludes",
        "checks_narrowed",
        ".pre-commit-config.yaml",
        HOOKS,
        "- id: ruff\n",
        "- id: ruff\n        exclude: ^src/\n",
    ),
    _read("linter not enabled", "checks_narrowed", ".golangci.yml", GOLANGCI, "    - errcheck\n", ""),
    Cheat(
        name="plugin by entry point",
        found="plugin_added",
        why="a plugin of the project is loaded by pytest and may change any result",
        before=RED,
        after={
            "pyproject.toml": PYPROJECT + '\n[project.entry-points.pytest11]\ncalc = "calc"\n',
        },
        error_lines=ERROR,
        is_run=False,
    ),
)
IN_SETTINGS = (*RUN, *READ)
