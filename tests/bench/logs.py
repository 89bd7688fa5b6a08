"""Reading a log of 60 MB for what failed, beside `grep -c error` on the same file: time, and memory."""

import sys
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from sweeper.model import Strict
from tests.bench.measure import Compared, Row, side_by_side, timed
from tests.bench.processes import must

MEGABYTES = 60
BENCH = f"Reading a log of {MEGABYTES} MB for what failed"
MEMORY = "Memory for that"
GOES = 1
_STAMP = "2026-07-30T10:55:18.2467887Z "
_WANTED = "tests/test_x.py::test_in_the_middle"
_COUNT = 'grep -c error "$1" > "$2"'
"""Into a file: grep stops at the first match if nobody can see what it counts."""

_READ = """
import json, pathlib, sys
from functools import partial
from sweeper.policy.triage import read_log
def mib(name):
    status = pathlib.Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(name))
read_log([b"ERROR a.py::b - warm up"])
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
before = mib("VmRSS")
with open(sys.argv[1], "rb") as file:
    log = read_log(iter(partial(file.read, 1 << 16), b""))
tests = [clue.test for clue in log.failing_step().clues if clue.test]
pathlib.Path(sys.argv[2]).write_text(json.dumps({"mib": mib("VmHWM") - before, "peak": mib("VmHWM"), "tests": tests}))
"""


class _Told(Strict):
    """What a reader found, and by how much its process grew beyond what is loaded anyway."""

    mib: float
    peak: float
    tests: tuple[str, ...]


async def rows(root: Path) -> list[Row]:
    """Time as a ratio to grep's, memory as a ratio to the log itself."""
    log, told = root / "job.log", root / "told.json"
    _write(log)
    compared = await side_by_side(
        BENCH,
        ("grep -c error", lambda: timed(must("sh", "-c", _COUNT, "sh", log, root / "count"))),
        {
            Compared(variant="read_log in a process of its own, all patterns", at_most=1000): partial(_read, log, told),
        },
        GOES,
    )
    found = TypeAdapter(_Told).validate_json(told.read_bytes())
    if found.tests != (_WANTED,):
        raise RuntimeError(f"the failure was not found, but {found.tests}")
    size = log.stat().st_size / 2**20
    whole = Row(bench=MEMORY, variant=f"the log as it is: {size:.0f} MiB", seconds=0, goes=1)
    return [
        *compared,
        whole,
        Row(
            bench=MEMORY,
            variant=f"read_log: {found.mib:.1f} MiB more than before (peak of the process {found.peak:.0f} MiB)",
            seconds=compared[-1].seconds,
            goes=1,
            ratio=round(found.mib / size, 3),
            at_most=0.25,
        ),
    ]


async def _read(log: Path, told: Path) -> float:
    return await timed(must(sys.executable, "-c", _READ, log, told, cwd=Path.cwd()))


def _write(path: Path) -> None:
    """Lines of three kinds, one of 300 kB, and the failure in the middle of its step."""
    lines = [f"tests/test_{n}.py::test_case_{n} PASSED [ {n % 100}%]" for n in range(500)]
    lines += [f"[INFO] Downloading from central: repo/{n}/artifact-{n}.jar (12 kB at 3 MB/s)" for n in range(300)]
    lines += [f"  | {n} | compiling module number {n}, errors: 0, warnings: 3" for n in range(200)]
    block = "".join(f"{_STAMP}{line}\n" for line in lines).encode()
    header = ("##[group]Run pytest", "\x1b[36;1mpytest\x1b[0m", "shell: /usr/bin/bash -e {0}", "##[endgroup]")
    half = block * (MEGABYTES * 500_000 // len(block))
    with path.open("wb") as file:
        file.write("".join(f"{_STAMP}{line}\n" for line in header).encode())
        file.write(half)
        file.write(f"{_STAMP}{'x' * 300_000}\n{_STAMP}FAILED {_WANTED} - AssertionError: no\n".encode())
        file.write(half)
        file.write(f"{_STAMP}##[error]Process completed with exit code 1.\n".encode())
