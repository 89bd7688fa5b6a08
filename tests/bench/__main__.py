"""Runs every bench, or those named: Markdown on stdout, `build/reports/bench.json` beside it.

Non-zero if a ratio is out of bounds.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from tests.bench import agent_steps, deliveries, journal, logs, recovery, sandbox, story, verifier, worktree
from tests.bench.measure import Report, Row, markdown

REPORT = Path("build", "reports", "bench.json")
BENCHES: dict[str, Callable[[Path], Awaitable[list[Row]]]] = {
    "sandbox": sandbox.rows,
    "worktree": worktree.rows,
    "journal": journal.rows,
    "agent": agent_steps.rows,
    "verifier": verifier.rows,
    "logs": logs.rows,
    "story": story.rows,
    "deliveries": deliveries.rows,
    "recovery": recovery.rows,
}


async def measure(names: Sequence[str]) -> list[Row]:
    """All rows, one bench after the other so that they do not disturb each other."""
    rows: list[Row] = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="bench-") as place:
            rows += await BENCHES[name](Path(place))
    return rows


def main(names: Sequence[str]) -> int:
    """The exit code: 0 if every ratio is within its bound, 2 for a bench that does not exist."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"There is no bench {unknown[0]!r}; choose from {', '.join(BENCHES)}.", file=sys.stderr)
        return 2
    rows = asyncio.run(measure(names or tuple(BENCHES)))
    failed = sum(not row.passed for row in rows)
    report = Report(rows=tuple(rows), passed=len(rows) - failed, failed=failed)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(report.model_dump_json(indent=2) + "\n")
    print(markdown(rows))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
