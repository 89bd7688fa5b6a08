"""What the chapters of a sweep's story work with."""

from dataclasses import dataclass
from typing import Self

from sweeper.model import SweepInput
from sweeper.workflows.attempts import Attempts
from sweeper.workflows.calls import Calls
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
    attempts: Attempts
    proof: Proof

    @classmethod
    def of(cls, sweep: SweepInput) -> Self:
        """Built once, when the workflow is."""
        progress, bell = Progress(sweep), Bell()
        calls = Calls(sweep.settings.timeouts, progress.wait, bell, progress.state.host)
        return cls(
            sweep=sweep,
            progress=progress,
            bell=bell,
            calls=calls,
            turns=Turns(sweep, progress, calls, bell),
            attempts=Attempts(sweep, progress, bell),
            proof=Proof(sweep, progress, calls),
        )
