"""The model as the workflow sees it: a name and what such models can do. It is asked in activities only."""

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, infer_model_profile
from pydantic_ai.settings import ModelSettings

from sweeper.errors import Bug


class Elsewhere(Model):
    """Building the real one takes a key, which no workflow has."""

    def __init__(self, name: str) -> None:
        self._provider, _, self._name = name.partition(":")
        super().__init__(profile=infer_model_profile(name))

    @property
    def model_name(self) -> str:
        """Without the provider."""
        return self._name

    @property
    def system(self) -> str:
        """Whose protocol is spoken."""
        return self._provider

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Raises Bug: the durability hands questions to an activity."""
        raise Bug("A workflow asked a model itself; please report this.")
