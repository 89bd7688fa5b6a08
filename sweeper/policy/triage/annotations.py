"""What GitHub notes on a job: the only place that names some reasons, mostly of jobs whose log is lost.

Texts as GitHub's runners and services write them; a note that only repeats the exit code says nothing.
"""

import re
from collections.abc import Sequence

from sweeper.model import Action, Annotation, FailureClass
from sweeper.policy.triage.clues import Recogniser, recogniser
from sweeper.policy.triage.pattern import VERDICT, Clue, Pattern

_INFRASTRUCTURE = FailureClass.INFRASTRUCTURE


def _note(words: str, reason: str, action: Action | None = None) -> Pattern:
    return Pattern(
        tool="github",
        failure_class=_INFRASTRUCTURE,
        line=re.compile(f"(?P<message>{words})", re.IGNORECASE),
        reason=reason,
        strength=VERDICT,
        action=action,
    )


NOTES: tuple[Pattern, ...] = (
    _note(r"has exceeded the maximum execution time", "it ran into its time limit"),
    _note(r"lost communication with the server", "GitHub lost its runner"),
    _note(r"runner has received a shutdown signal", "its runner was shut down"),
    _note(r"No space left on device", "its runner's disk was full"),
    _note(r"internal error when running your job", "GitHub failed to run it"),
    _note(r"was not acquired by Runner|job was not started because", "no runner took it"),
    _note(r"self-hosted runner: .{0,100} lost|runner .{0,60}(?:went offline|was lost)", "its runner was lost"),
)
"""All infrastructure: no code decides any of them. A limit that is too short for the code shows in every attempt."""

_ANYWHERE = Recogniser(NOTES)
_SAYS_NOTHING = re.compile(r"Process completed with exit code|The operation was canceled|The run was canceled")


def notes_on_infrastructure(annotations: Sequence[Annotation]) -> list[Clue]:
    """Those that name a reason outside the code. A warning is none: the job went on."""
    serious = (note for note in annotations if note.level not in ("notice", "warning"))
    found = (_ANYWHERE.clue(" ".join(note.message.split())[:2000], 0) for note in serious)
    return [clue for clue in found if clue is not None]


def notes_on_code(annotations: Sequence[Annotation]) -> list[Clue]:
    """What tools noted by their problem matchers: as good as a line of a log, where there is none."""
    told: list[Clue] = []
    for note in annotations:
        text = " ".join(note.message.split())[:2000]
        if note.level == "failure" and not _SAYS_NOTHING.match(text):
            place = f"{note.path}:{note.line}: " if note.line and not note.path.startswith(".github") else ""
            clue = recogniser().clue(place + text, 0) or recogniser().clue(text, 0)
            told += [clue] if clue else []
    return told
