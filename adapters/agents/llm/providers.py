"""Reaching a model over HTTP with the providers' own clients, held to our bounds.

Their retries are off, because Temporal is the only retrier; redirects are not followed, because only the operator
decides who sees code; a body is read up to a bound.
"""

from collections.abc import AsyncIterator

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from adapters.agents.llm.guard import GuardedModel
from sweeper.errors import PolicyDenied
from sweeper.policy.model_access import ModelAccess

BODY_BYTES = 4 << 20
CONNECT_SECONDS = 10.0
SILENT_SECONDS = 300.0
"""How long a provider may think without sending a byte."""
NO_KEY = "none"
"""A server on one's own machine often wants no key, but the clients want one."""


class Models:
    """The models of one provider. Clients are kept, for their connections."""

    def __init__(self, access: ModelAccess, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        """Raises BadInput and PolicyDenied as `ModelAccess.check` does."""
        access.check()
        self.access = access
        self._http = httpx2.AsyncClient(
            transport=BoundedTransport(transport or httpx2.AsyncHTTPTransport()),
            timeout=httpx2.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
            follow_redirects=False,
        )

    def named(self, name: str) -> Model:
        """The model PROVIDER:NAME. Raises PolicyDenied for another provider than the configured one."""
        provider, _, model = name.partition(":")
        if provider != self.access.provider:
            raise PolicyDenied(f"This worker may not ask {provider!r}: set SWEEPER_MODEL to one of its models.")
        key = self.access.key.get_secret_value() if self.access.key else NO_KEY
        if provider == "anthropic":
            anthropic = AsyncAnthropic(
                api_key=key,
                base_url=self.access.base.removesuffix("/v1"),  # this client puts the version behind it itself
                max_retries=0,
                http_client=self._http,
            )
            return GuardedModel(AnthropicModel(model, provider=AnthropicProvider(anthropic_client=anthropic)))
        openai = AsyncOpenAI(api_key=key, base_url=self.access.base, max_retries=0, http_client=self._http)
        return GuardedModel(OpenAIChatModel(model, provider=OpenAIProvider(openai_client=openai)))


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Answers of at most BODY_BYTES; a longer one is a connection that broke."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """As the inner one, counting."""
        response = await self._inner.handle_async_request(request)
        response.stream = _Counted(response.stream, request)
        return response

    async def aclose(self) -> None:
        """As the inner one."""
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: object, request: httpx2.Request) -> None:
        if not isinstance(inner, httpx2.AsyncByteStream):
            raise httpx2.ReadError("The answer cannot be read.", request=request)
        self._inner = inner
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > BODY_BYTES:
                raise httpx2.ReadError(f"The answer is larger than {BODY_BYTES} bytes.", request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
