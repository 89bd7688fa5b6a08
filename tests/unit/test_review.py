import pytest

from sweeper.model import Review, ReviewState
from sweeper.policy.review import judge, latest_decisive
from tests.support.values import BOT, HEAD, OLD_HEAD, approved, review, wants_changes


def _approver(*reviews: Review, handled: tuple[int, ...] = ()) -> str | None:
    said = judge(reviews, HEAD, BOT, handled)
    return said.approval.user if said.approval else None


def _requester(*reviews: Review, handled: tuple[int, ...] = ()) -> str | None:
    said = judge(reviews, HEAD, BOT, handled)
    return said.request.user if said.request else None


@pytest.mark.parametrize("permission", ["write", "maintain", "admin"])
def test_who_may_write_may_approve(permission: str) -> None:
    assert _approver(approved(permission=permission)) == "ann"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (approved(permission="none"), "ann: has none permission, write is needed"),
        (approved(permission="read"), "ann: has read permission, write is needed"),
        (approved(permission="triage"), "ann: has triage permission, write is needed"),
        (approved(permission="WRITE"), "ann: has WRITE permission, write is needed"),
        (approved(user_type="Bot"), "ann: not a person"),
        (approved(user_type="Organization"), "ann: not a person"),
        (approved(BOT), f"{BOT}: the author cannot review"),
        (approved(commit_id=OLD_HEAD), "ann: approved an older head"),
        (approved(commit_id=None), "ann: approved an older head"),
        (wants_changes(permission="read"), "ann: has read permission, write is needed"),
        (wants_changes(user_type="Bot"), "ann: not a person"),
        (wants_changes(BOT), f"{BOT}: the author cannot review"),
    ],
)
def test_a_word_that_does_not_count_is_passed_over_with_its_reason(said: Review, why: str) -> None:
    assert judge([said], HEAD, BOT).model_dump() == {"approval": None, "request": None, "passed_over": (why,)}


def test_the_word_of_a_deleted_account_counts_for_nothing() -> None:
    said = judge([approved(None), wants_changes(None)], HEAD, BOT)
    assert (said.approval, said.request, said.passed_over) == (None, None, ())


@pytest.mark.parametrize(
    ("reviews", "approver", "requester"),
    [
        ([], None, None),
        ([review(ReviewState.COMMENTED)], None, None),
        ([review(ReviewState.PENDING)], None, None),
        ([approved(), review(ReviewState.COMMENTED)], "ann", None),
        ([approved(), wants_changes()], None, "ann"),
        ([wants_changes(), approved()], "ann", None),
        ([approved(), review(ReviewState.DISMISSED)], None, None),
        ([wants_changes(), review(ReviewState.DISMISSED)], None, None),
        ([review(ReviewState.DISMISSED), approved()], "ann", None),
        ([approved(commit_id=OLD_HEAD), approved()], "ann", None),
        ([approved(), approved(commit_id=OLD_HEAD)], None, None),
        ([approved("ann"), approved("ben")], "ben", None),
        ([approved("ann"), wants_changes("ben")], "ann", "ben"),
        ([wants_changes("ben"), approved("ann")], "ann", "ben"),
        ([approved("ann"), approved("eve", permission="read")], "ann", None),
        ([wants_changes("ann", commit_id=OLD_HEAD)], None, "ann"),
        ([wants_changes("ann"), wants_changes("ben")], None, "ben"),
    ],
)
def test_each_users_latest_decisive_word_counts(
    reviews: list[Review], approver: str | None, requester: str | None
) -> None:
    assert (_approver(*reviews), _requester(*reviews)) == (approver, requester)


def test_a_request_that_was_answered_is_not_answered_again() -> None:
    assert _requester(wants_changes(id=5), handled=(5,)) is None
    assert _requester(wants_changes(id=5), wants_changes(id=6), handled=(5,)) == "ann"


def test_an_answered_request_does_not_bring_an_earlier_approval_back() -> None:
    assert _approver(approved(id=4), wants_changes(id=5), handled=(5,)) is None


def test_an_answered_request_leaves_others_their_word() -> None:
    assert _approver(wants_changes("ben", id=5), approved("ann", id=6), handled=(5,)) == "ann"


def test_latest_decisive_keeps_the_order_in_which_people_spoke_last() -> None:
    first, second, third = approved("ann", id=1), approved("ben", id=2), wants_changes("ann", id=3)
    assert latest_decisive([first, second, third]) == (second, third)
