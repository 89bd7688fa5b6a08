"""A proposal's body: what failed, the proof red -> green, the change, how to answer, and where the proof ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sweeper.model import AttemptResult, Diagnosis, Reproduction, RunFacts
from sweeper.policy.rendering.answer import HowToAnswer
from sweeper.policy.rendering.cause import background, what_failed
from sweeper.policy.rendering.learned import used
from sweeper.policy.rendering.proof import fine_print, proof
from sweeper.policy.rendering.story import change, story

MAX_BODY = 60_000
"""Characters; GitHub takes 65,536, and a signed marker is added to ours."""

_BLOCK_SIZES = (4000, 1500, 500, 0)


@dataclass(frozen=True)
class Tries:
    """The attempts before, oldest first. `stories`: what each one did to the files, action by action, by its number."""

    earlier: Sequence[AttemptResult] = ()
    stories: Mapping[int, str] = field(default_factory=dict)


ONLY_ONE = Tries()


def body(
    facts: RunFacts,
    diagnosis: Diagnosis,
    reproduction: Reproduction,
    attempt: AttemptResult,
    answer: HowToAnswer,
    tries: Tries = ONLY_ONE,
) -> str:
    """All that a reviewer reads, at most `MAX_BODY` characters.

    Foreign blocks shrink until it fits; what is left without them is bounded by itself.
    """
    text = ""
    for block in _BLOCK_SIZES:
        parts = (
            what_failed(facts, diagnosis, block),
            background(diagnosis.background, facts, block),
            proof(facts, reproduction, attempt, diagnosis.error_lines, block),
            change(attempt, answer.attempts),
            used([*(one for one in tries.earlier if one.n != attempt.n), attempt]),
            story(attempt, tries.earlier, block, tries.stories),
            answer.text(),
            fine_print(reproduction, attempt),
        )
        text = "\n\n".join(part for part in parts if part)
        if len(text) <= MAX_BODY:
            break
    return text
