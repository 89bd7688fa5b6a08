"""What a proposal's last comment says: how it ended, why, and every write the sweep has confirmed so far.

It is posted before the proposal is closed, so it says what is about to be done and claims nothing.
"""

from collections.abc import Sequence

from sweeper.model import Effect, Outcome
from sweeper.policy.rendering.neutral import cell, code, folded

MAX_ROWS = 30
"""Of a list of writes, so many of the newest: it stands below a body that may be as long as bodies get."""

_SAID = {
    Outcome.EXPIRED: "Closing, because its time or its proof ran out; re-run the failing run to ask again.",
    Outcome.CANCELLED: "Closing, because the sweep was cancelled.",
    Outcome.CLOSED: "Cleaning up after a close; this failure is left alone for a while if a person closed it.",
    Outcome.FLAKY: "Closing, because the failing run passed on the same commit later: it looks flaky, not broken.",
    Outcome.SUPERSEDED: "Closing, because the branch has moved on.",
    Outcome.ESCALATED: "This goes no further by itself; a human has to take it from here.",
    Outcome.LEFT_TO_HUMAN: "Somebody pushed to this branch, so it is yours now. The proof above is for {head} only.",
}


def farewell(outcome: Outcome, reason: str, head: str, effects: Sequence[Effect] = ()) -> str:
    """The last comment; foreign words stay inline code."""
    said = _SAID.get(outcome, f"Closing: {outcome}.").format(head=f"`{head[:12]}`")
    parts = [said, f"Reason: {code(reason)}", written(effects)]
    return "\n\n".join(part for part in parts if part)


def written(effects: Sequence[Effect]) -> str:
    """Writes with their keys and how each came to be, folded; empty without any."""
    if not effects:
        return ""
    rows = (f"| {cell(effect.key, 80)} | {cell(effect.name, 40)} | {effect.state} |" for effect in effects[-MAX_ROWS:])
    table = "\n".join(["| key | write | state |", "|---|---|---|", *rows])
    earlier = f"And {len(effects) - MAX_ROWS} earlier ones." if len(effects) > MAX_ROWS else ""
    return folded("What was written, each once", table, earlier)
