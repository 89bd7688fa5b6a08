"""What every command shares: how it ends, how it speaks to people (stderr) and to scripts (one JSON line on stdout).

Exit codes: 0 done, fixed, or nothing to fix; 1 not fixed; 2 bad input; 3 something missing on this machine;
4 service or GitHub out of reach; 130 interrupted.
"""

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel
from rich.console import Console

from sweeper.cli.ending import INTERRUPTED, let_threads_go, stoppable
from sweeper.errors import MissingTool, SweeperError

_LOG = logging.getLogger("sweeper.cli")

JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on the last line of stdout.")]

T = TypeVar("T")

people = Console(stderr=True, highlight=False)
"""Progress and sentences for people; stdout belongs to results."""

results = Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def run(main: Coroutine[Any, Any, int | None], as_json: bool = False) -> None:
    """Run a command to its end and leave with its exit code. An error of ours is one sentence, never a traceback."""
    code = _run(main, as_json)
    let_threads_go(code)
    raise typer.Exit(code)


def _run(main: Coroutine[Any, Any, int | None], as_json: bool) -> int:
    try:
        return asyncio.run(stoppable(main)) or 0
    except SweeperError as error:
        complain(str(error), as_json)
        return error.exit_code
    except BaseExceptionGroup as group:
        complain(str(_first_of_ours(group)), as_json)
        return _first_of_ours(group).exit_code
    except OSError as error:
        _LOG.debug("the machine refused", exc_info=True)
        complain(f"This machine refuses something that is needed here ({error}); see to that and try again.", as_json)
        return MissingTool.exit_code
    except (KeyboardInterrupt, asyncio.CancelledError):
        complain("Interrupted; nothing that was recorded is lost.", as_json)
        return INTERRUPTED


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
    """Run until it ends or somebody says stop, which is how a staying command ends well: it has drained."""
    try:
        await work()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or not task.cancelling():
            raise
        task.uncancel()
