"""The git processes under way, so that all of them can be ended with the process they work for.

Each leads a session of its own: Ctrl-C in a terminal does not reach it, and ending it ends its helpers, too.
"""

import os
import signal
import subprocess
import threading
from contextlib import suppress

from sweeper.errors import Transient


class UnderWay:
    """Follows processes to their end. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._is_over = False

    def follow(self, process: "subprocess.Popen[bytes]", seconds: float) -> tuple[bytes, bytes] | None:
        """What it wrote to stdout and stderr; None if it had to be ended after `seconds`."""
        with self._lock:
            self._processes.add(process)
            if self._is_over:  # started in the very moment of the end
                _kill(process)
        try:
            return process.communicate(timeout=seconds)
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


def _kill(process: "subprocess.Popen[bytes]") -> None:
    # Only while it is not reaped the group's id cannot be somebody else's.
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


UNDER_WAY = UnderWay()
"""Those of this process."""
