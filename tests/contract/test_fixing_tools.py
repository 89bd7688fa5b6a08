"""Rows of the catalogue with the tools themselves, where this machine has them on its PATH: red before, green after."""

import shutil
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.agents.autofix import Autofix
from adapters.artifacts import FileArtifacts
from adapters.egress import HostPort, RegistryDownloads
from adapters.sandbox import Bubblewrap
from sweeper.model import Check, FailureClass, FixOutcome, Patch, Workspace
from sweeper.ports import SandboxRun
from tests.contract.test_autofix import META, REPO, told
from tests.support.git_origin import GitOrigin
from tests.support.recording import RecordingStore
from tests.support.registry import LoopbackRegistry, wheel
from tests.support.sandboxes import usable
from worktrees.store import Owner

pytestmark = pytest.mark.slow

PRE_COMMIT = """\
repos:
- repo: local
  hooks:
  - id: good
    name: good
    entry: sed -i s/bad/good/
    language: system
    files: txt$
"""
CARGO = '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n'
ESLINT = 'module.exports = [{ rules: { "prefer-const": "error", "no-var": "error" } }];\n'


@dataclass(frozen=True)
class Case:
    """A check that fails on these files, and passes once `mended` was mended."""

    program: str
    command: str
    files: dict[str, str]
    mended: tuple[str, ...]
    others: dict[str, str] = field(default_factory=dict)
    probe: str = "true"
    """Passes in the sandbox where the tool really runs there: some on PATH only stand for one that lies at home."""


CASES = [
    Case("ruff", "ruff check . && ruff format --check .", {"a.py": "import os\nx = {  }\n"}, ("a.py",)),
    Case("black", "black --check --diff . || exit 1", {"a.py": "x = {  }\n"}, ("a.py",)),
    Case("black", "cd src && black --check $(git ls-files '*.py')", {"src/a.py": "x = {  }\n"}, ("src/a.py",)),
    Case("isort", "isort --check-only --diff .", {"a.py": "import sys\nimport os\n"}, ("a.py",)),
    Case("usort", "usort check a.py", {"a.py": "import sys\nimport os\n"}, ("a.py",)),
    Case("autoflake", "autoflake --check -r .", {"a.py": "import os\nx = 1\n"}, ("a.py",)),
    Case("autopep8", "autopep8 --diff --exit-code -r .", {"a.py": "x=1\n"}, ("a.py",)),
    Case("yapf", "yapf --diff -r .", {"a.py": "x=1\n"}, ("a.py",)),
    Case("docformatter", "docformatter --check a.py", {"a.py": '"""   Hello   """\n'}, ("a.py",)),
    Case("codespell", "codespell a.txt", {"a.txt": "teh end\n"}, ("a.txt",)),
    Case("pyupgrade", "pyupgrade --py311-plus a.py", {"a.py": "x = set([1])\n"}, ("a.py",)),
    Case(
        "pre-commit",
        "pre-commit run --all-files",
        {"a.txt": "bad\n"},
        ("a.txt",),
        {".pre-commit-config.yaml": PRE_COMMIT},
    ),
    Case("prettier", 'prettier --check "**/*.{js,json}"', {"a.js": "x={ a :1}\n"}, ("a.js",)),
    Case("eslint", "eslint --max-warnings 0 .", {"a.js": "var x = 1;\n"}, ("a.js",), {"eslint.config.js": ESLINT}),
    Case("biome", "biome ci a.js", {"a.js": "let x={ a :1}\n"}, ("a.js",)),
    Case("shfmt", "shfmt -d .", {"a.sh": "if true\nthen\necho\nfi\n"}, ("a.sh",)),
    Case("taplo", "taplo fmt --check", {"a.toml": "a=1\n"}, ("a.toml",)),
    Case("clang-format", "git ls-files '*.c' | xargs clang-format -n -Werror", {"a.c": "int  x ;\n"}, ("a.c",)),
    Case("terraform", "terraform fmt -check -diff", {"a.tf": "a   = 1\nbcd=2\n"}, ("a.tf",)),
    Case("gofmt", 'test -z "$(gofmt -l .)"', {"a.go": "package a\nvar   x=1\n"}, ("a.go",)),
    Case(
        "cargo-fmt",
        "cargo fmt -- --check",
        {"src/main.rs": "fn main( ){}\n"},
        ("src/main.rs",),
        {"Cargo.toml": CARGO},
        "cargo fmt --version",
    ),
    Case(
        "cargo-clippy",
        "cargo clippy --offline -- -D warnings",
        {"src/lib.rs": "pub fn one() -> i32 {\n    return 1;\n}\n"},
        ("src/lib.rs",),
        {"Cargo.toml": CARGO, ".gitignore": "target\nCargo.lock\n"},
        "cargo clippy --version",
    ),
]


@dataclass
class Outcome:
    """What came of a try."""

    outcome: FixOutcome
    summary: str
    patch: Patch | None
    workspace: Workspace
    sandbox: Bubblewrap

    async def exit_code(self, command: str) -> int | None:
        """Of the check in the tree as it is left."""
        run = SandboxRun(workspace=self.workspace.path, argv=("bash", "-e", "-c", command))
        return (await self.sandbox.run(run)).exit_code

    def now(self, path: str) -> str:
        """A file as it lies in the worktree."""
        return Path(self.workspace.path, path).read_text()


async def tried(
    root: Path, files: dict[str, str], check: Check, of_class: FailureClass, log: str = "", registry: str | None = None
) -> Outcome:
    """autofix on a repository with these files."""
    root.chmod(0o711)  # the sandbox's user passes through
    sandbox = await usable(Bubblewrap())
    owner = sandbox.owner()
    store = RecordingStore(root / "state", "here", Owner(uid=owner[0], gid=owner[1]) if owner else None)
    cache = _cache(root, registry) if registry else None
    agent = Autofix(sandbox, FileArtifacts(str(root / "artefacts")), store, cache)
    origin = GitOrigin(root)
    commit = origin.commit(files)
    await store.fetch(REPO, [commit], origin.access)
    workspace = await store.create(REPO, "sweep-1-1.fix1", commit)
    task = told(check, of_class=of_class).model_copy(update={"excerpts": {"j": log}})
    report = await agent.fix(task, workspace, timedelta(minutes=3))
    patch = await store.snapshot(workspace, META, "refs/sweeper/sweep-1-1/1")
    return Outcome(report.outcome, report.summary, patch, workspace, sandbox)


def _cache(root: Path, registry: str) -> RegistryDownloads:
    port = int(registry.rpartition(":")[2])
    addresses = {"pypi": f"{registry}/simple", "npm": registry}
    return RegistryDownloads(root / "downloads", addresses, [HostPort("127.0.0.1", port)])


def needs(program: str) -> None:
    """Skips the test where the tool is not."""
    if shutil.which(program) is None and not Path(sys.prefix, "bin", program).exists():
        pytest.skip(f"{program} is not on the PATH of this machine")


async def runs_inside(probe: str, root: Path) -> None:
    """Skips the test where the sandbox lacks what the tool needs."""
    sandbox = await usable(Bubblewrap())
    place = root / "probe"
    place.mkdir(mode=0o755)
    root.chmod(0o711)
    told = await sandbox.run(SandboxRun(workspace=str(place), argv=("sh", "-c", probe)))
    if told.exit_code != 0:
        pytest.skip(f"`{probe}` does not run in the sandbox of this machine: {told.output.decode()[:200]}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.command)
async def test_the_mending_form_makes_the_checking_form_pass(case: Case, tmp_path: Path) -> None:
    needs(case.program)
    await runs_inside(case.probe, tmp_path)
    check = Check(name="c", command=case.command)
    got = await tried(tmp_path, {**case.files, **case.others}, check, FailureClass.LINT)
    assert got.outcome is FixOutcome.EDITED, got.summary
    assert got.patch is not None
    assert got.patch.files == case.mended
    assert all(got.now(path) != text for path, text in case.files.items())
    assert await got.exit_code(case.command) == 0


NPM_LOCK = """\
{
  "name": "x",
  "version": "1.0.0",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": {
      "name": "x",
      "version": "1.0.0",
      "dependencies": {
        "left": "1.0.0"
      }
    },
    "node_modules/left": {
      "version": "1.0.0",
      "resolved": "https://registry.npmjs.org/left/-/left-1.0.0.tgz",
      "integrity": "%s"
    }
  }
}
"""
OUT_OF_SYNC = "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync"


async def test_npms_lock_file_is_brought_up_to_date_with_public_addresses(tmp_path: Path) -> None:
    needs("npm")
    package = '{"name": "x", "version": "1.0.0", "dependencies": {"left": "1.0.0", "right": "1.0.0"}}\n'
    with LoopbackRegistry() as registry:
        lock = NPM_LOCK % registry.publish_npm("left", "1.0.0", "1")
        registry.publish_npm("right", "1.0.0", "2")
        files = {"package.json": package, "package-lock.json": lock}
        check = Check(name="c", command="npm ci")
        got = await tried(tmp_path, files, check, FailureClass.DEPENDENCY, OUT_OF_SYNC, registry.url)
    assert got.outcome is FixOutcome.EDITED, got.summary
    assert got.patch is not None
    assert got.patch.files == ("package-lock.json",)
    mended = got.now("package-lock.json")
    assert '"resolved": "https://registry.npmjs.org/right/-/right-1.0.0.tgz"' in mended
    assert "127.0.0.1" not in mended
    assert not Path(got.workspace.path, "node_modules").exists()


UV_LOCK = f"""\
version = 1
revision = 1
requires-python = ">=3.11"

[[package]]
name = "left"
version = "1.0"
source = {{ registry = "https://pypi.org/simple" }}
wheels = [
    {{ url = "https://files.pythonhosted.org/packages/aa/bb/left-1.0-py3-none-any.whl", hash = "sha256:{"0" * 64}" }},
]

[[package]]
name = "x"
version = "0.1.0"
source = {{ virtual = "." }}
dependencies = [
    {{ name = "left" }},
]

[package.metadata]
requires-dist = [{{ name = "left" }}]
"""
UV_PROJECT = '[project]\nname = "x"\nversion = "0.2.0"\nrequires-python = ">=3.11"\ndependencies = [%s]\n'


async def uv_locked(root: Path, dependencies: str) -> Outcome:
    needs("uv")
    with LoopbackRegistry() as registry:
        for name in ("left", "right"):
            registry.publish_python(name, wheel(name, "1.0", "x = 1"))
        files = {"pyproject.toml": UV_PROJECT % dependencies, "uv.lock": UV_LOCK}
        check = Check(name="c", command="uv sync --locked --all-extras")
        return await tried(root, files, check, FailureClass.DEPENDENCY, registry=registry.url)


async def test_uvs_lock_file_keeps_the_addresses_it_has(tmp_path: Path) -> None:
    got = await uv_locked(tmp_path, '"left"')
    assert got.outcome is FixOutcome.EDITED, got.summary
    mended = got.now("uv.lock")
    assert 'name = "x"\nversion = "0.2.0"' in mended
    assert 'source = { registry = "https://pypi.org/simple" }' in mended
    assert "packages/aa/bb/left-1.0-py3-none-any.whl" in mended
    assert "127.0.0.1" not in mended


async def test_a_lock_file_that_would_name_the_gate_is_put_back_and_said(tmp_path: Path) -> None:
    got = await uv_locked(tmp_path, '"left", "right"')
    assert (got.outcome, got.patch) == (FixOutcome.FAILED, None)
    assert got.summary.startswith("What uv lock made of uv.lock names packages whose public addresses cannot be known")
