"""How an agent's run ended, in one sentence that says what to do. What a provider wrote stays out of it."""

from dataclasses import dataclass

from pydantic_ai import exceptions as theirs
from temporalio.exceptions import FailureError

from adapters.agents.llm.desk import Stopped
from sweeper.model import FixOutcome
from sweeper.model.fix import Trouble
from sweeper.workflows.calls import sentence_of


@dataclass(frozen=True)
class Ending:
    """For the report."""

    outcome: FixOutcome
    said: str
    trouble: Trouble | None = None


EXPECTED = (theirs.AgentRunError, theirs.UserError, FailureError, Stopped)
"""What may end a run without being a mistake of ours."""
_AWAY, _FULL = Trouble.MODEL_AWAY, Trouble.CONTEXT_FULL
_TABLE: tuple[tuple[type[Exception], Trouble | None, str], ...] = (
    (
        theirs.ModelAuthenticationError,
        _AWAY,
        "The model's provider refuses our key: set SWEEPER_MODEL_KEY to one it knows.",
    ),
    (
        theirs.ModelQuotaExceededError,
        _AWAY,
        "The quota at the model's provider is used up: raise it, or use another key.",
    ),
    (
        theirs.ModelNotFoundError,
        _AWAY,
        "The model's provider does not know the model: set SWEEPER_MODEL to one it has.",
    ),
    (theirs.ModelContextWindowExceededError, _FULL, "The task is too long for the model: use one with more context."),
    (theirs.ModelRequestRejectedError, _AWAY, "The model's provider rejects the question: its own log says why."),
    (theirs.ModelRateLimitError, _AWAY, "The model's provider held our rate down for too long: try again later."),
    (theirs.ModelUnavailableError, _AWAY, "The model's provider is overloaded: try again later."),
    (theirs.ModelServerError, _AWAY, "The model's provider fails: try again later."),
    (
        theirs.ModelConnectionError,
        _AWAY,
        "The model's provider cannot be reached: see SWEEPER_MODEL_URL and the network.",
    ),
    (theirs.ModelAPIError, _AWAY, "The model's provider did not answer: try again later."),
    (theirs.ContentFilterError, None, "The model refuses the task: leave it to a human or to another model."),
    (theirs.OutputTokenLimitExceeded, None, "The model's answer was cut off: use a model with longer answers."),
    (theirs.UnexpectedModelBehavior, None, "The model's answers cannot be used: use a model that can call tools."),
)


def ending(error: BaseException) -> Ending:
    """Of a run that ended with one of the EXPECTED errors."""
    if isinstance(error, Stopped):
        return Ending(FixOutcome.TIMED_OUT if error.out_of_time else FixOutcome.FAILED, str(error), error.trouble)
    if isinstance(error, FailureError):
        return Ending(FixOutcome.FAILED, sentence_of(error))
    for family, trouble, sentence in _TABLE:
        if isinstance(error, family):
            return Ending(FixOutcome.FAILED, sentence, trouble)
    return Ending(FixOutcome.FAILED, f"The agent could not go on ({type(error).__name__}); please report this.")
