"""What a path is: a test, a checker's configuration, a manifest, something generated. Decided by the name alone."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache


def _names(*rows: str) -> tuple[str, ...]:
    """Globs for the last part of a path, in lower case."""
    return tuple(name for row in rows for name in row.split())


PROTECTED = (
    ".github/workflows/*",
    ".github/actions/*",
    ".github/codeowners",
    "codeowners",
    "docs/codeowners",
    ".github/sweeper.yml",
)
CHECKER_CONFIG = _names(
    "pytest.ini .pytest.ini tox.ini noxfile.py .flake8 .pylintrc pylintrc mypy.ini .mypy.ini ruff.toml .ruff.toml",
    ".isort.cfg .bandit .coveragerc pyrightconfig.json .pre-commit-config.yaml .pre-commit-config.yml",
    ".eslintrc .eslintrc.* eslint.config.* .eslintignore .prettierrc .prettierrc.* prettier.config.*",
    ".prettierignore",
    "jest.config.* jest.setup.* vitest.config.* vitest.setup.* vitest.workspace.* playwright.config.* cypress.config.*",
    "karma.conf.* .mocharc.* ava.config.* .nycrc .nycrc.* .c8rc.json next.config.*",
    "biome.json biome.jsonc tslint.json",
    "tsconfig.json tsconfig.*.json babel.config.* .babelrc .golangci.yml .golangci.yaml .golangci.toml clippy.toml",
    ".clippy.toml rustfmt.toml .rustfmt.toml nextest.toml checkstyle.xml pmd.xml spotbugs*.xml .clang-tidy",
    ".clang-format .rubocop.yml .rspec .yamllint .yamllint.y*ml .markdownlint.* .hadolint.yaml .shellcheckrc",
    "codecov.yml .codecov.yml .editorconfig .stylelintrc* phpunit.xml* dodo.py tasks.py",
)
SCRIPTS = _names("makefile gnumakefile justfile taskfile.yml rakefile *.mk *.sh *.bash dockerfile *.dockerfile tox.ini")
MIXED = _names(
    "pyproject.toml setup.cfg setup.py package.json",
    "cargo.toml pom.xml build.gradle build.gradle.kts deno.json composer.json",
)
MANIFESTS = (
    *MIXED,
    *_names(
        "requirements*.txt requirements*.in constraints*.txt", "pipfile go.mod gemfile environment.yml environment.yaml"
    ),
)
LOCKS = {
    "package-lock.json": ("package.json",),
    "npm-shrinkwrap.json": ("package.json",),
    "yarn.lock": ("package.json",),
    "pnpm-lock.yaml": ("package.json", "pnpm-workspace.yaml"),
    "poetry.lock": ("pyproject.toml",),
    "uv.lock": ("pyproject.toml",),
    "pdm.lock": ("pyproject.toml",),
    "pipfile.lock": ("pipfile",),
    "cargo.lock": ("cargo.toml",),
    "go.sum": ("go.mod",),
    "gemfile.lock": ("gemfile",),
    "composer.lock": ("composer.json",),
}
VENDORED = _names(
    "node_modules vendor third_party .venv venv site-packages __pycache__ .tox .nox .eggs .mypy_cache .ruff_cache",
    ".pytest_cache target .gradle .next",
)
SCRATCH = _names(
    "*.orig *.rej *.bak *.swp *~ *.tmp *.patch *.pyc .ds_store nohup.out core scratch*.py scratch*.md debug_*.py",
    "debug*.log",
    "*.log agent-*.md transcript*.* *transcript.json *transcript.md conversation*.json session*.jsonl .aider*",
    "notes.md todo.tmp fix_summary.md summary_of_changes.md .cursor/* .agent/*",
    "agents.md claude.md gemini.md .cursorrules copilot-instructions.md",  # orders for the agents that come after
)
STARTUP = ("sitecustomize.py", "usercustomize.py")
SHADOWED = _names(
    "pytest _pytest ruff black flake8 mypy pylint isort coverage tox",
    "nox unittest doctest pluggy hypothesis pycodestyle",
    "pyflakes bandit pyright typing os sys re json ast io types abc enum time random math socket subprocess logging",
    "inspect importlib contextlib functools collections warnings traceback builtins site",
)
PROGRAMS = _names(
    "pytest py.test ruff black flake8 mypy pylint isort tox nox pre-commit",
    "python python3 node npm npx yarn pnpm",
    "jest vitest eslint tsc mocha prettier go gofmt",
    "golangci-lint cargo rustc mvn gradle make test true sh bash",
)
_JS = re.compile(r"\.[cm]?[jt]sx?$")
_TEST_DIRECTORIES = frozenset(("test", "tests", "testing", "__tests__", "spec", "specs", "e2e"))
_COLLECTED = _names(
    "test_*.py *_test.py tests.py test.py *_test.go *.rs *.test.* *.spec.*",
    "*test.java *tests.java test*.java *_spec.rb *_test.rb",
)


_remembered = lru_cache(maxsize=1024)  # each table asks again about each file


def base(path: str) -> str:
    """The last part, in lower case: a file system that folds case must not open a way round."""
    return path.rpartition("/")[2].casefold()


def is_like(path: str, patterns: Sequence[str]) -> bool:
    """Whether the last part matches one of these globs."""
    return any(fnmatchcase(base(path), pattern) for pattern in patterns)


def is_protected(path: str, extra: tuple[str, ...]) -> bool:
    """Whether a fix may never touch it: a glob of the operator's, or what decides how the fix itself is judged."""
    folded = path.casefold()
    globs = (*PROTECTED, *(glob.casefold().removeprefix("/") for glob in extra))
    return any(fnmatchcase(folded, glob) or folded.startswith(glob.rstrip("/*") + "/") for glob in globs)


def is_conftest(path: str) -> bool:
    """A conftest.py or what python imports before anything else."""
    return base(path) in ("conftest.py", *STARTUP) or path.casefold().endswith(".pth")


@_remembered
def is_checker_config(path: str) -> bool:
    """A file whose only use is to say how checks are made."""
    return is_like(path, CHECKER_CONFIG)


@_remembered
def is_script(path: str) -> bool:
    """A file of commands: what CI calls when it does not call the tool itself."""
    return is_like(path, SCRIPTS) or base(path) in ("package.json", "noxfile.py", ".pre-commit-config.yaml")


def is_manifest(path: str) -> bool:
    """A file that names dependencies; some of them hold checker configuration as well."""
    return is_like(path, MANIFESTS)


def is_collected(path: str) -> bool:
    """Whether a test runner finds it under its own default patterns."""
    folders = path.casefold().split("/")[:-1]
    return is_like(path, _COLLECTED) or bool(_JS.search(base(path)) and "__tests__" in folders)


@_remembered
def is_test(path: str) -> bool:
    """Whether it is part of the tests: by its name or a folder it lies in."""
    folders = path.casefold().split("/")[:-1]
    return (is_collected(path) and not path.endswith(".rs")) or not _TEST_DIRECTORIES.isdisjoint(folders)


def is_snapshot(path: str) -> bool:
    """Expected output that a tool writes itself."""
    return path.endswith((".snap", ".ambr", ".approved.txt")) or "__snapshots__/" in path


def is_vendored(path: str) -> bool:
    """In a folder that is made, not written."""
    return any(folder in VENDORED for folder in path.casefold().split("/")[:-1])


@_remembered
def language(path: str) -> str:
    """The kind of text, for the tables that are by language; `text` where no table applies."""
    name = base(path)
    if is_script(path) and not name.endswith((".json", ".py")):
        return "shell"
    if _JS.search(name) or name.endswith((".vue", ".svelte")):
        return "js"
    known = {"py": "python", "pyi": "python", "pyx": "python", "go": "go", "rs": "rust", "java": "java", "kt": "java"}
    known |= dict.fromkeys(("c", "h", "cc", "cpp", "hpp", "cxx"), "c") | {"rb": "ruby", "groovy": "java"}
    known |= dict.fromkeys(("toml", "cfg", "ini", "yml", "yaml", "json", "jsonc", "xml", "gradle", "kts"), "config")
    return "config" if is_checker_config(path) and "." not in name[1:] else known.get(name.rpartition(".")[2], "text")
