"""Which model is asked, where, and who may see code: decided by the operator, one rule for whoever asks a model."""

from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from sweeper.errors import BadInput, PolicyDenied
from sweeper.model import Price, Strict

OWN_URLS: Mapping[str, str] = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}


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
    def model(self) -> str:
        """Its name, without the provider."""
        return self.name.partition(":")[2]

    @property
    def base(self) -> str:
        """Below it lie the protocol's paths. The version may be left out of `url`, and is then put behind it; an
        address of OpenAI's kind that has a path of its own is taken as it is.
        """
        bare = f"{self._where.scheme}://{self._where.netloc}{self._where.path}".rstrip("/")
        if self.provider == "openai" and self._where.path.strip("/"):
            return bare
        return f"{bare.removesuffix('/v1')}/v1"

    @property
    def host(self) -> str:
        """Who will see code."""
        return self._where.hostname or ""

    @property
    def price(self) -> Price | None:
        """Of the model; None: nobody told."""
        return self.prices.get(self.model)

    @property
    def _where(self) -> SplitResult:
        return urlsplit(self.url or OWN_URLS.get(self.provider, ""))

    def check(self) -> None:
        """Raises BadInput for a provider that is not spoken, an address that is none or a key that is missing,
        PolicyDenied for a host that may not see code.
        """
        if self.provider not in OWN_URLS or not self.model:
            raise BadInput(f"{self.name!r} is no model; write PROVIDER:NAME with one of {', '.join(OWN_URLS)}.")
        if self._where.scheme not in ("http", "https") or not self.host or "@" in self._where.netloc:
            raise BadInput(
                "SWEEPER_MODEL_URL must be https://host/path without a login; the key goes in SWEEPER_MODEL_KEY."
            )
        if self.providers and self.host not in {host.lower() for host in self.providers}:
            raise PolicyDenied(
                f"{self.host} may not see code: add it to SWEEPER_MODEL_PROVIDERS, or set SWEEPER_MODEL to another."
            )
        if self.url is None and self.key is None:
            raise BadInput(f"{self.host} wants a key: set SWEEPER_MODEL_KEY.")
