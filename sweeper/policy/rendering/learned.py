"""What a sweep used, and what it leaves to the human who takes over from it."""

from collections.abc import Mapping, Sequence

from sweeper.model import AttemptResult, Diagnosis, RunFacts
from sweeper.policy.rendering.cause import what_failed
from sweeper.policy.rendering.story import story
from sweeper.policy.spending import spent_line
from sweeper.policy.trying import spent_in

MAX_LEARNED = 50_000
"""Characters; GitHub takes 65,535 in a check run's summary, and the reason stands before it."""

_BLOCK_SIZES = (4000, 1500, 500, 0)
_NO_STORIES: Mapping[int, str] = {}


def used(attempts: Sequence[AttemptResult]) -> str:
    """One sentence of numbers; empty if nothing was used."""
    line = spent_line(spent_in(attempts))
    many = f"{len(attempts)} attempts together" if len(attempts) > 1 else "The attempt"
    return f"{many} used {line}." if line else ""


def learned(facts: RunFacts, diagnosis: Diagnosis, attempts: Sequence[AttemptResult]) -> str:
    """The diagnosis, what each attempt tried and what the verifier said to it, at most `MAX_LEARNED` characters."""
    text = ""
    for block in _BLOCK_SIZES:
        told = story(attempts[-1], attempts[:-1], block, _NO_STORIES) if attempts else ""
        parts = (what_failed(facts, diagnosis, block), told, used(attempts))
        text = "\n\n".join(part for part in parts if part)
        if len(text) <= MAX_LEARNED:
            break
    return text
