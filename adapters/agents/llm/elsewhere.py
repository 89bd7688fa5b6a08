"""The model as the workflow sees it: a name. What it can do counts where it is asked, in an activity."""

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from sweeper.errors import Bug


class Elsewhere(Model):
    """Building the real one takes a key, which no workflow has."""

    def __init__(self, name: str) -> None:
        self._spoken, _, self._short = name.partition(":")
        super().__init__()

    @property
    def model_name(self) -> str:
        """Without the provider."""
        return self._short

    @property
    def system(self) -> str:
        """Whose protocol is spoken."""
        return self._spoken

    async def request(  # the arguments are the base's
        self,
        messages: list[ModelMessage],  # noqa: ARG002
        model_settings: ModelSettings | None,  # noqa: ARG002
        model_request_parameters: ModelRequestParameters,  # noqa: ARG002
    ) -> ModelResponse:
        """Raises Bug: the durability hands questions to an activity."""
        raise Bug("A workflow asked a model itself; please report this.")
