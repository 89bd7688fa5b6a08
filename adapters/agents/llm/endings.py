"""How an agent's run ended badly, in one sentence that says what to do. What a provider or a model wrote stays out."""

from pydantic_ai import exceptions as theirs
from temporalio.exceptions import ActivityError, FailureError

from adapters.agents.llm.desk import Stopped
from sweeper.model import FixOutcome
from sweeper.workflows.calls import sentence_of

EXPECTED = (theirs.AgentRunError, theirs.UserError, FailureError, Stopped)
"""What may end a run without being a mistake of ours."""
_SENTENCES: tuple[tuple[type[Exception], str], ...] = (
    (theirs.ModelAuthenticationError, "The model's provider refuses our key: set SWEEPER_MODEL_KEY to a valid one."),
    (theirs.ModelQuotaExceededError, "The quota at the model's provider is used up: raise it or use another key."),
    (theirs.ModelNotFoundError, "The model's provider does not know the model: set SWEEPER_MODEL to one it has."),
    (theirs.ModelContextWindowExceededError, "The task is too long for the model: use one with a larger context."),
    (theirs.ModelRequestRejectedError, "The model's provider rejects the question: see its own log for the reason."),
    (theirs.ModelRateLimitError, "The model's provider limits our rate for too long: try again later."),
    (theirs.ModelUnavailableError, "The model's provider is overloaded: try again later."),
    (theirs.ModelServerError, "The model's provider fails: try again later."),
    (theirs.ModelConnectionError, "The model's provider cannot be reached: see SWEEPER_MODEL_URL and the network."),
    (theirs.ModelAPIError, "The model's provider did not answer: try again later."),
    (theirs.ContentFilterError, "The model refuses the task: let a human or another model do it."),
    (theirs.OutputTokenLimitExceeded, "The model's answer was cut off: use a model with longer answers."),
    (theirs.UnexpectedModelBehavior, "The model answered with what cannot be used: use a model that can call tools."),
)


def ending(error: BaseException) -> tuple[FixOutcome, str]:
    """The outcome and its sentence, of one of the EXPECTED errors."""
    if isinstance(error, Stopped):
        return (FixOutcome.TIMED_OUT if error.out_of_time else FixOutcome.FAILED), str(error)
    if isinstance(error, FailureError):
        said = sentence_of(error) if isinstance(error, ActivityError) else str(error)
        return FixOutcome.FAILED, said
    for family, sentence in _SENTENCES:
        if isinstance(error, family):
            return FixOutcome.FAILED, sentence
    return FixOutcome.FAILED, f"The agent could not go on ({type(error).__name__}); please report this."
