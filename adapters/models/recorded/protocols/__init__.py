"""The protocols a model is asked in: each reads its requests and words answers, streams and errors."""

from adapters.models.recorded.protocols.base import Protocol
from adapters.models.recorded.protocols.chat import ChatCompletions
from adapters.models.recorded.protocols.messages import Messages
from adapters.models.recorded.protocols.responses import Responses

PROTOCOLS: dict[str, Protocol] = {
    "/v1/chat/completions": ChatCompletions(),
    "/v1/responses": Responses(),
    "/v1/messages": Messages(),
}
"""By the path that is asked."""

__all__ = ["PROTOCOLS", "Protocol"]
