"""The public listener as the product builds it, in a process of its own."""

import asyncio
import logging
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx
from pydantic import SecretStr

from adapters.loopback.options import LoopbackInfo
from adapters.temporal.client import TemporalTarget, connect
from adapters.temporal.sweeps import TemporalSweeps
from adapters.web.listener import Listener, bind_tcp
from adapters.web.public import Gate, build_public
from sweeper import __version__
from sweeper.cli import composition
from sweeper.config import prepare_state_dir
from sweeper.intake import Desk
from sweeper.model import SweepSettings
from sweeper.reporting import HealthReport
from tests.support.dying_worker import PROCESSES, settings_of

_HOST = "127.0.0.1"
_LOOK_EVERY = 0.1


@dataclass(frozen=True)
class Web:
    """What the listener works with. Its GitHub is asked for manual requests only."""

    port: int
    temporal: str
    secret: str
    sweeps: SweepSettings
    github: LoopbackInfo
    state_dir: Path

    @property
    def hook(self) -> str:
        """Where webhooks go."""
        return f"http://{_HOST}:{self.port}/webhooks/github"

    def begin(self) -> BaseProcess:
        """A process of its own."""
        process = PROCESSES.Process(target=_listen, args=(self,), daemon=True)
        process.start()
        return process

    async def ready(self) -> None:
        """Wait until it answers."""
        async with httpx.AsyncClient(trust_env=False) as http:
            while True:
                try:
                    await http.get(f"http://{_HOST}:{self.port}/healthz")
                except httpx.TransportError:
                    await asyncio.sleep(_LOOK_EVERY)
                else:
                    return


def _listen(web: Web) -> None:
    logging.getLogger("temporalio").setLevel(logging.CRITICAL)
    asyncio.run(_serve(web))


async def _serve(web: Web) -> None:
    client = await connect(TemporalTarget(address=web.temporal))
    settings = settings_of(web.github, web.state_dir)
    host = composition.code_host(settings, prepare_state_dir(settings))
    desk = Desk(sweeps=TemporalSweeps(client), code_host=host, settings=web.sweeps, api_url=web.github.url)
    gate = Gate(desk=desk, secrets=[SecretStr(web.secret)], health=_health)
    async with Listener(build_public(gate), bind_tcp(_HOST, web.port, "the port")) as listener:
        await listener.wait()


async def _health() -> HealthReport:
    return HealthReport(temporal=True, worker=True, version=__version__, ready=True)
