"""The import rules hold, and each of them bites."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGES, ROOT, imports, modules, tree

LAYERS, NO_IO = "imports go one way", "the core does no IO"
PYGITHUB, GITPYTHON = "PyGithub is known to adapters alone", "GitPython is known to worktrees alone"
WORKTREES = "worktrees is a git library of its own"
MODELS = "the model library is known to the agent llm alone"

VIOLATIONS = [
    ("sweeper/policy/review.py", "import os", NO_IO),
    ("sweeper/activities/checks.py", "import subprocess", NO_IO),
    ("sweeper/workflows/calls.py", "import httpx", NO_IO),
    ("sweeper/model/run.py", "import time", NO_IO),
    ("sweeper/ids.py", "import uuid", NO_IO),
    ("sweeper/events.py", "from pathlib import Path", NO_IO),
    ("sweeper/intake.py", "import socket", NO_IO),
    ("sweeper/errors.py", "import random", NO_IO),
    ("sweeper/workflows/sweep.py", "import adapters.temporal", LAYERS),
    ("sweeper/policy/course.py", "from sweeper.activities import names", LAYERS),
    ("sweeper/model/run.py", "import sweeper.errors", LAYERS),
    ("sweeper/events.py", "import sweeper.ids", LAYERS),
    ("sweeper/config/__init__.py", "import sweeper.worker", LAYERS),
    ("adapters/artifacts.py", "import worktrees", LAYERS),
    ("adapters/artifacts.py", "import sweeper.cli", LAYERS),
    ("worktrees/__init__.py", "import adapters.artifacts", LAYERS),
    ("sweeper/worker.py", "import github", PYGITHUB),
    ("worktrees/__init__.py", "import github", PYGITHUB),
    ("adapters/artifacts.py", "import git", GITPYTHON),
    ("sweeper/cli/__init__.py", "import git", GITPYTHON),
    ("worktrees/__init__.py", "import sweeper.policy.redaction", WORKTREES),
    ("worktrees/__init__.py", "import sweeper.ports", WORKTREES),
    ("adapters/models/proxy.py", "import anthropic", MODELS),
    ("adapters/agents/command.py", "import pydantic_ai", MODELS),
    ("sweeper/cli/model_worker.py", "import openai", MODELS),
]


def _lint(where: Path) -> subprocess.CompletedProcess[str]:
    lint_imports = str(Path(sys.executable).with_name("lint-imports"))
    env = {**os.environ, "PYTHONPATH": str(where), "NO_COLOR": "1"}
    return subprocess.run([lint_imports], cwd=where, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's source, to be broken."""
    where = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "pyproject.toml", where)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, where / package, ignore=shutil.ignore_patterns("__pycache__"))
    return where


def test_the_import_rules_hold(copy: Path) -> None:
    result = _lint(copy)
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("module", "statement", "rule"), VIOLATIONS, ids=lambda value: str(value)[:40])
def test_a_wrong_import_is_caught(copy: Path, module: str, statement: str, rule: str) -> None:
    path = copy / module
    before = path.read_text()
    path.write_text(f"{before}\n{statement}\n")
    try:
        result = _lint(copy)
    finally:
        path.write_text(before)
    assert result.returncode == 1
    assert f"{rule} BROKEN" in result.stdout


def test_every_module_of_the_core_has_its_layer() -> None:
    layers = (ROOT / "pyproject.toml").read_text().partition("layers = [")[2].partition("]")[0]
    parts = {path.parts[1].removesuffix(".py") for path in modules("sweeper")} - {"__init__", "__main__"}
    assert {
        part for part in parts if f"sweeper.{part}" not in layers.replace('"', " ").replace("|", " ").split()
    } == set()


def test_adapters_do_not_know_each_other() -> None:
    """Each stands for one thing outside; what two of them share belongs into the core, or, where it is about sockets
    that the core must not know, below all of them.
    """
    crossing = {
        (_unit(path.parts[1]), _unit(name.split(".")[1]))
        for path in modules("adapters")
        for name in imports(path)
        if name.startswith("adapters.") and _unit(name.split(".")[1]) not in (_unit(path.parts[1]), "serving")
    }
    assert crossing == set()
    assert not any(name.startswith("adapters.") for name in imports(Path("adapters/serving.py")))


def _unit(part: str) -> str:
    return part.removesuffix(".py")


def test_the_cli_is_the_only_one_who_knows_all() -> None:
    """Composition happens in one place: nothing else imports both an adapter and the worker."""
    both = [
        str(path)
        for path in modules(*PACKAGES)
        if any(name.startswith("adapters.") for name in imports(path))
        and any(name.startswith("sweeper.worker") for name in imports(path))
        and not path.is_relative_to("sweeper/cli")
    ]
    assert both == []


def test_every_module_says_what_it_is_for() -> None:
    assert [str(path) for path in modules(*PACKAGES) if not ast.get_docstring(tree(path))] == []
