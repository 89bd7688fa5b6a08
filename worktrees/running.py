"""The git processes under way, so that all of them can be ended with the process they work for.

Each leads a session of its own: Ctrl-C in a terminal does not reach it, and ending it ends its helpers, too.
"""

import os
import selectors
import signal
import subprocess
import threading
import time
from contextlib import suppress

from sweeper.errors import Transient

_CHUNK = 1 << 16


class UnderWay:
    """Follows processes to their end. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._is_over = False

    def follow(
        self, process: "subprocess.Popen[bytes]", seconds: float, most: int | None = None
    ) -> tuple[bytes, bytes] | None:
        """What it wrote to stdout and stderr; None if it had to be ended after `seconds`.

        With more than `most` bytes on stdout it is ended, and a little more than those is told.
        """
        with self._lock:
            self._processes.add(process)
            if self._is_over:  # started in the very moment of the end
                _kill(process)
        try:
            return process.communicate(timeout=seconds) if most is None else _bounded(process, seconds, most)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.communicate()
            return None
        finally:
            with self._lock:
                self._processes.discard(process)

    def check(self) -> None:
        """Raises Transient once `end` was called: whoever takes the work over begins it anew."""
        if self._is_over:
            raise Transient("This process is ending; the work is taken over by the next worker.")

    def end(self) -> None:
        """Kill all that runs and let nothing more begin. Twice is a no-op."""
        with self._lock:
            self._is_over = True
            for process in self._processes:
                _kill(process)


def _bounded(process: "subprocess.Popen[bytes]", seconds: float, most: int) -> tuple[bytes, bytes]:
    deadline = time.monotonic() + seconds
    said: dict[int, bytearray] = {}
    with selectors.DefaultSelector() as pipes:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                said[pipe.fileno()] = bytearray()
                pipes.register(pipe, selectors.EVENT_READ)
        out, err = said.values()
        while pipes.get_map() and len(out) <= most:
            ready = pipes.select(deadline - time.monotonic())
            if not ready and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("git", seconds)
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK)
                said[key.fd] += chunk
                if not chunk:
                    pipes.unregister(key.fileobj)
    if len(out) > most:
        _kill(process)
    process.communicate(timeout=max(0.0, deadline - time.monotonic()))
    return bytes(out), bytes(err)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    # Only while it is not reaped the group's id cannot be somebody else's.
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


UNDER_WAY = UnderWay()
"""Those of this process."""
