"""What starts a loopback GitHub, and what it tells when it is ready."""

from pathlib import Path

from sweeper.model import Strict


class LoopbackOptions(Strict):
    """`port` 0 takes a free one. Without `hook` webhooks are recorded as undeliverable and never sent."""

    state_dir: Path
    port: int = 0
    hook: str | None = None
    secret: str | None = None


class LoopbackInfo(Strict):
    """Where it listens and how to log in; also written to `loopback.json` in the state directory, mode 0600."""

    url: str
    git_url: str
    drive_url: str
    page_url: str
    token: str
    app_id: int
    app_key_file: str
    installation_id: int
    bot_login: str
    webhook_secret: str
