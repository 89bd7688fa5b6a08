"""Does the proof still hold? Asked before every step that acts and after every wait."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from sweeper.model import Evidence, Proposal, World


class StaleReason(StrEnum):
    """Why a proof does not hold any more."""

    HEAD_MOVED = "HEAD_MOVED"
    BASE_MOVED = "BASE_MOVED"
    RUN_GREEN_LATER = "RUN_GREEN_LATER"
    BRANCH_GONE = "BRANCH_GONE"
    EXPIRED = "EXPIRED"


REVERIFIABLE = frozenset({StaleReason.BASE_MOVED, StaleReason.EXPIRED})
"""Reasons that a new verification on the merge with the target can mend."""


def freshness(
    proposal: Proposal, verified_target: str, evidence: Sequence[Evidence], world: World, now: datetime
) -> tuple[StaleReason, ...]:
    """Empty: fresh. `verified_target` is the target's head the proof was made for."""
    reasons: list[StaleReason] = []
    if world.head_sha != proposal.head_sha:
        reasons.append(StaleReason.HEAD_MOVED)
    if world.target_head is None:
        reasons.append(StaleReason.BRANCH_GONE)
    elif world.target_head != verified_target:
        reasons.append(StaleReason.BASE_MOVED)
    if world.run_green_later:
        reasons.append(StaleReason.RUN_GREEN_LATER)
    if any(item.expires_at <= now for item in evidence):
        reasons.append(StaleReason.EXPIRED)
    return tuple(reasons)
