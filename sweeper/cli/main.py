"""`sweeper`: all commands. Modules are loaded by the command that needs them, so that `--help` is quick."""

import typer

from sweeper import __version__
from sweeper.cli import demo, doctor, look, loopback, serve, trial, trigger

app = typer.Typer(
    name="sweeper",
    help="Turns a red CI run into a verified, reviewed, merged fix, and survives kill -9 on the way.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (demo, trial, serve, trigger, look, doctor, loopback):
    module.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sweeper {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Nothing to do before a command."""


def run() -> None:
    """The console script."""
    app()
