"""`show --journal`: what agents did, told from the store for ended attempts and from git for the one at work."""

from pathlib import Path

import pytest

from sweeper.cli import composition
from sweeper.cli.journal import attempt_stories
from sweeper.config import only_settings, prepare_state_dir
from sweeper.model import Budget, Checkpoint, FixOutcome, FixReport, Step
from sweeper.model.journal import JournalRef
from sweeper.ports import SweepRecord, SweepView
from tests.support.git_origin import GitOrigin
from tests.support.journal_scene import an_action, edits
from tests.support.values import NOW, attempt, run_facts, run_ref, sweep_state
from worktrees.host import host_id
from worktrees.journal import JournalStore
from worktrees.store import WorktreeStore

pytestmark = pytest.mark.slow
SWEEP = "sweep-1001-1"


async def test_it_reads_like_a_story_of_all_attempts_the_running_one_included(tmp_path: Path) -> None:
    settings = only_settings({"state_dir": tmp_path / "state"})
    state = prepare_state_dir(settings)
    origin, run = GitOrigin(tmp_path), run_ref()
    base = origin.commit({"a.txt": "one\n"})
    host = host_id(state.worktrees)
    await WorktreeStore(state.worktrees, host).fetch(run.repository_id, [base], origin.access)
    journal = JournalRef(repository_id=run.repository_id, sweep=SWEEP, attempt=2, base=base)
    recorded = await JournalStore(state.worktrees, host).change(
        journal, base, an_action(1, summary="edit a.txt"), edits({"a.txt": "two\n"})
    )
    story = await composition.artifacts(state).put(b"1. edit_file: edit b.txt -> 0123456789ab")
    ended = attempt(fix=FixReport(agent="llm", outcome=FixOutcome.EDITED, actions=1, story=story))
    told = Checkpoint(
        run=run,
        workflow_version=1,
        current_step=Step.FIX,
        goal="a fix",
        budget=Budget(attempts_remaining=1),
        updated_at=NOW,
    )
    record = SweepRecord(
        view=SweepView(id=SWEEP, checkpoint=told, started_at=NOW, is_open=True),
        state=sweep_state(attempts=(ended,), facts=run_facts(head_sha=base)),
    )

    first, second = await attempt_stories(settings, state, record)

    assert first.actions == ("1. edit_file: edit b.txt -> 0123456789ab",)
    assert (second.n, second.is_open) == (2, True)
    (line,) = second.actions
    assert line.startswith("1. ")
    assert "edit a.txt" in line
    assert line.endswith(recorded.tip[:12])
