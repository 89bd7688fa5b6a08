"""What the chapters of a sweep's story work with."""

from dataclasses import dataclass
from typing import Self

from sweeper.model import SweepInput
from sweeper.workflows.attempts import Attempts
from sweeper.workflows.calls import Calls
from sweeper.workflows.places import Places
from sweeper.workflows.progress import Progress
from sweeper.workflows.proof import Proof
from sweeper.workflows.turns import Turns
from sweeper.workflows.waits import Bell


@dataclass(frozen=True)
class Parts:
    """One set per sweep; all of them share its progress and its bell."""

    sweep: SweepInput
    progress: Progress
    bell: Bell
    calls: Calls
    turns: Turns
    places: Places
    attempts: Attempts
    proof: Proof

    @classmethod
    def of(cls, sweep: SweepInput) -> Self:
        """Built once, when the workflow is."""
        progress, bell = Progress(sweep), Bell()
        calls = Calls(sweep.settings.timeouts, progress.wait, bell, progress.state.host)
        calls.on_move = progress.moved
        proof = Proof(sweep, progress, calls)
        return cls(
            sweep=sweep,
            progress=progress,
            bell=bell,
            calls=calls,
            turns=Turns(sweep, progress, calls, bell),
            places=Places(sweep, progress, calls, bell, proof),
            attempts=Attempts(sweep, progress, calls, bell),
            proof=proof,
        )


class Chapter:
    """A part of the story, with everything the others work with under the same names."""

    def __init__(self, parts: Parts) -> None:
        self._sweep = parts.sweep
        self._settings = parts.sweep.settings
        self._progress = parts.progress
        self._bell = parts.bell
        self._calls = parts.calls
        self._turns = parts.turns
        self._places = parts.places
        self._attempts = parts.attempts
        self._proof = parts.proof
