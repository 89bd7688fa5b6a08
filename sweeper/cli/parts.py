"""The parts a staying process is made of: Temporal, worker, the two listeners."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from socket import socket

from temporalio.client import Client

from adapters.github.host import GitHubHost
from adapters.temporal.life import WorkerPulse
from adapters.temporal.sweeps import TemporalSweeps
from adapters.web.admin import Office, build_admin
from adapters.web.listener import Listener, bind, url_of
from adapters.web.public import Gate, build_public
from sweeper import __version__
from sweeper.cli import house
from sweeper.cli.frame import people
from sweeper.cli.temporal import ServedTemporal, serve_temporal, sweeps_of
from sweeper.config import Settings, StateDir, admin_token
from sweeper.errors import Bug, OutOfReach
from sweeper.intake import Desk
from sweeper.reporting import HealthReport
from sweeper.worker import build_workers, run_workers

Staying = Callable[[], Awaitable[None]]
"""Runs until its part ends."""


class Parts:
    """Starts parts in the order given; the exit stack stops them in reverse."""

    def __init__(self, settings: Settings, state: StateDir) -> None:
        self.settings = settings
        self.state = state
        self._public: socket | None = None
        self._admin: socket | None = None

    def bind(self) -> None:
        """Take both ports. Raises BadInput naming the one that is taken."""
        listen, admin = self.settings.listen, self.settings.admin_listen
        self._public = bind(listen.host, listen.port, listen.socket_path, "SWEEPER_LISTEN")
        try:
            self._admin = bind(admin.host, admin.port, admin.socket_path, "SWEEPER_ADMIN_LISTEN")
        except BaseException:
            self._public.close()
            raise

    def admin_url(self) -> str:
        """Where the admin pages are."""
        return url_of(_bound(self._admin))

    def public_url(self) -> str:
        """Where webhooks go; known as soon as the port is taken."""
        return url_of(_bound(self._public))

    async def start_temporal(self, stack: AsyncExitStack) -> ServedTemporal:
        """Outside, owned or joined."""
        return await stack.enter_async_context(serve_temporal(self.settings, self.state))

    async def start_worker(self, client: Client, stack: AsyncExitStack) -> Staying:
        """Ports, both workers, and the pulse that says somebody is alive."""
        ports = await house.ports(self.settings, self.state)
        facts = await ports.sandbox.probe()
        if facts.name == "none":
            people.print(
                "WARNING: no sandbox. Code of the repository runs with all rights of this user.", style="bold red"
            )
        await stack.enter_async_context(WorkerPulse(self.state.root))
        workers = build_workers(client, ports)
        return lambda: run_workers(workers)

    async def start_web(self, client: Client, stack: AsyncExitStack, *, with_worker: bool) -> Staying:
        """The public and the admin listener."""
        host = house.code_host(self.settings, self.state)
        stack.callback(host.close)
        sweeps = sweeps_of(client, self.settings, self.state)
        health = _Health(sweeps, with_worker)
        gate = Gate(desk=self._desk(sweeps, host), secrets=self.settings.webhook_secrets, health=health.report)
        office = Office(sweeps=sweeps, health=health.report, token=admin_token(self.state))
        public = await stack.enter_async_context(Listener(build_public(gate), _bound(self._public)))
        admin = await stack.enter_async_context(Listener(build_admin(office), _bound(self._admin)))

        async def stay() -> None:
            await asyncio.gather(public.wait(), admin.wait())

        return stay

    def _desk(self, sweeps: TemporalSweeps, host: GitHubHost) -> Desk:
        return Desk(sweeps=sweeps, code_host=host, settings=self.settings.sweep_settings(), api_url=host.api_url)


def _bound(listener: socket | None) -> socket:
    if listener is None:
        raise Bug("A listener was asked for before its port was taken; please report this.")
    return listener


class _Health:
    """Ready means: all that this process started answers."""

    def __init__(self, sweeps: TemporalSweeps, with_worker: bool) -> None:
        self._sweeps = sweeps
        self._with_worker = with_worker

    async def report(self) -> HealthReport:
        life = await self._sweeps.worker_life()
        try:
            await self._sweeps.list(1)
        except OutOfReach:
            return HealthReport(temporal=False, worker=life.alive, version=__version__, ready=False)
        ready = life.alive or not self._with_worker
        return HealthReport(temporal=True, worker=life.alive, version=__version__, ready=ready)
