"""Upkeep put together: what it looks at, the door that runs come in by, whom it tells."""

from pydantic import ValidationError
from temporalio.client import Client

from adapters.alerts import Alerts
from adapters.github.inventory import GitHubInventory
from adapters.temporal.upkeep import ring_upkeep, stop_upkeep
from sweeper import ids
from sweeper.cli.composition import github_access
from sweeper.config import Settings, StateDir
from sweeper.errors import BadInput
from sweeper.events import RunFailed
from sweeper.intake import Desk, Result, handle
from sweeper.model import RunRef, SweepInput, Trigger, TriggerSource
from sweeper.model.upkeep import FailedRun, Rung, UpkeepSettings
from sweeper.ports import Caretaking, CodeHost, Sweeps


class IntakeDoor:
    """The Door port: everything goes by intake, so the rules are those of webhooks. Twice is a duplicate there."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def knock(self, failed: FailedRun) -> str | None:
        """Raises BadInput for a run that no webhook could tell of."""
        answer = await handle(_told(failed), self._desk)
        return answer.workflow_id if answer.result is Result.STARTED else None

    async def start_again(self, sweep: str, run: RunRef) -> bool:
        """Under the same id, with the settings of now."""
        trigger = Trigger(
            source=TriggerSource.WORKFLOW_RUN,
            request_id=ids.request_of_sweep(sweep),
            reason="started again: its record was lost",
        )
        again = SweepInput(run=run, trigger=trigger, settings=self._desk.settings)
        return await self._desk.sweeps.start(sweep, again)


def _told(failed: FailedRun) -> RunFailed:
    try:
        return RunFailed(
            repository=failed.run.repository,
            repository_id=failed.run.repository_id,
            run_id=failed.run.run_id,
            run_attempt=failed.run.run_attempt,
            conclusion=failed.conclusion,
            head_sha=failed.head_sha,
            head_branch=failed.head_branch,
            head_repository_id=failed.head_repository_id,
            actor=failed.actor,
        )
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise BadInput(f"Look at run {failed.run.run_id} by hand: its {where} is nothing we know.") from None


def caretaking(settings: Settings, state: StateDir, code_host: CodeHost, sweeps: Sweeps) -> Caretaking:
    """What upkeep stands on. Raises BadInput if there is nothing to log in with."""
    desk = Desk(sweeps=sweeps, code_host=code_host, settings=settings.sweep_settings(), api_url=code_host.api_url)
    return Caretaking(
        inventory=GitHubInventory(github_access(settings, state), settings.repositories),
        door=IntakeDoor(desk),
        alerts=_alerts(settings),
    )


def _alerts(settings: Settings) -> Alerts:
    return Alerts(settings.alert_command, settings.alert_url)


async def ring(settings: Settings, host: str, client: Client) -> None:
    """A worker of that host has started: upkeep passes now, or ends if the operator does not want it."""
    if not settings.reconcile_interval:
        await stop_upkeep(client)
        return
    wanted = UpkeepSettings(
        interval=settings.reconcile_interval,
        lookback=settings.reconcile_lookback,
        channels=_alerts(settings).channels,
    )
    await ring_upkeep(client, Rung(host=host, settings=wanted))
