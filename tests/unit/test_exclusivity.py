"""Who may work on a target, as a table of questions asked one after the other."""

from datetime import UTC, datetime, timedelta

import pytest

from sweeper.model.target import Answer, Asked, EnterRequest, LeaveRequest, TargetState, Turn
from sweeper.policy.exclusivity import MOST_REJECTED, enter, forget, leave, to_ring, unsettled

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
MUTED_FOR = timedelta(days=1)
TARGET = "target-1-x"
EMPTY = TargetState()


def ask(sweep: str, cause: str = "red", **more: object) -> Asked:
    """A sweep's question; its run is as old as its name says."""
    number = int(sweep.removeprefix("s"))
    return Asked.model_validate({"sweep": sweep, "run_id": number, "workflow": sweep, "signature": cause, **more})


def asked(
    *questions: Asked, state: TargetState = EMPTY, now: datetime = NOW, capacity: int = 1
) -> tuple[TargetState, Answer]:
    """All questions in this order, and the last answer."""
    answer = None
    for question in questions:
        state, answer = enter(state, EnterRequest(target=TARGET, asked=question, capacity=capacity), now)
    assert answer is not None
    return state, answer


def left(state: TargetState, sweep: str, cause: str = "red", now: datetime = NOW, **more: object) -> TargetState:
    """A turn that is over."""
    return leave(state, LeaveRequest.model_validate(dict(target=TARGET, sweep=sweep, signature=cause, **more)), now)


def test_who_asks_first_may_go_and_may_ask_again() -> None:
    state, answer = asked(ask("s1"), ask("s1"))
    assert (answer.turn, [holder.sweep for holder in state.holders], state.queue) == (Turn.GO, ["s1"], ())


def test_the_others_wait_in_the_order_they_came_and_keep_their_places() -> None:
    state, answer = asked(ask("s1"), ask("s2", "blue"), ask("s3", "grey"), ask("s2", "blue"), ask("s3", "grey"))
    assert (answer.turn, answer.position, answer.other) == (Turn.WAIT, 2, "s1")
    assert [waiting.sweep for waiting in state.queue] == ["s2", "s3"]


def test_the_next_one_is_rung_when_the_holder_leaves_and_nobody_jumps_the_queue() -> None:
    state, _ = asked(ask("s1"), ask("s2", "blue"))
    state = left(state, "s1")
    assert to_ring(state) == ("s2",)
    assert asked(ask("s3", "grey"), state=state)[1].turn is Turn.WAIT
    assert asked(ask("s2", "blue"), state=state)[1].turn is Turn.GO


@pytest.mark.parametrize("where", ["in", "waiting", "proposed"])
def test_the_same_cause_is_joined_wherever_its_sweep_is(where: str) -> None:
    first = ask("s1", "blue" if where == "waiting" else "red")
    state, _ = asked(first, ask("s2")) if where == "waiting" else asked(first)
    if where == "proposed":
        state = left(state, "s1", has_proposal=True)
    answer = asked(ask("s9"), state=state)[1]
    assert (answer.turn, answer.other) == (Turn.JOIN, "s2" if where == "waiting" else "s1")


def test_who_came_first_does_not_join_who_came_later() -> None:
    state, _ = asked(ask("s1", "blue"), ask("s2"), ask("s3", "grey"))
    assert asked(ask("s2"), state=state)[1].turn is Turn.WAIT


def test_another_cause_may_go_while_a_proposal_waits_for_a_human() -> None:
    state = left(asked(ask("s1"))[0], "s1", has_proposal=True)
    assert asked(ask("s2", "blue"), state=state)[1].turn is Turn.GO


def test_an_approval_goes_first_then_requests_by_hand_then_the_rest() -> None:
    questions = (ask("s1"), ask("s2", "blue"), ask("s3", "grey", is_manual=True), ask("s4", "pink", again=True))
    state, _ = asked(*questions)
    assert [waiting.sweep for waiting in state.queue] == ["s4", "s3", "s2"]


def test_a_newer_run_of_a_workflow_supersedes_the_older_one_that_waits() -> None:
    state, answer = asked(ask("s1"), ask("s2", "blue", workflow="ci"), ask("s3", "grey", workflow="ci"))
    assert (answer.turn, answer.position, answer.supersedes) == (Turn.WAIT, 1, ("s2",))
    assert "s2" in to_ring(state)
    told = asked(ask("s2", "blue", workflow="ci"), state=state)[1]
    assert (told.turn, told.other) == (Turn.SUPERSEDED, "s3")
    assert left(state, "s2", "blue").superseded == {}


@pytest.mark.parametrize(
    "older",
    [
        ask("s2", "blue", workflow="nightly"),
        ask("s2", "blue", workflow="ci", is_manual=True),
        ask("s2", "blue", workflow="ci", again=True),
        ask("s9", "blue", workflow="ci"),
    ],
    ids=["another workflow", "asked by hand", "has an approval", "is newer itself"],
)
def test_nobody_else_is_superseded(older: Asked) -> None:
    state, answer = asked(ask("s1"), older, ask("s3", "grey", workflow="ci"))
    assert (answer.supersedes, state.superseded) == ((), {})


def test_a_no_mutes_its_cause_until_its_time_is_over() -> None:
    state = left(asked(ask("s1"))[0], "s1", mute_for=MUTED_FOR)
    assert asked(ask("s2"), state=state)[1].turn is Turn.MUTED
    assert asked(ask("s2", "blue"), state=state)[1].turn is Turn.GO
    assert asked(ask("s2"), state=state, now=NOW + MUTED_FOR)[1].turn is Turn.GO


def test_a_request_by_hand_lifts_the_mute() -> None:
    state = left(asked(ask("s1"))[0], "s1", mute_for=MUTED_FOR)
    state, answer = asked(ask("s2", is_manual=True), state=state)
    assert (answer.turn, state.mutes) == (Turn.GO, ())


def test_a_patch_a_human_did_not_want_stays_known_for_its_cause_when_the_mute_is_over_or_lifted() -> None:
    state = asked(ask("s1"))[0]
    for _ in ("told", "told twice"):
        state = left(state, "s1", mute_for=MUTED_FOR, rejected=("p1", "p2"))
    for later, by_hand in ((NOW + 100 * MUTED_FOR, False), (NOW, True)):
        kept, answer = asked(ask("s2", is_manual=by_hand), state=forget(state, (), later), now=later)
        assert (answer.turn, answer.rejected) == (Turn.GO, ("p1", "p2"))
        assert asked(ask("s2"), state=kept, now=later)[1].rejected == ("p1", "p2")
    assert asked(ask("s2", "blue"), state=state)[1].rejected == ()


def test_what_was_not_wanted_keeps_a_target_but_nothing_of_it_is_due() -> None:
    state = left(asked(ask("s1"))[0], "s1", rejected=("p1",))
    assert (state.is_quiet, state.is_idle) == (True, False)
    for n in range(2 * MOST_REJECTED):
        state = left(state, "s1", rejected=(f"q{n}",))
    assert len(state.rejected) == MOST_REJECTED
    assert state.rejected[-1].patch_id == f"q{2 * MOST_REJECTED - 1}"


def test_the_dead_neither_hold_nor_wait_nor_block_their_cause() -> None:
    state, _ = asked(ask("s1"), ask("s2", "blue"), ask("s3", "grey"))
    assert unsettled(state) == ("s1", "s2", "s3")
    state = forget(state, ("s1", "s2"), NOW)
    assert to_ring(state) == ("s3",)
    assert asked(ask("s3", "grey"), state=state)[1].turn is Turn.GO


def test_leaving_twice_changes_nothing() -> None:
    once = left(asked(ask("s1"), ask("s2", "blue"))[0], "s1", has_proposal=True)
    assert left(once, "s1", has_proposal=True) == once


def test_when_all_is_over_nothing_is_remembered() -> None:
    state = left(asked(ask("s1"))[0], "s1", has_proposal=True)
    assert not state.is_idle
    assert left(state, "s1").is_idle


def test_as_many_are_in_as_there_are_places() -> None:
    state, answer = asked(ask("s1", "a"), ask("s2", "b"), ask("s3", "c"), capacity=2)
    assert (answer.turn, answer.position, len(state.holders)) == (Turn.WAIT, 1, 2)
    state = left(state, "s2", "b")
    assert to_ring(state) == ("s3",)
    assert asked(ask("s3", "c"), state=state, capacity=2)[1].turn is Turn.GO


def test_repositories_take_turns_however_many_sweeps_one_of_them_has() -> None:
    crowd = [ask(f"s{n}", f"cause {n}", group="crowded") for n in range(1, 5)]
    alone = ask("s8", "x", group="quiet")
    by_hand = ask("s9", "y", group="crowded", is_manual=True)
    state, _ = asked(*crowd, alone, by_hand)
    assert [waiting.sweep for waiting in state.queue] == ["s9", "s8", "s2", "s3", "s4"]


def test_one_that_is_in_may_name_another_cause() -> None:
    state, _ = asked(ask("s1"), ask("s1", "blue"))
    assert asked(ask("s2", "blue"), state=state)[1].turn is Turn.JOIN


def test_a_cause_without_a_fix_is_left_alone_for_longer_each_time_and_told_twice_counts_once() -> None:
    hour, now, state = timedelta(hours=1), NOW, EMPTY
    for n, hours in enumerate((1, 2, 4, 8, 16, 24, 24), start=1):
        state, answer = asked(ask(f"s{n}"), state=forget(state, (), now), now=now)
        assert answer.turn is Turn.GO
        for _ in ("told", "told again after a lost answer"):
            state = left(state, f"s{n}", now=now, backoff=hour)
        early = asked(ask("s99"), state=state, now=now + hours * hour - timedelta(seconds=1))[1]
        assert early.turn is Turn.MUTED
        assert "agents found no fix" in early.reason
        now += hours * hour


def test_who_asks_by_hand_is_not_held_back_where_no_fix_was_found() -> None:
    state = left(asked(ask("s1"))[0], "s1", backoff=timedelta(hours=1))
    assert asked(ask("s2", is_manual=True), state=state)[1].turn is Turn.GO


def test_a_fix_that_is_found_at_last_ends_the_backing_off() -> None:
    state = left(asked(ask("s1"))[0], "s1", backoff=timedelta(hours=1))
    state = left(asked(ask("s2", is_manual=True), state=state)[0], "s2", has_proposal=True)
    assert state.mutes == ()


def test_a_humans_no_outlasts_the_backing_off() -> None:
    state = left(asked(ask("s1"))[0], "s1", mute_for=timedelta(days=30))
    state = left(state, "s2", backoff=timedelta(hours=1))
    assert "a human said no" in asked(ask("s3"), state=state, now=NOW + timedelta(days=29))[1].reason
