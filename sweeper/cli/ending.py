"""How a process of ours ends: in order on the first signal, at once on the second, and never hung on a thread.

Work that cannot be cancelled (a git call, a request to GitHub) runs on threads. Python waits for its threads without
end, here they get a moment: what they do is looked at before it is done again, as after a kill -9.
"""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn, TypeVar

from worktrees.running import UNDER_WAY

INTERRUPTED = 130
LAST_SECONDS = 2.0
"""How long threads may take to notice that all is over."""

SAME_SIGNAL_SECONDS = 0.5
"""Within this a signal is the one before once more: `timeout` signals its child and then the child's whole group."""

T = TypeVar("T")


async def stoppable(main: Coroutine[Any, Any, T]) -> T:
    """SIGTERM, Ctrl-C and a closed terminal end a command in order: its task is cancelled. The second ends it at once.

    Inherited settings do not disarm it, because shells start background commands with SIGINT ignored and a service
    must be stoppable all the same. Only SIGHUP stays ignored if it was: that is what nohup asks for.
    """
    loop = asyncio.get_running_loop()
    loop.set_default_executor(_Threads(thread_name_prefix="work"))
    task = asyncio.ensure_future(main)
    names = _signals()
    stop = _Stop(task, names)
    for name in names:
        loop.add_signal_handler(name, stop.told)
    return await task


def _signals() -> tuple[signal.Signals, ...]:
    is_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT) if is_nohup else (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class _Stop:
    def __init__(self, task: "asyncio.Task[Any]", names: Sequence[signal.Signals]) -> None:
        self._task = task
        self._names = names
        self._told_at = 0.0

    def told(self) -> None:
        """The first signal. The next ones are taken without the loop, so that nothing can keep them waiting."""
        self._told_at = time.monotonic()
        for name in self._names:
            asyncio.get_running_loop().remove_signal_handler(name)
            signal.signal(name, self._told_again)
        self._task.cancel()

    def _told_again(self, _: int, __: FrameType | None) -> None:
        if time.monotonic() - self._told_at > SAME_SIGNAL_SECONDS:
            _exit(INTERRUPTED)


class _Threads(ThreadPoolExecutor):
    """asyncio closes its executor waiting; this one is waited for by `let_threads_go`, with a bound."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        super().shutdown(wait=False, cancel_futures=True)


def let_threads_go(code: int) -> None:
    """Returns once no thread of ours works any more; ends the process with `code` if one does not come to its end."""
    if not _working_threads():
        return
    UNDER_WAY.end()
    deadline = time.monotonic() + LAST_SECONDS
    for thread in _working_threads():
        thread.join(max(0.0, deadline - time.monotonic()))
    if _working_threads():
        _exit(code)


def _working_threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]


def _exit(code: int) -> NoReturn:
    """Without waiting for anything; git is ended because it would outlive us, sandboxes end with their parent."""
    UNDER_WAY.end()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
