"""What may still be spent: tables of budgets, and a day on which attempts ask for their share."""

from datetime import UTC, datetime, timedelta

import pytest

from sweeper.model import Allowance, Spent
from sweeper.model.days import Grant, ReserveRequest, SettleRequest, SpendingState
from sweeper.policy.spending import (
    MOST_SHARES,
    forget,
    least,
    reserve,
    rest,
    settle,
    spent_line,
    total,
    under_way,
    used_up,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ANY = Allowance()
CALLS = Allowance(model_calls=10)
CENTS = Allowance(micro_usd=50_000)


def ask(
    key: str,
    repository: int = 1,
    wanted: Allowance = ANY,
    by_repository: Allowance = ANY,
    in_all: Allowance = ANY,
) -> ReserveRequest:
    return ReserveRequest(
        key=key,
        repository=f"octo/{repository}",
        repository_id=repository,
        wanted=wanted,
        repository_day=by_repository,
        installation_day=in_all,
        lasts=HOUR,
    )


def told(key: str, spent: Spent, repository: int = 1) -> SettleRequest:
    return SettleRequest(key=key, repository_id=repository, spent=spent)


def granted(state: SpendingState, request: ReserveRequest, now: datetime = NOON) -> tuple[SpendingState, Allowance]:
    state, grant = reserve(state, request, now)
    assert grant.granted is not None, grant.reason
    return state, grant.granted


@pytest.mark.parametrize(
    ("bound", "used", "left"),
    [
        (Allowance(), Spent(model_calls=9, micro_usd=9), Allowance()),
        (CALLS, Spent(model_calls=4), Allowance(model_calls=6)),
        (CALLS, Spent(model_calls=12), Allowance(model_calls=0)),
        (Allowance(tokens=10), Spent(input_tokens=3, output_tokens=4), Allowance(tokens=3)),
        (Allowance(seconds=1.5, micro_usd=7), Spent(seconds=0.5), Allowance(seconds=1.0, micro_usd=7)),
    ],
)
def test_what_is_left_is_never_less_than_nothing(bound: Allowance, used: Spent, left: Allowance) -> None:
    assert rest(bound, used) == left


@pytest.mark.parametrize(
    ("bound", "used", "words"),
    [
        (Allowance(), Spent(model_calls=9), None),
        (CALLS, Spent(model_calls=9), None),
        (CALLS, Spent(model_calls=10), "10 model calls used up (10 used)"),
        (Allowance(tokens=2_000_000), Spent(input_tokens=2_000_001), "2,000,000 tokens used up (2,000,001 used)"),
        (CENTS, Spent(micro_usd=51_200), "$0.0500 used up ($0.0512 used)"),
        (Allowance(seconds=60), Spent(seconds=61), "60 s of agents' time used up (61 s used)"),
        (Allowance(micro_usd=0), Spent(), "$0.0000 used up ($0.0000 used)"),
    ],
)
def test_a_bound_that_is_reached_is_named_with_what_was_used(bound: Allowance, used: Spent, words: str | None) -> None:
    assert used_up(bound, used) == words


def test_what_all_budgets_allow_is_the_least_of_each_kind() -> None:
    assert least(Allowance(), Allowance()) == Allowance()
    both = least(Allowance(model_calls=5, tokens=9), Allowance(model_calls=7, seconds=2.0))
    assert both == Allowance(model_calls=5, tokens=9, seconds=2.0)


@pytest.mark.parametrize(
    ("spent", "line"),
    [
        (Spent(), ""),
        (Spent(seconds=2.04), "2.0 s of agents' time"),
        (
            Spent(model_calls=1, input_tokens=1200, output_tokens=34, micro_usd=5600, seconds=7),
            "1 model call, 1,234 tokens, $0.0056, 7.0 s of agents' time",
        ),
    ],
)
def test_what_was_spent_is_one_line_of_numbers(spent: Spent, line: str) -> None:
    assert spent_line(spent) == line


def test_two_attempts_at_once_never_get_more_than_there_is() -> None:
    state, first = granted(SpendingState(), ask("s1/1", wanted=Allowance(micro_usd=30_000), in_all=CENTS))
    state, second = granted(state, ask("s2/1", repository=2, wanted=Allowance(micro_usd=30_000), in_all=CENTS))
    assert (first.micro_usd, second.micro_usd) == (30_000, 20_000)
    state, third = reserve(state, ask("s3/1", in_all=CENTS), NOON)
    assert (third.granted, third.is_held) == (None, True)
    assert third.reason.startswith("budget_installation_day, of which attempts under way hold the rest")
    # What the first did not use is there for the third.
    state = settle(state, told("s1/1", Spent(model_calls=2, micro_usd=10_000)), NOON)
    assert granted(state, ask("s3/1", in_all=CENTS))[1].micro_usd == 20_000


def test_asked_again_an_attempt_is_granted_the_same_even_when_nothing_is_left() -> None:
    state, first = granted(SpendingState(), ask("s1/1", in_all=CALLS))
    again, second = granted(state, ask("s1/1", in_all=CALLS))
    assert (first, second, again) == (CALLS, CALLS, state)


def test_what_was_used_is_settled_once() -> None:
    state, _ = granted(SpendingState(), ask("s1/1", in_all=CALLS))
    for calls in (4, 9):  # a repeat says the same; whatever it says, it is not counted again
        state = settle(state, told("s1/1", Spent(model_calls=calls)), NOON)
    assert granted(state, ask("s1/2", in_all=CALLS))[1] == Allowance(model_calls=6)


def test_a_repository_s_day_ends_and_others_go_on() -> None:
    state, _ = granted(SpendingState(), ask("s1/1", by_repository=CALLS))
    state = settle(state, told("s1/1", Spent(model_calls=10)), NOON)
    _, refused = reserve(state, ask("s1/2", by_repository=CALLS), NOON)
    midnight = datetime(2026, 12, 1, tzinfo=UTC)
    assert refused == Grant(
        reason="budget_repository_day of octo/1: 10 model calls used up (10 used) on 2026-11-30,"
        " until 2026-12-01 00:00 UTC",
        until=midnight,
    )
    assert granted(state, ask("s2/1", repository=2, by_repository=CALLS))[1] == CALLS
    assert granted(state, ask("s1/2", by_repository=CALLS), midnight)[1] == CALLS


def test_an_attempt_over_midnight_counts_for_the_day_it_began_on() -> None:
    late, early = datetime(2026, 11, 30, 23, 59, tzinfo=UTC), datetime(2026, 12, 1, 0, 1, tzinfo=UTC)
    state, _ = granted(SpendingState(), ask("s1/1", in_all=CALLS), late)
    state = settle(state, told("s1/1", Spent(model_calls=10)), early)
    assert granted(state, ask("s1/2", in_all=CALLS), early)[1] == CALLS
    assert [day.date for day in state.days] == ["2026-11-30"]


def test_old_days_are_dropped_and_yesterday_still_knows_its_keys() -> None:
    state, _ = granted(SpendingState(), ask("s1/1", in_all=CALLS))
    state = settle(state, told("s1/1", Spent(model_calls=10)), NOON)
    tomorrow = NOON + timedelta(days=1)
    state = settle(state, told("s1/1", Spent(model_calls=10)), tomorrow)
    assert granted(state, ask("s2/1", in_all=CALLS), tomorrow)[1] == CALLS
    state, _ = granted(state, ask("s3/1"), NOON + timedelta(days=2))
    assert [day.date for day in state.days] == ["2026-12-02"]


def test_a_share_nobody_settles_ends_with_the_longest_time_of_its_attempt() -> None:
    state, _ = granted(SpendingState(), ask("s1/1", in_all=CALLS))
    _, held = reserve(state, ask("s2/1", in_all=CALLS), NOON + HOUR / 2)
    assert held.is_held
    state, late = granted(state, ask("s2/1", in_all=CALLS), NOON + HOUR)
    assert late == CALLS
    # The first was only slow: what it used counts all the same.
    state = settle(state, told("s1/1", Spent(model_calls=3)), NOON + HOUR)
    state = settle(state, told("s2/1", Spent(model_calls=5)), NOON + HOUR)
    assert granted(state, ask("s3/1", in_all=CALLS), NOON + HOUR)[1] == Allowance(model_calls=2)


def test_the_share_of_a_sweep_that_died_is_free_again() -> None:
    state, _ = granted(SpendingState(), ask("sweep-1-1/2", in_all=CALLS))
    assert under_way(state) == ("sweep-1-1",)
    state = forget(state, ("sweep-1-1",))
    assert (under_way(state), granted(state, ask("sweep-2-1/1", in_all=CALLS))[1]) == ((), CALLS)


def test_a_busy_day_stays_small_and_forgets_no_amount() -> None:
    state, spent, many = SpendingState(), Spent(model_calls=1, micro_usd=3), 3 * MOST_SHARES
    for n in range(many):
        state, _ = granted(state, ask(f"sweep-{n}-1/1", repository=n % 3))
        state = settle(state, told(f"sweep-{n}-1/1", spent, repository=n % 3), NOON)
    (day,) = state.days
    assert (len(day.shares), len(day.earlier)) == (MOST_SHARES, 3)
    known = total([*day.earlier.values(), *(share.spent or Spent() for share in day.shares)])
    assert known == Spent(model_calls=many, micro_usd=3 * many)
    assert len(state.model_dump_json()) < 64_000
    assert SpendingState.model_validate_json(state.model_dump_json()) == state
