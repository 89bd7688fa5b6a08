"""What a dead worker may have left of a worktree is found, whatever part of it is left."""

from pathlib import Path

import pytest

from worktrees.git import GitDoor
from worktrees.inventory import traces_on

SWEEP = "sweep-127.0.0.1-77-2"


@pytest.mark.parametrize(
    "part",
    [f"trees/7/{SWEEP}.fix1", f"mirrors/7.git/worktrees/{SWEEP}.fix1", f"trash/7.{SWEEP}.fix1"],
    ids=["files", "administration", "trash"],
)
def test_any_part_of_a_worktree_is_a_trace(tmp_path: Path, part: str) -> None:
    (tmp_path / part).mkdir(parents=True)
    if part.startswith("mirrors"):
        (tmp_path / "mirrors/7.git/HEAD").write_text("ref: refs/heads/main\n")
        for folder in ("objects", "refs"):
            (tmp_path / "mirrors/7.git" / folder).mkdir()
    (trace,) = traces_on(tmp_path, "here", GitDoor(tmp_path / "home"))
    assert (trace.sweep, trace.repository_id, trace.worktrees) == (SWEEP, 7, (f"{SWEEP}.fix1",))


def test_what_is_no_sweeps_is_left_out(tmp_path: Path) -> None:
    for part in ("trees/7/preflight", "trees/seven/sweep-1-1", "trash/notes", "trash/x.sweep-1-1", "locks/7.sweep-1-1"):
        (tmp_path / part).mkdir(parents=True)
    assert traces_on(tmp_path, "here", GitDoor(tmp_path / "home")) == ()


def test_an_empty_state_directory_has_no_traces(tmp_path: Path) -> None:
    assert traces_on(tmp_path / "nothing", "here", GitDoor(tmp_path / "home")) == ()
