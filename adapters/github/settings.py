"""How to reach one GitHub and as whom."""

from pathlib import Path
from typing import Self

from pydantic import Field, SecretBytes, SecretStr, model_validator

from sweeper.model import Strict


class GitHubAccess(Strict):
    """Address and identity. Either `token` or `app_id` with `app_key_file`; an app can do more and is preferred.

    `timeout_seconds` bounds connecting and each wait for bytes of one request. `git_url` overrides the clone URL that
    the API names (`<git_url>/<owner>/<name>.git`). `marker_key` signs the markers in texts of ours.
    """

    api_url: str
    token: SecretStr | None = Field(default=None, min_length=1)
    app_id: int | None = None
    app_key_file: Path | None = None
    marker_key: SecretBytes
    timeout_seconds: int = Field(default=15, ge=1)
    git_url: str | None = None

    @model_validator(mode="after")
    def _has_one_identity(self) -> Self:
        is_app = self.app_id is not None and self.app_key_file is not None
        is_half_an_app = (self.app_id is None) != (self.app_key_file is None)
        if is_half_an_app or is_app == (self.token is not None):
            raise ValueError("set either SWEEPER_GITHUB_TOKEN, or SWEEPER_APP_ID and SWEEPER_APP_KEY_FILE")
        return self
