"""autofix in a real worktree: after the job's own set-up steps, with only its fixers' edits in the patch."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.agents.autofix import Autofix
from adapters.artifacts import FileArtifacts
from adapters.sandbox import Bubblewrap
from sweeper.model import (
    Check,
    CheckPlan,
    CommitMeta,
    Diagnosis,
    FailureClass,
    FixOutcome,
    FixReport,
    Patch,
    Workspace,
)
from sweeper.model.task import Task
from tests.support.git_origin import GitOrigin
from tests.support.recording import RecordingStore
from tests.support.sandboxes import usable
from worktrees.store import Owner

pytestmark = pytest.mark.slow

REPO = 7
META = CommitMeta(message="m", name="n", email="e@example.org", date=datetime(2026, 1, 1, tzinfo=UTC))
UGLY = "import os\nx = {  'a':1 }\n"
BLACK = """\
mkdir -p "$HOME/tools"
cat >"$HOME/tools/black" <<'END'
#!/bin/sh
echo "would look at $@"
for word in "$@"; do case "$word" in --check) exit 1 ;; esac; done
sed -i s/bad/good/ "$@"
END
chmod +x "$HOME/tools/black"
echo "$HOME/tools" >>"$GITHUB_PATH"
"""
"""A set-up step that installs a formatter as CI does: it is found only where the step's own path is."""


class Bench:
    """A repository with a failing check, and autofix on a worktree of it."""

    def __init__(self, root: Path, sandbox: Bubblewrap) -> None:
        owner = sandbox.owner()
        self._origin = GitOrigin(root)
        self.store = RecordingStore(root / "state", "here", Owner(uid=owner[0], gid=owner[1]) if owner else None)
        self.artifacts = FileArtifacts(str(root / "artefacts"))
        self.agent = Autofix(sandbox, self.artifacts, self.store)
        self.workspace: Workspace | None = None

    async def fix(
        self, files: dict[str, str], *checks: Check, of_class: FailureClass = FailureClass.LINT
    ) -> tuple[FixReport, Patch | None]:
        """What autofix says, and the change that a snapshot of its tree is."""
        for name, text in files.items():
            if text.startswith("-> "):
                (self._origin.clone / name).symlink_to(text.removeprefix("-> "))
        commit = self._origin.commit({name: text for name, text in files.items() if not text.startswith("-> ")})
        await self.store.fetch(REPO, [commit], self._origin.access)
        workspace = await self.store.create(REPO, "sweep-1-1.fix1", commit)
        self.workspace = workspace
        report = await self.agent.fix(told(*checks, of_class=of_class), workspace, timedelta(minutes=1))
        return report, await self.store.snapshot(workspace, META, "refs/sweeper/sweep-1-1/1")

    def now(self, path: str) -> str:
        """A file as it lies in the worktree."""
        assert self.workspace is not None
        return Path(self.workspace.path, path).read_text()


@pytest.fixture
async def bench(tmp_path: Path) -> Bench:
    tmp_path.chmod(0o711)  # the sandbox's user passes through
    return Bench(tmp_path, await usable(Bubblewrap()))


def told(*checks: Check, of_class: FailureClass) -> Task:
    diagnosis = Diagnosis(job="j", step="s", command="", failure_class=of_class, action="fix", signature="s")
    return Task(
        sweep="sweep-1-1",
        attempt=1,
        repository="o/r",
        failing_sha="0" * 40,
        diagnosis=diagnosis,
        check_plan=CheckPlan(checks=checks),
    )


def check(command: str, *before: str, **more: object) -> Check:
    steps = [{"name": f"before {n}", "command": text} for n, text in enumerate(before)]
    return Check.model_validate({"name": "c", "command": command, "before": steps, **more})


async def test_each_fixer_tells_what_it_changed(bench: Bench) -> None:
    files = {"a.py": UGLY, "b.py": "x = {  }\n", "c.py": "y = 1\n"}
    report, patch = await bench.fix(files, check("ruff check . && ruff format --check ."))
    assert report.outcome is FixOutcome.EDITED
    assert report.summary == "ruff check --fix changed a.py. ruff format changed a.py, b.py."
    assert patch is not None
    assert patch.files == ("a.py", "b.py")


async def test_a_fixer_with_nothing_to_mend_is_no_change_with_a_reason(bench: Bench) -> None:
    report, patch = await bench.fix({"a.py": "x = undefined\n"}, check("ruff check --quiet ."))
    assert (report.outcome, patch) == (FixOutcome.NO_CHANGE, None)
    assert report.summary.startswith("ruff check --fix ran and changed nothing: ")
    assert "F821" in report.summary or "undefined" in report.summary


async def test_a_failure_of_another_class_is_given_up_at_once(bench: Bench) -> None:
    mixed = check("ruff check . && pytest -q")
    report, patch = await bench.fix({"a.py": UGLY}, mixed, of_class=FailureClass.TEST)
    assert (report.outcome, patch, report.log) == (FixOutcome.NO_CHANGE, None, None)
    assert report.summary == "The failure is of class test, which ruff check --fix cannot be expected to mend."


async def test_tools_are_those_that_the_jobs_steps_install(bench: Bench) -> None:
    report, patch = await bench.fix(
        {"a.txt": "bad\n"}, check("black --check a.txt", BLACK), of_class=FailureClass.FORMAT
    )
    assert (report.outcome, report.summary) == (FixOutcome.EDITED, "black changed a.txt.")
    assert patch is not None
    assert patch.files == ("a.txt",)
    assert bench.now("a.txt") == "good\n"


async def test_what_set_up_steps_leave_behind_is_in_no_patch(bench: Bench) -> None:
    litter = (
        "echo new >left.txt; mkdir -p 'a dir'; echo new >'a dir/-l eft'; echo other >b.txt; rm c.txt; chmod +x d.txt"
    )
    files = {"a.txt": "bad\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n", ".gitignore": "cache\n"}
    steps = (BLACK, litter, "mkdir cache; echo bad >cache/x", "echo bad >>a.txt")
    report, patch = await bench.fix(files, check("black --check a.txt", *steps))
    assert report.outcome is FixOutcome.EDITED
    assert patch is not None
    assert patch.files == ("a.txt",)


async def test_jobs_that_are_set_up_otherwise_keep_each_others_edits(bench: Bench) -> None:
    files = {"a.py": UGLY, "b.txt": "bad\n", "c.txt": "c\n"}
    first = check("ruff check .", "echo other >c.txt; echo one >one.txt")
    second = check("black --check b.txt", BLACK, "echo another >c.txt; echo two >two.txt")
    report, patch = await bench.fix(files, first, second)
    assert report.summary == "ruff check --fix changed a.py. black changed b.txt."
    assert patch is not None
    assert patch.files == ("a.py", "b.txt")


async def test_a_set_up_step_that_fails_is_named_and_nothing_is_mended(bench: Bench) -> None:
    report, patch = await bench.fix({"a.py": UGLY}, check("ruff check .", "echo no such package; exit 7"))
    assert (report.outcome, patch, report.exit_code) == (FixOutcome.FAILED, None, 7)
    assert report.summary == "No fixer ran, because the step 'before 0' before it failed here: no such package"


async def test_a_set_up_step_that_may_fail_stops_nothing(bench: Bench) -> None:
    lenient = {"name": "a", "command": "exit 7", "may_fail": True}
    report, _ = await bench.fix({"a.py": UGLY}, check("ruff check .", before=(lenient,)))
    assert report.outcome is FixOutcome.EDITED


async def test_variables_that_steps_leave_are_there_for_the_fixer(bench: Bench) -> None:
    step = 'echo "PLACE=src" >>"$GITHUB_ENV"'
    files = {"src/a.py": UGLY, "other/a.py": UGLY}
    report, patch = await bench.fix(files, check("ruff check ${{ env.PLACE }}", step))
    assert report.outcome is FixOutcome.EDITED
    assert patch is not None
    assert patch.files == ("src/a.py",)


async def test_one_fixer_that_fails_does_not_stop_the_others(bench: Bench) -> None:
    files = {"a.py": UGLY, "ruff.toml": "", "bad.toml": "no configuration"}
    both = check("ruff check --config bad.toml . ; ruff format --check a.py")
    report, patch = await bench.fix(files, both)
    assert report.outcome is FixOutcome.EDITED
    assert "ruff check --fix ended with 2: " in report.summary
    assert report.summary.endswith("ruff format changed a.py.")
    assert patch is not None


async def test_a_tool_that_is_not_there_is_named(bench: Bench) -> None:
    report, _ = await bench.fix({"a.py": UGLY}, check("shfmt -d ."))
    assert report.outcome is FixOutcome.FAILED
    assert report.summary.startswith("shfmt -w ended with 127: ")


async def test_a_script_of_package_json_is_opened_where_it_runs(bench: Bench) -> None:
    package = '{"scripts": {"lint": "ruff check ."}}'
    files = {"web/package.json": package, "web/a.py": UGLY, "a.py": UGLY}
    npx = """mkdir -p "$HOME/tools"; cd "$HOME/tools"; printf '#!/bin/sh\\nshift; exec "$@"\\n' >npx; chmod +x npx"""
    path = 'echo "$HOME/tools" >>"$GITHUB_PATH"'
    report, patch = await bench.fix(files, check("cd web && npm run lint", npx, path))
    assert report.outcome is FixOutcome.EDITED, report.summary
    assert patch is not None
    assert patch.files == ("web/a.py",)


async def test_a_package_json_that_leads_outside_is_not_read(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text('{"scripts": {"lint": "ruff check ."}}')
    files = {"a.py": UGLY, "package.json": f"-> {tmp_path / 'outside.json'}"}
    report, _ = await bench.fix(files, check("npm run lint"))
    assert report.outcome is FixOutcome.NO_CHANGE
    assert report.summary == "No automatic fixer knows 'npm run lint'."


async def test_homes_are_gone_afterwards(bench: Bench, tmp_path: Path) -> None:
    await bench.fix({"a.txt": "bad\n"}, check("black --check a.txt", BLACK))
    assert [path for path in tmp_path.rglob("tools") if path.is_dir()] == []
