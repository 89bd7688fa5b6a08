"""`sweeper`: all commands. Modules are loaded by the command that needs them, so that `--help` is quick."""

import json
import sys
from typing import Protocol, runtime_checkable

import typer

from sweeper import __version__
from sweeper.cli import demo, diagnose, doctor, look, loopback, plan, serve, trial, trigger

app = typer.Typer(
    name="sweeper",
    help="Turns a red CI run into a verified, reviewed, merged fix, and survives kill -9 on the way.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (demo, trial, serve, trigger, look, diagnose, plan, doctor, loopback):
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


@runtime_checkable
class _Mistake(Protocol):
    """What typer makes of a command line it does not understand."""

    def format_message(self) -> str:
        """One sentence."""


def run() -> None:
    """The console script. Whoever asked for JSON gets it for a mistyped command line, too."""
    try:
        app()
    except SystemExit as ended:
        mistake: object = ended.__context__
        if "--json" in sys.argv and isinstance(mistake, _Mistake):
            sys.stdout.write(json.dumps({"error": mistake.format_message()}) + "\n")
        raise
