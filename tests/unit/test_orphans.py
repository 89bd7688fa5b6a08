"""The table of what becomes of a sweep's remains, row by row."""

from dataclasses import dataclass

import pytest

from sweeper import ids
from sweeper.model import Effect, EffectState, Outcome, RunRef
from sweeper.model.upkeep import HostTrace, OpenCheck, PullTrace, Remains, RepositoryRef
from sweeper.policy.orphans import Fate, Judgement, Known, Standing, gather, judge, pushed_by
from tests.support import values

API = "https://api.github.com"
SWEEP = "sweep-77-2"
OURS, THEIRS = "a" * 40, "b" * 40
HERE = RepositoryRef(id=4711, name="octo/app")
RUN = RunRef(repository="octo/app", repository_id=4711, run_id=77, run_attempt=2)
PULL = PullTrace(number=5, branch="sweeper/77-2", head_sha=OURS)


def trace(host: str = "here", *commits: str) -> HostTrace:
    return HostTrace(host=host, repository_id=4711, sweep=SWEEP, worktrees=(SWEEP,), commits=commits)


def remains(**changes: object) -> Remains:
    whole = Remains(
        sweep=SWEEP, repository=HERE, pulls=(PULL,), branch_sha=OURS, hosts=(trace("here", OURS), trace("there"))
    )
    return whole.model_copy(update=changes)


def known(standing: Standing, **changes: object) -> Known:
    return Known(standing=standing, run=RUN).model_copy(update=changes)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    known: Known
    fate: Fate
    closes: bool = False
    deletes: bool = False
    discards: bool = False


UNKNOWN, BROKEN, ENDED = Standing.UNKNOWN, Standing.BROKEN, Standing.ENDED
ROWS = {
    "open": Row(known(Standing.OPEN), Fate.LEAVE),
    "unknown, fails still": Row(known(UNKNOWN, is_startable=True), Fate.START),
    "unknown": Row(known(UNKNOWN), Fate.UNDO, closes=True, deletes=True, discards=True),
    "ended by other hands": Row(known(BROKEN), Fate.UNDO, closes=True, deletes=True, discards=True),
    "ended by other hands, fails still": Row(
        known(BROKEN, is_startable=True), Fate.UNDO, closes=True, deletes=True, discards=True
    ),
    "left to a human": Row(known(ENDED, outcome=Outcome.LEFT_TO_HUMAN), Fate.UNDO, discards=True),
    "escalated": Row(known(ENDED, outcome=Outcome.ESCALATED), Fate.UNDO, discards=True),
    "merged": Row(known(ENDED, outcome=Outcome.MERGED), Fate.UNDO, closes=True, deletes=True, discards=True),
    "cancelled": Row(known(ENDED, outcome=Outcome.CANCELLED), Fate.UNDO, closes=True, deletes=True, discards=True),
    "of a repository out of sight": Row(known(BROKEN, run=None), Fate.UNDO, discards=True),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_becomes_of_all_that_can_be_left(row: Row) -> None:
    judgement = judge(remains(), row.known)
    assert judgement.fate is row.fate
    if row.fate is Fate.UNDO:
        assert (bool(judgement.pulls) and judgement.closes) is row.closes
        assert judgement.delete == (OURS if row.deletes else None)
        assert judgement.hosts == (("here", "there") if row.discards else ())


@pytest.mark.parametrize("standing", [UNKNOWN, BROKEN])
def test_a_branch_that_somebody_moved_stays_with_its_proposal_and_is_named(standing: Standing) -> None:
    judgement = judge(remains(branch_sha=THEIRS), known(standing))
    assert (judgement.fate, judgement.delete, judgement.closes) == (Fate.UNDO, None, False)
    assert (judgement.outcome, judgement.proved) == (Outcome.LEFT_TO_HUMAN, OURS)
    assert "sweeper/77-2 at bbbbbbbbbbbb" in judgement.left


def test_a_branch_of_which_no_commit_is_known_stays_with_its_proposal_and_is_named() -> None:
    judgement = judge(remains(hosts=()), known(UNKNOWN))
    assert (judgement.fate, judgement.delete, judgement.pulls) == (Fate.LEAVE, None, ())
    assert "no record says" in judgement.left


def test_a_name_alone_makes_nothing_ours() -> None:
    judgement = judge(remains(pulls=(), hosts=()), known(UNKNOWN, is_startable=True))
    assert judgement.fate is Fate.LEAVE
    assert "nothing vouches for it" in judgement.left


def test_a_branch_made_anew_after_all_was_undone_is_left_alone() -> None:
    again = remains(pulls=(), hosts=(), branch_sha=THEIRS)
    judgement = judge(again, known(BROKEN, commits=(OURS,)))
    assert (judgement.fate, judgement.delete) == (Fate.LEAVE, None)
    assert "left alone" in judgement.left


def test_a_commit_counts_as_ours_by_the_sweeps_own_record_as_well() -> None:
    assert judge(remains(hosts=()), known(BROKEN, commits=(OURS,))).delete == OURS


def test_an_escalated_sweep_without_a_proposal_leaves_no_branch() -> None:
    assert judge(remains(pulls=()), known(ENDED, outcome=Outcome.ESCALATED)).delete == OURS


def test_a_record_alone_is_nothing_to_undo_unless_a_check_run_goes_on() -> None:
    nothing = Remains(sweep=SWEEP, repository=HERE)
    assert judge(nothing, known(BROKEN)).fate is Fate.LEAVE
    check = OpenCheck(sha=OURS)
    judgement = judge(nothing, known(BROKEN), [check])
    assert (judgement.fate, judgement.checks) == (Fate.UNDO, (check,))


def test_the_same_sweep_is_judged_once_however_many_places_it_left_something_in() -> None:
    on_github = remains(hosts=())
    stranger = HostTrace(host="here", repository_id=99, sweep="sweep-9-9", worktrees=("sweep-9-9",))
    gathered = gather([on_github], [trace("here", OURS), trace("there"), stranger], {4711: HERE})
    assert gathered == (
        remains(),
        Remains(sweep="sweep-9-9", repository=RepositoryRef(id=99), hosts=(stranger,)),
    )


def test_a_broken_sweeps_own_record_and_what_is_left_are_one() -> None:
    record = Remains(sweep=SWEEP, repository=HERE)
    (together,) = gather([record, remains(hosts=())], [trace("here", OURS)], {4711: HERE})
    assert (together.pulls, together.branch_sha, len(together.hosts)) == ((PULL,), OURS, 1)


def test_every_commit_that_may_be_on_the_branch_is_known_from_the_state() -> None:
    push = Effect(key=f"{SWEEP}/propose/1", name="branch.push", state=EffectState.CREATED, ref=f"refs/heads/x@{OURS}")
    state = values.sweep_state(effects=(push,), pushes=(THEIRS,), proposal=None, attempts=())
    assert set(pushed_by(state)) == {OURS, THEIRS}


def test_nothing_to_do_is_no_work() -> None:
    assert not Judgement(sweep=SWEEP, repository=HERE, fate=Fate.LEAVE).has_work


@pytest.mark.parametrize(
    ("name", "sweep"),
    [
        ("sweep-77-2", "sweep-77-2"),
        ("sweep-77-2.fix1", "sweep-77-2"),
        ("sweep-77-2.revalidate", "sweep-77-2"),
        ("sweep-127.0.0.1-77-2.verify12", "sweep-127.0.0.1-77-2"),
        ("sweep-127.0.0.1-77-2-mcli2026.fix1", "sweep-127.0.0.1-77-2-mcli2026"),
        ("preflight", None),
        ("sweep-x", None),
        ("sweep-77-2.", None),
    ],
)
def test_a_workspace_tells_its_sweep(name: str, sweep: str | None) -> None:
    assert ids.sweep_id_of_workspace(name) == sweep


@pytest.mark.parametrize("request_id", [None, "r1", "a request with spaces"])
@pytest.mark.parametrize("api_url", [API, "http://127.0.0.1:8080", "https://git.example/api/v3"])
def test_a_sweep_tells_its_run(api_url: str, request_id: str | None) -> None:
    sweep = ids.sweep_id(RUN, api_url, request_id)
    assert ids.run_of_sweep(sweep, "octo/app", 4711, api_url) == RUN
    assert ids.sweep_id(RUN, api_url, ids.request_of_sweep(sweep)) == sweep


def test_a_sweep_of_another_github_is_none_of_ours() -> None:
    assert ids.run_of_sweep("sweep-git.example-77-2", "octo/app", 4711, API) is None
    assert ids.run_of_sweep("sweep-77-2", "octo/app", 4711, "https://git.example/api") is None


def test_what_upkeep_writes_is_no_sweeps_effect_and_fits_a_marker() -> None:
    key = ids.upkeep_key("sweep-127.0.0.1-1795981775497-12", "delete_branch", 1)
    assert ids.effect_of_body(ids.marker(key, b"k", 1), b"k", 1) == key
    assert ids.sweep_of_effect(key) is None
    assert ids.sweep_of_effect(ids.effect_key(SWEEP, "propose", 2)) == SWEEP
