"""Commands that ask for something: trigger, retry, cancel."""

import re
from datetime import UTC, datetime
from typing import Annotated

import typer

from sweeper.cli.command import JsonOption, answer, people, run
from sweeper.config import load_settings, prepare_state_dir
from sweeper.errors import NotFound
from sweeper.intake import Answer, Desk, Result, request
from sweeper.model import RunRef, Trigger, TriggerSource

RequestOption = Annotated[
    str | None,
    typer.Option("--request-id", help="The same id never starts a second sweep; drawn from the time if absent."),
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Shown with the sweep.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("trigger")(trigger)
    app.command("retry")(retry)
    app.command("cancel")(cancel)


def trigger(
    repository: Annotated[str, typer.Argument(metavar="OWNER/REPO")],
    run_id: Annotated[int, typer.Argument(metavar="RUN_ID", min=1)],
    request_id: RequestOption = None,
    reason: ReasonOption = "",
    as_json: JsonOption = False,
) -> None:
    """Sweep a failing run: joins a running sweep, starts anew after an ended one."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise typer.BadParameter(f"{repository!r} is no repository; write OWNER/REPO", param_hint="OWNER/REPO")
    run(_request(repository, run_id, request_id, reason, as_json), as_json)


def retry(
    sweep: Annotated[str, typer.Argument(metavar="SWEEP_ID")],
    reason: ReasonOption = "",
    as_json: JsonOption = False,
) -> None:
    """Sweep the same run again after a sweep has ended."""
    run(_retry(sweep, reason, as_json), as_json)


def cancel(
    sweep: Annotated[str, typer.Argument(metavar="SWEEP_ID")],
    reason: ReasonOption = "cancelled by the operator",
    as_json: JsonOption = False,
) -> None:
    """Stop a sweep: what it has made is cleaned up."""
    run(_cancel(sweep, reason, as_json), as_json)


def _drawn_from_the_time() -> str:
    return f"cli{datetime.now(UTC):%Y%m%d%H%M%S%f}"


async def _request(repository: str, run_id: int, request_id: str | None, reason: str, as_json: bool) -> int:
    from sweeper.cli.composition import code_host
    from sweeper.cli.temporal import reach_sweeps

    settings = load_settings()
    state = prepare_state_dir(settings)
    host = code_host(settings, state)
    try:
        async with reach_sweeps(settings, state) as sweeps:
            desk = Desk(sweeps=sweeps, code_host=host, settings=settings.sweep_settings(), api_url=host.api_url)
            wanted = Trigger(
                source=TriggerSource.CLI,
                request_id=request_id or _drawn_from_the_time(),
                actor="operator",
                reason=reason,
            )
            return _tell(await request(repository, run_id, wanted, desk), as_json)
    finally:
        host.close()


async def _retry(sweep: str, reason: str, as_json: bool) -> int:
    from sweeper.cli.temporal import configured_sweeps

    async with configured_sweeps() as sweeps:
        run_ref: RunRef = (await sweeps.show(sweep)).view.checkpoint.run
    return await _request(run_ref.repository, run_ref.run_id, None, reason or f"retry of {sweep}", as_json)


async def _cancel(sweep: str, reason: str, as_json: bool) -> int:
    from sweeper.cli.temporal import configured_sweeps

    async with configured_sweeps() as sweeps:
        if await sweeps.cancel(sweep, reason):
            return _tell(
                Answer(result=Result.DELIVERED, reason="asked to clean up and end", workflow_id=sweep), as_json
            )
        if await sweeps.is_open(sweep) is None:
            raise NotFound(f"There is no sweep {sweep}; `sweeper list` shows those there are.")
        return _tell(Answer(result=Result.IGNORED, reason="it has ended already", workflow_id=sweep), as_json)


def _tell(said: Answer, as_json: bool) -> int:
    if as_json:
        answer(said)
    else:
        people.print(f"{said.result}: {said.reason or 'a new sweep'}", markup=False)
        if said.workflow_id:
            people.print(f"Follow it with `sweeper watch {said.workflow_id}`.", markup=False, soft_wrap=True)
    return 0
