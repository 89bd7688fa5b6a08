"""`python -m adapters.models.recorded`: one JSON line when it is ready, then it serves until it is ended."""

import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from adapters.models.recorded.options import RecordedOptions
from adapters.models.recorded.script import Script
from adapters.models.recorded.server import recorded_models
from sweeper.errors import SweeperError


async def _serve(options: RecordedOptions) -> None:
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    async with recorded_models(options) as info:
        sys.stdout.write(info.model_dump_json() + "\n")
        sys.stdout.flush()
        await over.wait()


def main(
    script: Annotated[Path, typer.Option(help="What the model says, as YAML or JSON.")],
    state: Annotated[Path, typer.Option(help="Where the ledger and the key are kept.")],
    port: Annotated[int, typer.Option(help="On 127.0.0.1; 0 takes a free one.")] = 0,
    key: Annotated[str | None, typer.Option(help="The key clients have to show.")] = None,
) -> None:
    """Serve a recorded model on loopback."""
    try:
        options = RecordedOptions(script=Script.load(script), state_dir=state, port=port, key=key)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(options))
    except SweeperError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code) from error


if __name__ == "__main__":
    typer.run(main)
