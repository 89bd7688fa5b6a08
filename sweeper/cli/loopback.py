"""`sweeper loopback`: a GitHub on this machine, for demos and tests."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sweeper.cli.command import answer, people, run, until_told_to_stop
from sweeper.errors import BadInput

if TYPE_CHECKING:  # loaded by the command that needs it
    from adapters.loopback.options import LoopbackInfo


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("loopback")(loopback)


def loopback(
    state: Annotated[Path, typer.Option("--state", help="Directory for its state; survives restarts.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free port.")] = 0,
    hook: Annotated[str | None, typer.Option("--hook", help="URL that webhooks are sent to.")] = None,
    secret: Annotated[str | None, typer.Option("--secret", help="Secret the webhooks are signed with.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say nothing but the one line of JSON.")] = False,
) -> None:
    """A small GitHub on loopback. When ready it prints one line of JSON: where it listens and how to log in."""
    run(_loopback(state, port, hook, secret, as_json), as_json)


async def _loopback(state: Path, port: int, hook: str | None, secret: str | None, as_json: bool) -> None:
    from adapters.loopback.options import LoopbackOptions
    from adapters.loopback.server import serve

    def ready(info: "LoopbackInfo") -> None:
        answer(info)
        if not as_json:
            people.print(f"Pages at {info.page_url}, drive it at {info.drive_url}; Ctrl-C stops it.", markup=False)

    options = LoopbackOptions(state_dir=state, port=port, hook=hook, secret=secret)
    try:
        await until_told_to_stop(lambda: serve(options, ready))
    except OSError as error:
        raise BadInput(
            f"{state} cannot hold the state of a GitHub ({error.strerror}); give another --state directory."
        ) from None
