"""A loopback GitHub for tests, in this process, on a free port."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import httpx

from adapters.loopback.auth import make_key
from adapters.loopback.core.state import Permission
from adapters.loopback.drive.answers import RepoMade
from adapters.loopback.drive.requests import NewPush, NewRepo, NewUser, OpenPull
from adapters.loopback.drive_client import DriveClient
from adapters.loopback.founding import KEY_FILE
from adapters.loopback.options import LoopbackInfo, LoopbackOptions
from adapters.loopback.server import serve

SHOP = "octo/shop"
WORKFLOW = ".github/workflows/ci.yml"


@asynccontextmanager
async def running_loopback(
    state_dir: Path, hook: str | None = None, secret: str | None = None, port: int = 0
) -> AsyncIterator[tuple[LoopbackInfo, DriveClient]]:
    """Starts on `state_dir` (made if needed) and stops at the end; may be started again on the same one."""
    _place_key(state_dir)
    ready: asyncio.Future[LoopbackInfo] = asyncio.get_running_loop().create_future()
    options = LoopbackOptions(state_dir=state_dir, port=port, hook=hook, secret=secret)
    server = asyncio.create_task(serve(options, ready.set_result))
    server.add_done_callback(lambda ended: ready.done() or ready.cancel())
    try:
        info = await ready
    except asyncio.CancelledError:
        if server.done():
            await server
        raise
    try:
        async with DriveClient(info.drive_url) as drive:
            yield info, drive
    finally:
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)


def _place_key(state_dir: Path) -> None:
    """Making an RSA key is the slowest part of a first start, so the tests of one process share one."""
    file = state_dir / KEY_FILE
    if file.exists():
        return
    state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.touch(mode=0o600)
    file.write_bytes(_key())


@cache
def _key() -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        make_key(Path(directory) / KEY_FILE)
        return (Path(directory) / KEY_FILE).read_bytes()


def rest(info: LoopbackInfo, token: str | None = None) -> httpx.AsyncClient:
    """REST as the bot, or as whoever the token belongs to."""
    headers = {"Authorization": f"Bearer {token or info.token}", "User-Agent": "contract-test"}
    return httpx.AsyncClient(base_url=info.url, headers=headers, timeout=30, trust_env=False)


async def open_shop(drive: DriveClient) -> RepoMade:
    """A repository with one commit on `main` and a workflow, and three people: an admin, a writer, a reader."""
    made = await drive.repo(NewRepo(name=SHOP, files={"shop.py": "import os\n", WORKFLOW: "name: CI\non: push\n"}))
    for login, permission in (("ada", Permission.ADMIN), ("wim", Permission.WRITE), ("rea", Permission.READ)):
        await drive.user(NewUser(login=login, permission=permission))
    return made


async def push_fix(drive: DriveClient, branch: str = "fix", content: str = "total = 0\n") -> str:
    """A branch with one commit by wim; the answer is its head."""
    return await drive.push(NewPush(repo=SHOP, branch=branch, files={"shop.py": content}, user="wim"))


async def open_fix(drive: DriveClient, user: str = "wim", branch: str = "fix") -> int:
    """A pull request of that branch into main; the answer is its number."""
    await push_fix(drive, branch)
    return await drive.open_pull(OpenPull(repo=SHOP, head=branch, base="main", title="Fix the shop", user=user))
