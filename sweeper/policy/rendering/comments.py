"""Comments of ours on a proposal; the last one has a module of its own, `sweeper.policy.farewell`."""

from sweeper.model import AttemptResult
from sweeper.policy.rendering.answer import numbered
from sweeper.policy.rendering.learned import used
from sweeper.policy.rendering.neutral import code


def answered_request(attempt: AttemptResult, reviewer: str | None, allowed: int | None = None) -> str:
    """The reply after a request for changes was worked in; `allowed`: how many attempts there may be in all."""
    commit = attempt.patch.commit[:12] if attempt.patch else "none"
    which = f"{numbered(attempt.n, allowed)}, agent {code(attempt.agent)}"
    spent = used([attempt])
    return (
        f"Done as {code(reviewer or 'the reviewer')} asked, in `{commit}` ({which}); verified green again. "
        f"Please look at the new head.{f' {spent}' if spent else ''}"
    )
