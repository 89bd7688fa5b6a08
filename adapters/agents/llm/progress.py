"""What an attempt goes on from, also with an empty history, and what it comes to in the end."""

from pydantic_ai.messages import ModelMessage

from adapters.agents.llm.endings import Ending
from adapters.agents.llm.hands import Hands
from adapters.agents.llm.meter import Meter
from sweeper.activities.requests import AttemptRequest
from sweeper.activities.toolbox import Bench, ModelReady, ModelTask
from sweeper.model import FixReport, Spent, Wire


class Progress(Wire):
    """Where an attempt is. `briefing`: the task in words, until the conversation in `messages` holds it."""

    ready: ModelReady
    host: str
    bench: Bench
    spent: Spent = Spent()
    suspicions: tuple[str, ...] = ()
    actions: int = 0
    briefing: str | None = None
    messages: list[ModelMessage] = []

    def meter(self, attempt: AttemptRequest) -> Meter:
        """Going on from what was spent."""
        return Meter(attempt.allowance, attempt.agent_timeout, self.ready.price, self.spent)

    def hands(self, task: ModelTask, meter: Meter) -> Hands:
        """Going on from where the journal is."""
        hands = Hands(task.timeouts, self.host, task.home, self.bench, meter)
        hands.suspicions, hands.actions = self.suspicions, self.actions
        return hands

    def now(self, hands: Hands, meter: Meter) -> "Progress":
        """As far as it is now; the conversation is for the caller to add."""
        return self.model_copy(
            update={
                "host": hands.host,
                "bench": hands.bench,
                "spent": meter.spent,
                "suspicions": hands.suspicions,
                "actions": hands.actions,
                "briefing": None,
            }
        )

    def report(self, attempt: AttemptRequest, end: Ending) -> FixReport:
        """The account of an attempt that ended."""
        return FixReport(
            agent=attempt.agent,
            outcome=end.outcome,
            summary=end.said,
            trouble=end.trouble,
            seconds=self.spent.seconds,
            spent=self.spent,
            actions=self.actions,
            versions=self.ready.versions,
            suspicions=self.suspicions,
        )
