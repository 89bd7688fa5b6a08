"""Between a provider and the history: what is too much is not let through, what could be a secret is not recorded."""

from dataclasses import replace

from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

CALLS_AT_ONCE = 16
ANSWER_BYTES = 128 << 10
_REFUSAL = "sweeper_refusal"


class GuardedModel(WrapperModel):
    """Asks a model once. Asking twice is safe: it changes nothing but the bill."""

    def __init__(self, wrapped: Model) -> None:
        super().__init__(wrapped)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The answer, or a short one in its place that says why it was not let through."""
        try:
            response = await super().request(messages, model_settings, model_request_parameters)
        except ModelAPIError as error:
            raise without_body(error) from None
        return let_through(response, messages)


def refusal_of(response: ModelResponse) -> str | None:
    """Why the model's own answer was not let through, to tell it."""
    refusal = (response.metadata or {}).get(_REFUSAL)
    return refusal if isinstance(refusal, str) else None


def let_through(response: ModelResponse, before: list[ModelMessage]) -> ModelResponse:
    """The answer with tool call ids that are unique in the conversation; one that is too large, or was cut off in the
    middle of a call, is replaced.
    """
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    if len(calls) > CALLS_AT_ONCE:
        return _replaced(response, f"Use at most {CALLS_AT_ONCE} tools at once; you asked for {len(calls)}.")
    size = len(ModelMessagesTypeAdapter.dump_json([response]))
    if size > ANSWER_BYTES:
        return _replaced(response, f"Your answer was too large ({size >> 10} KiB); do less at a time.")
    if response.finish_reason == "length":
        return _replaced(response, "Your answer was cut off because it was too long; do less at a time.")
    return _with_unique_ids(response, before)


def _replaced(response: ModelResponse, why: str) -> ModelResponse:
    metadata = {**(response.metadata or {}), _REFUSAL: why}
    return replace(response, parts=[TextPart(content="[answer left out]")], metadata=metadata)


def _with_unique_ids(response: ModelResponse, before: list[ModelMessage]) -> ModelResponse:
    """Some models count their calls anew in every turn, and then two answers would belong to one call."""
    seen = {
        part.tool_call_id
        for message in before
        if isinstance(message, ModelResponse)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    }
    parts = []
    for index, part in enumerate(response.parts):
        if isinstance(part, ToolCallPart):
            if part.tool_call_id in seen:
                part = replace(part, tool_call_id=f"call-{len(before)}-{index}")
            seen.add(part.tool_call_id)
        parts.append(part)
    return replace(response, parts=parts)


def without_body(error: ModelAPIError) -> ModelAPIError:
    """The same error without what the provider wrote: it may repeat a key, or what it was sent."""
    if isinstance(error, ModelHTTPError):
        error.message = f"The model's provider answered with status {error.status_code}."
        error.headers = None
        error.hint = None
    else:
        error.message = f"The model's provider did not answer ({type(error).__name__.removeprefix('_')})."
    error.body = None
    error.args = (error.message,)
    error.__cause__ = error.__context__ = None
    return error
