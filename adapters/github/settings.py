"""How to reach one GitHub and as whom."""

import ipaddress
import re
from datetime import timedelta
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, SecretBytes, SecretStr, model_validator

from sweeper.errors import BadInput
from sweeper.model import Strict

DEFAULT_PAUSE = timedelta(seconds=1)
"""What GitHub asks of those who write much."""


class GitHubAccess(Strict):
    """Address and identity. Either `token` or `app_id` with `app_key_file`; an app can do more and is preferred.

    `timeout_seconds` bounds connecting and each wait for bytes of one request. `git_url` overrides the clone URL that
    the API names (`<git_url>/<owner>/<name>.git`). `marker_key` signs the markers in texts of ours. `write_pause`: from
    one write to the next; unless set a second, and nothing for a GitHub on this machine. Raises BadInput.
    """

    api_url: str
    token: SecretStr | None = None
    app_id: int | None = None
    app_key_file: Path | None = None
    marker_key: SecretBytes
    timeout_seconds: int = Field(default=15, ge=1)
    git_url: str | None = None
    write_pause: timedelta | None = Field(default=None, ge=timedelta(0))

    @property
    def pause_between_writes(self) -> float:
        """Seconds."""
        if self.write_pause is not None:
            return self.write_pause.total_seconds()
        return 0.0 if _is_this_machine(urlsplit(self.api_url).hostname or "") else DEFAULT_PAUSE.total_seconds()

    @model_validator(mode="after")
    def _is_usable(self) -> Self:
        address = urlsplit(self.api_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise BadInput(f"Make SWEEPER_GITHUB_URL an http or https address, not {self.api_url[:100]!r}.")
        is_app = self.app_id is not None and self.app_key_file is not None
        is_half_an_app = (self.app_id is None) != (self.app_key_file is None)
        if is_half_an_app or is_app == (self.token is not None):
            raise BadInput("Set either SWEEPER_GITHUB_TOKEN, or SWEEPER_APP_ID and SWEEPER_APP_KEY_FILE.")
        if self.token is not None and not re.fullmatch(r"[!-~]+", self.token.get_secret_value()):
            raise BadInput(
                "Set SWEEPER_GITHUB_TOKEN to the token alone: it is empty or has a space or line break in it."
            )
        return self


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
