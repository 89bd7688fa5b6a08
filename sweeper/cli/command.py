"""What every command shares: how it ends, how it speaks to people (stderr) and to scripts (one JSON line on stdout).

Exit codes: 0 done, fixed, or nothing to fix; 1 not fixed; 2 bad input; 3 something missing on this machine;
4 service or GitHub out of reach; 130 interrupted.
"""

import asyncio
import contextlib
import json
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel
from rich.console import Console

from sweeper.errors import MissingTool, SweeperError

INTERRUPTED = 130
_LOG = logging.getLogger("sweeper.cli")

JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on the last line of stdout.")]

T = TypeVar("T")

people = Console(stderr=True, highlight=False)
"""Progress and sentences for people; stdout belongs to results."""

results = Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def run(main: Coroutine[Any, Any, int | None], as_json: bool = False) -> None:
    """Run a command to its end and leave with its exit code. An error of ours is one sentence, never a traceback."""
    try:
        code = asyncio.run(_stoppable(main))
    except SweeperError as error:
        complain(str(error), as_json)
        raise typer.Exit(error.exit_code) from None
    except BaseExceptionGroup as group:
        complain(str(_first_of_ours(group)), as_json)
        raise typer.Exit(_first_of_ours(group).exit_code) from None
    except OSError as error:
        _LOG.debug("the machine refused", exc_info=True)
        complain(f"This machine refuses something that is needed here ({error}); see to that and try again.", as_json)
        raise typer.Exit(MissingTool.exit_code) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        complain("Interrupted; nothing that was recorded is lost.", as_json)
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(code or 0)


async def _stoppable(main: Coroutine[Any, Any, int | None]) -> int | None:
    """SIGTERM and a closed terminal end a command as Ctrl-C does: in order, with what it started."""
    task = asyncio.ensure_future(main)
    for name in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, task.cancel)
    return await task


def _first_of_ours(group: BaseExceptionGroup[BaseException]) -> SweeperError:
    for error in group.exceptions:
        if isinstance(error, SweeperError):
            return error
        if isinstance(error, BaseExceptionGroup):
            return _first_of_ours(error)
        if isinstance(error, KeyboardInterrupt | asyncio.CancelledError):
            raise KeyboardInterrupt
    raise group


def complain(sentence: str, as_json: bool = False) -> None:
    """Say what is wrong; scripts get it as `{"error": ...}`."""
    people.print(sentence, style="red", markup=False, soft_wrap=True)
    if as_json:
        sys.stdout.write(json.dumps({"error": sentence}) + "\n")


def answer(document: BaseModel) -> None:
    """The one JSON document of a `--json` command."""
    sys.stdout.write(document.model_dump_json() + "\n")
    sys.stdout.flush()


def log_to_stderr(level: str) -> None:
    """Plain log lines; request logs of the HTTP libraries would show nothing but noise."""
    logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)


async def until_told_to_stop(work: Callable[[], Awaitable[None]]) -> None:
    """Run until it ends, or SIGTERM or Ctrl-C asks to drain: the work is cancelled and may take its grace time."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work())
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
