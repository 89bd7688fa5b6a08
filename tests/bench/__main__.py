"""Runs every bench: Markdown on stdout, `build/reports/bench.json` beside it, non-zero if a ratio is out of bounds."""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.bench import sandbox, story, worktree
from tests.bench.measure import Report, Row, markdown

REPORT = Path("build", "reports", "bench.json")


async def measure() -> list[Row]:
    """All rows, one bench after the other so that they do not disturb each other."""
    rows: list[Row] = []
    for bench in (sandbox, worktree, story):
        with tempfile.TemporaryDirectory(prefix="bench-") as place:
            rows += await bench.rows(Path(place))
    return rows


def main() -> int:
    """The exit code: 0 if every ratio is within its bound."""
    rows = asyncio.run(measure())
    failed = sum(not row.passed for row in rows)
    report = Report(rows=tuple(rows), passed=len(rows) - failed, failed=failed)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(report.model_dump_json(indent=2) + "\n")
    print(markdown(rows))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
