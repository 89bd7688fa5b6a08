"""Seam: replaced by sweeper.policy.triage when that is there."""

from sweeper.model import Diagnosis


def same_failure(diagnosis: Diagnosis, output: bytes) -> bool | None:
    """Nothing is known."""
    return None
