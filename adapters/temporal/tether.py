"""Run a program that ends with its parent, also when the parent is killed: `tether.py PARENT LOCK_FD PROGRAM ARGS...`.

Started as a script, without the package. On Linux the kernel sends SIGTERM when the parent's thread ends; `setpriv`
could ask for that too, but not every Linux has it, and it cannot see a parent that died a moment earlier. Elsewhere the
program may outlive its parent: its process id, written to the inherited lock file, lets the next owner end it.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(argv: list[str]) -> None:
    """Tie this process to its parent, sign the lock file and become the program."""
    parent, lock_fd, program = int(argv[0]), int(argv[1]), argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
    if os.getppid() != parent:
        sys.exit("the parent is gone")
    os.ftruncate(lock_fd, 0)
    os.pwrite(lock_fd, str(os.getpid()).encode(), 0)
    os.execv(program[0], program)  # noqa: S606 - becoming the program is the point


if __name__ == "__main__":
    main(sys.argv[1:])
