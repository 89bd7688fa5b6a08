"""The GitHub adapter against a GitHub on loopback: its settings, and a scene to play."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretBytes, SecretStr

from adapters.github import GitHubAccess, GitHubHost
from adapters.loopback.options import LoopbackInfo
from tests.support.code_host_contract import MARKER_KEY
from tests.support.loopback import running_loopback
from tests.support.loopback_scene import LoopbackScene


def access_by_token(info: LoopbackInfo) -> GitHubAccess:
    """As the bot, by its fixed token."""
    return GitHubAccess(api_url=info.url, token=SecretStr(info.token), marker_key=SecretBytes(MARKER_KEY))


def access_as_app(info: LoopbackInfo) -> GitHubAccess:
    """As the app, by its key."""
    key_file = Path(info.app_key_file)
    return GitHubAccess(api_url=info.url, app_id=info.app_id, app_key_file=key_file, marker_key=SecretBytes(MARKER_KEY))


@asynccontextmanager
async def loopback_scene(state_dir: Path) -> AsyncIterator[tuple[LoopbackInfo, LoopbackScene]]:
    """One repository on a GitHub of its own, and the adapter (by token) talking to it."""
    async with running_loopback(state_dir) as (info, drive):
        host = GitHubHost(access_by_token(info))
        scene = LoopbackScene(drive, host)
        await scene.begin()
        try:
            yield info, scene
        finally:
            host.close()
