"""What the agent's tools and hooks work with. It lives in the workflow and never leaves it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import PrivateAttr
from pydantic_ai.messages import ModelMessage

from adapters.agents.llm.hands import Hands
from adapters.agents.llm.meter import Meter
from sweeper.errors import Bug
from sweeper.model import CheckPlan, Wire
from sweeper.model.fix import Trouble

HandOver = Callable[[Sequence[ModelMessage]], None]


@dataclass(frozen=True)
class Desk:
    """`hand_over` goes on as a new run with an empty history; where that is not due it does nothing."""

    hands: Hands
    meter: Meter
    plan: CheckPlan
    hand_over: HandOver


class Deps(Wire):
    """Goes with every question to the model into the history, so it carries ids and nothing else."""

    sweep: str
    attempt: int
    _desk: Desk | None = PrivateAttr(default=None)

    @property
    def desk(self) -> Desk:
        """Raises Bug where there is none: in an activity."""
        if self._desk is None:
            raise Bug("The agent's desk is in its workflow; please report this.")
        return self._desk

    def at(self, desk: Desk) -> "Deps":
        """With a desk to work at."""
        self._desk = desk
        return self


class Stopped(Exception):
    """The agent ends here, with a sentence and the kind of trouble."""

    def __init__(self, sentence: str, trouble: Trouble, out_of_time: bool = False) -> None:
        super().__init__(sentence)
        self.trouble = trouble
        self.out_of_time = out_of_time
