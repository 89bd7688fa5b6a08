"""A loopback GitHub for tests, in this process, on a free port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo, LoopbackOptions
from adapters.loopback.server import serve


@asynccontextmanager
async def running_loopback(
    state_dir: Path, hook: str | None = None, secret: str | None = None, port: int = 0
) -> AsyncIterator[tuple[LoopbackInfo, DriveClient]]:
    """Starts on `state_dir` (made if needed) and stops at the end; may be started again on the same one."""
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
