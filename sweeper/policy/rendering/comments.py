"""Comments of ours on a proposal; the last one has a module of its own, `sweeper.policy.farewell`."""

from sweeper.model import AttemptResult
from sweeper.policy.rendering.neutral import code


def answered_request(attempt: AttemptResult, reviewer: str | None) -> str:
    """The reply after a request for changes was worked in."""
    commit = attempt.patch.commit[:12] if attempt.patch else "none"
    return (
        f"Done as {code(reviewer or 'the reviewer')} asked, in `{commit}` "
        f"(attempt {attempt.n}, agent {code(attempt.agent)}); verified green again. Please look at the new head."
    )
