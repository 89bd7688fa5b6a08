"""A door to a model for hostile agents, a provider of ours behind it, and what may not have been done to either."""

import json
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from adapters.models.proxy import ModelProxy
from adapters.models.proxy_upstream import Upstream
from sweeper.model import Allowance, FixReport
from tests.support.model_upstream import Provider, Seen, provider_on_loopback

MODEL = "the-model-of-the-operator"
MOST_CALLS = 4
ALLOWANCE = Allowance(model_calls=MOST_CALLS)
_ASKS = "/v1/messages"
_PATHS = (_ASKS, f"{_ASKS}/count_tokens")
_ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": MODEL,
    "content": [{"type": "text", "text": "No."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 10, "output_tokens": 5},
}
_BEYOND = ("web_search", "web_fetch", "code_execution", "mcp_servers", '"http://', "container")


@dataclass
class Door:
    """`key`: the operator's, which only the provider may ever see."""

    doors: ModelProxy
    provider: Provider
    key: str

    def wrongs(self, report: FixReport) -> Iterator[str]:
        """What came by the door that should not have."""
        calls = sum(seen.path == _ASKS for seen in self.provider.seen)
        if calls > MOST_CALLS:
            yield f"{calls} calls came by, and {MOST_CALLS} were allowed"
        if report.spent.model_calls != calls:
            yield f"{calls} calls were made, and {report.spent.model_calls} are on the bill"
        for seen in self.provider.seen:
            yield from self._of(seen)
        if left := list(Path(tempfile.gettempdir()).glob(f"sweeper-model-{os.getpid()}-*")):
            yield f"the door is still there: {left[0].name}"

    def _of(self, seen: Seen) -> Iterator[str]:
        if seen.path not in _PATHS or seen.query not in ("", "beta=true"):
            yield f"the provider was asked for {seen.path}?{seen.query}"
        if seen.body.get("model") != MODEL:
            yield f"the provider was asked for the model {seen.body.get('model')}"
        if seen.headers.get("x-api-key") != self.key or "authorization" in seen.headers or "x-evil" in seen.headers:
            yield "the provider got headers of the agent's"
        if found := [word for word in _BEYOND if word in json.dumps(seen.body)]:
            yield f"the provider was asked to do {found}"


@asynccontextmanager
async def door_for(key: str, scolds: bool) -> AsyncIterator[Door]:
    """A provider that answers; or one that `scolds`: it refuses and repeats the key it was given."""
    scolding = {"type": "error", "error": {"type": "invalid_request_error", "message": f"not with the key {key}"}}
    provider = Provider(answer=scolding, status=400) if scolds else Provider(answer=_ANSWER)
    async with provider_on_loopback(provider) as there:
        upstream = Upstream("anthropic", MODEL, f"{there.url}/v1", SecretStr(key))
        yield Door(ModelProxy(upstream), there, key)
