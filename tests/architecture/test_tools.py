"""The rules that ruff and mypy keep, and that they do keep them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

BIN = Path(sys.executable).parent
BANNED = "TID251"

SNIPPETS = [
    ("sweeper/workflows/a.py", "import temporalio.client", BANNED),
    ("sweeper/workflows/b.py", "from temporalio.client import Client", BANNED),
    ("sweeper/activities/c.py", "from temporalio.worker import Worker", BANNED),
    ("sweeper/policy/d.py", "from datetime import datetime\n\nnow = datetime.now()", BANNED),
    ("sweeper/policy/e.py", "import datetime\n\nnow = datetime.datetime.utcnow()", BANNED),
    ("sweeper/ids_new.py", "import time\n\nnow = time.time()", BANNED),
    ("sweeper/model/f.py", "from uuid import uuid4\n\nkey = uuid4()", BANNED),
    ("sweeper/intake_new.py", "import unittest.mock", BANNED),
    ("sweeper/policy/g.py", "from unittest.mock import patch", BANNED),
    ("sweeper/policy/h.py", "from . import review", "TID252"),
    ("sweeper/activities/i.py", "print('done')", "T201"),
    ("adapters/j.py", "def fetch():\n    return 1", "D103"),
    ("adapters/k.py", "try:\n    x = 1\nexcept Exception:\n    x = 2", "BLE001"),
    ("worktrees/l.py", "import subprocess\n\nsubprocess.run('git gc', shell=True)", "S602"),
    ("sweeper/policy/m.py", "# x = compute(1)", "ERA001"),
    ("tests/n.py", "import os\n\nos.path.join('a', 'b')", "PTH118"),
]


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """File to the codes ruff reports for it, of all snippets at once."""
    where = tmp_path_factory.mktemp("snippets")
    (where / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for name, text, _ in SNIPPETS:
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""A module."""\n\n{text}\n')
    command = [str(BIN / "ruff"), "check", "--no-cache", "--output-format", "json", "."]
    result = subprocess.run(command, cwd=where, capture_output=True, text=True)
    found: dict[str, set[str]] = {}
    for finding in json.loads(result.stdout):
        name = Path(finding["filename"]).relative_to(where.resolve()).as_posix()
        found.setdefault(name, set()).add(finding["code"])
    return found


@pytest.mark.parametrize(
    ("name", "text", "code"), SNIPPETS, ids=[text.splitlines()[-1][:40] for _, text, _ in SNIPPETS]
)
def test_ruff_catches(findings: dict[str, set[str]], name: str, text: str, code: str) -> None:
    assert code in findings.get(name, set())


@pytest.mark.slow
def test_mypy_is_strict_about_the_product_and_its_tests(tmp_path: Path) -> None:
    snippet = tmp_path / "loose.py"
    snippet.write_text("def untyped(x):\n    return x\n\n\nnumber: int = 'text'\nany_list: list = []\n")
    command = [
        str(BIN / "mypy"),
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(tmp_path),
        str(snippet),
    ]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    for code in ("[no-untyped-def]", "[assignment]", "[type-arg]"):
        assert code in said
