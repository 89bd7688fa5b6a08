"""The crash suite's judges see what they have to see."""

import pytest

from adapters.loopback.core.state import HookMode
from sweeper.model import Outcome
from tests.crash.batches import batches, judge
from tests.crash.oracle import Seen, differences
from tests.crash.reference import Hold, Reference
from tests.crash.rows import Killed, Point, Row, Table, all_rows, points, unreached
from tests.crash.schedules import schedule

EXPECTED = Seen(
    outcome=Outcome.MERGED,
    reason="approved by ann",
    effects={"branch.push": 1, "comment.create": 1},
    world=("branch main", "pull closed merged, 1 comments"),
    left_over=(),
)
WRITING = Hold(method="POST", path="^/repos/octo/TRIAL/pulls$", writes=True)
READING = Hold(method="GET", path="^/repos/octo/TRIAL/pulls/1$")
STORY = Reference(
    scenario="cancelled",
    activities=("admit", "open_proposal", "choose_host"),
    holds={"open_proposal": WRITING, "admit": READING},
    writes={"pull.create": WRITING},
    doers={"pull.create": "open_proposal"},
    undoing=("comment",),
    seen=EXPECTED,
)


def row(table: Table, moment: str = "before") -> Row:
    return Row(table=table, subject="comment", moment=moment, how="worker", scenario="cancelled")


def test_the_same_end_is_no_difference() -> None:
    assert differences(EXPECTED.model_copy(update={"reason": "approved by bob"}), EXPECTED) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"outcome": Outcome.ESCALATED}, "ended as escalated (approved by ann), not merged"),
        ({"effects": {"branch.push": 2, "comment.create": 1}}, "effects +1 branch.push"),
        ({"effects": {"comment.create": 1}}, "effects -1 branch.push"),
        ({"world": ("branch main", "pull open, 1 comments")}, "otherwise"),
        ({"left_over": ("worktree trees/1/x",)}, "left over: worktree trees/1/x"),
    ],
)
def test_any_other_end_is_told(changed: dict[str, object], said: str) -> None:
    assert said in differences(EXPECTED.model_copy(update=changed), EXPECTED)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"outcome": Outcome.ESCALATED, "effects": {}}, ""),
        ({"effects": {"branch.push": 2}}, "twice: branch.push x2"),
        ({"left_over": ("branch sweeper/x",)}, "left over and not named: branch sweeper/x"),
        ({"left_over": ("branch sweeper/x",), "reason": "left over: sweeper/x"}, ""),
    ],
)
def test_what_fails_for_good_may_end_otherwise_but_leaves_nothing(changed: dict[str, object], said: str) -> None:
    assert judge(row(Table.FAILURES, "denied"), EXPECTED.model_copy(update=changed), STORY) == said


def test_an_activity_without_a_story_is_told() -> None:
    assert "merge" in unreached([STORY])
    assert "admit" not in unreached([STORY])


def test_points_follow_from_what_an_activity_calls() -> None:
    assert points(STORY, "open_proposal") == tuple(Point)
    assert points(STORY, "admit") == (Point.BEFORE, Point.CALL, Point.AFTER)
    assert points(STORY, "choose_host") == (Point.BEFORE, Point.AFTER)


def test_every_row_is_in_one_batch_and_no_batch_mixes_what_is_killed() -> None:
    rows = all_rows([STORY])
    found = list(batches(rows, size=3))
    assert sorted(row.key for batch in found for row in batch) == sorted(row.key for row in rows)
    assert {how for how in Killed} == {Killed(row.how) for row in rows if row.table is Table.KILLS}
    assert all(len({(row.table, row.how) for row in batch if row.table is Table.KILLS}) <= 1 for batch in found)


def test_a_schedule_is_its_seed() -> None:
    assert schedule(1) == schedule(1)
    assert {schedule(seed).hooks for seed in range(50)} >= {HookMode.DUPLICATE, HookMode.REORDER, HookMode.HOLD}
    assert {kill.killed for seed in range(50) for kill in schedule(seed).kills} == set(Killed)
