from datetime import timedelta
from typing import Any

import pytest

from sweeper.model import Evidence
from sweeper.policy.freshness import REVERIFIABLE, StaleReason, freshness
from tests.support.values import NOW, OLD_HEAD, TARGET, proposal, world

MOVED = "9" * 40


def _evidence(expires_in: timedelta = timedelta(hours=1)) -> Evidence:
    return Evidence(
        kind="verdict", subject="patch", digest="tree", version=1, captured_at=NOW, expires_at=NOW + expires_in
    )


@pytest.mark.parametrize(
    ("seen", "reasons"),
    [
        ({}, ()),
        ({"head_sha": OLD_HEAD}, (StaleReason.HEAD_MOVED,)),
        ({"target_head": MOVED}, (StaleReason.BASE_MOVED,)),
        ({"target_head": None}, (StaleReason.BRANCH_GONE,)),
        ({"run_green_later": True}, (StaleReason.RUN_GREEN_LATER,)),
        ({"head_sha": OLD_HEAD, "target_head": MOVED}, (StaleReason.HEAD_MOVED, StaleReason.BASE_MOVED)),
        (
            {"head_sha": OLD_HEAD, "target_head": None, "run_green_later": True},
            (StaleReason.HEAD_MOVED, StaleReason.BRANCH_GONE, StaleReason.RUN_GREEN_LATER),
        ),
    ],
)
def test_the_world_makes_a_proof_stale(seen: dict[str, Any], reasons: tuple[StaleReason, ...]) -> None:
    assert freshness(proposal(), TARGET, [_evidence()], world(**seen), NOW) == reasons


@pytest.mark.parametrize(
    ("evidence", "reasons"),
    [
        ([], ()),
        ([_evidence(timedelta(microseconds=1))], ()),
        ([_evidence(timedelta(0))], (StaleReason.EXPIRED,)),
        ([_evidence(), _evidence(timedelta(seconds=-1))], (StaleReason.EXPIRED,)),
    ],
)
def test_time_makes_a_proof_stale(evidence: list[Evidence], reasons: tuple[StaleReason, ...]) -> None:
    assert freshness(proposal(), TARGET, evidence, world(), NOW) == reasons


def test_everything_at_once_is_told() -> None:
    seen = world(head_sha=OLD_HEAD, target_head=MOVED, run_green_later=True)
    reasons = freshness(proposal(), TARGET, [_evidence(timedelta(0))], seen, NOW)
    assert set(reasons) == set(StaleReason) - {StaleReason.BRANCH_GONE}


def test_only_a_moved_target_and_age_can_be_mended_by_proving_again() -> None:
    assert {StaleReason.BASE_MOVED, StaleReason.EXPIRED} == REVERIFIABLE
