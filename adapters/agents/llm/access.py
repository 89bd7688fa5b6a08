"""Which model is asked, where, and who may see code: decided by the operator, checked before a word is sent."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import SecretStr

from sweeper.errors import BadInput, PolicyDenied
from sweeper.model import Price, Strict

OWN_URLS = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}


class ModelAccess(Strict):
    """`name`: PROVIDER:NAME. `url` None: the provider's own. `providers`: hosts that may see code; empty: whichever
    host `name` and `url` mean. `prices`: by model name, without the provider.
    """

    name: str
    url: str | None = None
    key: SecretStr | None = None
    providers: tuple[str, ...] = ()
    prices: Mapping[str, Price] = {}

    @property
    def provider(self) -> str:
        """Whose protocol is spoken."""
        return self.name.partition(":")[0]

    @property
    def address(self) -> str:
        """Where questions are sent. `url` may be written with or without `/v1`; each client wants it its own way."""
        if self.url is None:
            return OWN_URLS.get(self.provider, "")
        bare = self.url.rstrip("/")
        if self.provider == "anthropic":
            return bare.removesuffix("/v1")
        return bare if urlsplit(bare).path else f"{bare}/v1"

    @property
    def host(self) -> str:
        """Who will see code."""
        return urlsplit(self.address).hostname or ""

    @property
    def price(self) -> Price | None:
        """Of the model; None: nobody told."""
        return self.prices.get(self.name.partition(":")[2])

    def check(self) -> None:
        """Raises BadInput for a provider that is not spoken or a key that is missing, PolicyDenied for a host that may
        not see code.
        """
        if self.provider not in OWN_URLS:
            raise BadInput(f"No model provider {self.provider!r} is known: use one of {', '.join(sorted(OWN_URLS))}.")
        if self.providers and self.host not in {host.lower() for host in self.providers}:
            raise PolicyDenied(
                f"{self.host} may not see code: add it to SWEEPER_MODEL_PROVIDERS, or set SWEEPER_MODEL to another."
            )
        if self.url is None and self.key is None:
            raise BadInput(f"{self.host} wants a key: set SWEEPER_MODEL_KEY.")
