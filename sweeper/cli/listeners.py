"""The two listeners of a staying process: the public one for webhooks, the admin one for the operator."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from socket import socket

from temporalio.client import Client

from adapters.temporal.sweeps import TemporalSweeps
from adapters.web.admin import Office, build_admin
from adapters.web.listener import Listener, bind, url_of
from adapters.web.public import Gate, build_public
from sweeper import __version__
from sweeper.cli import composition
from sweeper.cli.command import people
from sweeper.cli.temporal import sweeps_of
from sweeper.config import Settings, StateDir, admin_token
from sweeper.errors import OutOfReach
from sweeper.intake import Desk
from sweeper.reporting import HealthReport


class Listeners:
    """Both ports, taken when this is made, so that a taken one leaves nothing behind. Raises BadInput naming it."""

    def __init__(self, settings: Settings) -> None:
        self._public, self._admin = _take_ports(settings)

    @property
    def public_url(self) -> str:
        """Where webhooks go."""
        return url_of(self._public)

    @property
    def admin_url(self) -> str:
        """Where the admin pages are."""
        return url_of(self._admin)

    def close(self) -> None:
        """Let the ports go."""
        self._public.close()
        self._admin.close()

    async def start(
        self, settings: Settings, state: StateDir, client: Client, stack: AsyncExitStack, *, with_worker: bool
    ) -> Callable[[], Awaitable[None]]:
        """Both answer from now on; the result waits until one of them ends. `with_worker`: health needs one, too."""
        if not settings.webhook_secrets:
            people.print("SWEEPER_WEBHOOK_SECRETS is not set: every webhook will be refused.", style="yellow")
        host = composition.code_host(settings, state)
        stack.callback(host.close)
        sweeps = sweeps_of(client, settings, state)
        health = _Health(sweeps, with_worker)
        desk = Desk(sweeps=sweeps, code_host=host, settings=settings.sweep_settings(), api_url=host.api_url)
        gate = Gate(desk=desk, secrets=settings.webhook_secrets, health=health.report)
        office = Office(sweeps=sweeps, health=health.report, token=admin_token(state))
        public = await stack.enter_async_context(Listener(build_public(gate), self._public))
        admin = await stack.enter_async_context(Listener(build_admin(office), self._admin))

        async def stay() -> None:
            await asyncio.gather(public.wait(), admin.wait())

        return stay


def _take_ports(settings: Settings) -> tuple[socket, socket]:
    listen, office = settings.listen, settings.admin_listen
    public = bind(listen.host, listen.port, listen.socket_path, "SWEEPER_LISTEN")
    try:
        return public, bind(office.host, office.port, office.socket_path, "SWEEPER_ADMIN_LISTEN")
    except BaseException:
        public.close()
        raise


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
