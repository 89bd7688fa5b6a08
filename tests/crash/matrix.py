"""Runs the crash suite: `python -m tests.crash.matrix [words...]`, words choosing rows by parts of their names.

Markdown on stdout, `build/reports/crash-matrix.json` beside it, non-zero if a row failed. What passed on the same
product is not run again.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.crash.reference import Reference, references
from tests.crash.report import Kept, Report, markdown, report
from tests.crash.rows import Row, all_rows, unreached
from tests.crash.runner import Verdict, product_code, run_rows

REPORT = Path("build", "reports", "crash-matrix.json")
KEPT = Path("build", "crash-matrix")


async def verdicts(rows: Sequence[Row], stories: Sequence[Reference], kept: Kept) -> list[Verdict]:
    """Every row's verdict, in order; those that are kept are not run again."""
    known = {row.key: found for row in rows if (found := kept.found(row))}
    started = time.monotonic()

    def told(verdict: Verdict) -> None:
        known[verdict.row.key] = verdict
        kept.keep(verdict)
        words = f"{len(known)}/{len(rows)} after {time.monotonic() - started:.0f} s: {verdict.row.key}"
        print(words, verdict.why or "ok", file=sys.stderr, flush=True)

    await run_rows([row for row in rows if row.key not in known], stories, told)
    return [known[row.key] for row in rows]


async def everything(words: Sequence[str]) -> Report:
    """All rows, or those whose name holds one of the words."""
    kept = Kept(KEPT, product_code())
    with tempfile.TemporaryDirectory(prefix="crash-") as place:
        stories = await references(Path(place))
    rows = [row for row in all_rows(stories) if not words or any(word in row.key for word in words)]
    return report(await verdicts(rows, stories, kept), unreached(stories))


def main() -> int:
    """The exit code: 0 if nothing failed."""
    found = asyncio.run(everything(sys.argv[1:]))
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(found.model_dump_json(indent=2) + "\n")
    print(markdown(found))
    return 1 if found.failed else 0


if __name__ == "__main__":
    sys.exit(main())
