"""The hooks round each question to a model: allowance, folding, a fresh history, answers that cannot be used."""

from dataclasses import dataclass
from datetime import timedelta

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.capabilities import AbstractCapability, WrapModelRequestHandler
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import ModelRequestContext
from temporalio import workflow

from adapters.agents.llm.desk import Deps, Stopped
from adapters.agents.llm.folding import conversation_bytes, folded
from adapters.agents.llm.guard import refusal_of
from sweeper.model.fix import Trouble

MODEL_BOUND = timedelta(minutes=10)
"""Of one try of one question."""
CONVERSATION_BYTES = 768 << 10
"""It is recorded with every question; the server refuses single payloads of 2 MiB."""


@dataclass
class Steward(AbstractCapability[Deps]):
    """Decides from what is recorded only, so a replay decides the same."""

    async def before_model_request(
        self, ctx: RunContext[Deps], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Raises Stopped when the allowance is used up or the conversation has grown too long."""
        desk = ctx.deps.desk
        if reason := desk.meter.used_up():
            raise Stopped(reason, Trouble.USED_UP, desk.meter.is_out_of_time)
        messages = folded(request_context.messages)
        if conversation_bytes(messages) > CONVERSATION_BYTES:
            raise Stopped("The conversation has grown too long: let a new attempt begin.", Trouble.CONTEXT_FULL)
        ctx.messages[:] = messages
        request_context.messages = messages
        desk.hand_over(messages)
        return request_context

    async def after_model_request(
        self,
        ctx: RunContext[Deps],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """Counts the answer once, when it is recorded; one that was not let through is asked for again."""
        usage = response.usage
        asked, said = conversation_bytes(request_context.messages), conversation_bytes([response])
        ctx.deps.desk.meter.answered(usage.input_tokens, usage.output_tokens, asked, said)
        if refusal := refusal_of(response):
            raise ModelRetry(refusal)
        return response

    async def wrap_model_request(
        self,
        ctx: RunContext[Deps],
        *,
        request_context: ModelRequestContext,
        handler: WrapModelRequestHandler,
    ) -> ModelResponse:
        """Counts the time."""
        began = workflow.now()
        try:
            return await handler(request_context)
        finally:
            ctx.deps.desk.meter.took(workflow.now() - began, MODEL_BOUND)
