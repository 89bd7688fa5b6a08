"""`make diagnosis-report`: what the diagnosis says of each real job log, beside what a person says of it.

Markdown on stdout, the same as data in build/reports/diagnosis.json. Exit code 1 if a row differs from the truth.
"""

import os
import sys
from pathlib import Path

from pydantic import BaseModel

from tests.reports.judging import Judged, judge, saved_log
from tests.reports.truth import TRUTHS

TOP = Path(__file__).parents[2]
REPORT = TOP / "build" / "reports" / "diagnosis.json"
SHOWN_LINES = 3
SHOWN_OF_A_LINE = 90


class Report(BaseModel):
    """All rows, and how many of them are true."""

    rows: tuple[Judged, ...] = ()
    passed: int = 0
    failed: int = 0


def data_folder() -> Path:
    """Where real logs are kept, if they are at hand."""
    return Path(os.environ.get("SWEEPER_TEST_DATA") or TOP.parent / "shared" / "data")


def report(root: Path) -> Report:
    """A row for each log; none where the collection is not at hand."""
    if not (root / "logs").is_dir():
        return Report()
    rows = tuple(judge(truth, saved_log(root, truth)) for truth in TRUTHS)
    failed = sum(1 for row in rows if row.wrong)
    return Report(rows=rows, passed=len(rows) - failed, failed=failed)


def unjudged(root: Path) -> list[str]:
    """Saved logs that nobody has read: a report without them would look better than it is."""
    judged = {truth.log for truth in TRUTHS}
    return sorted(path.name for path in (root / "logs").glob("[0-9]*") if path.stem not in judged)


def markdown(told: Report) -> str:
    """The report for people."""
    lines = [
        "| log | job | step | class | action | error lines | signature | as a person reads it |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in told.rows:
        cells = (
            row.log,
            row.job,
            row.step or "(not in the log)",
            row.failure_class,
            row.action,
            "<br>".join(_code(line) for line in row.error_lines[:SHOWN_LINES]) or "(none)",
            _code(row.signature[:19]),
            "yes" if not row.wrong else "NO: " + "; ".join(row.wrong),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, "", f"{told.passed} of {len(told.rows)} as a person reads them."])


def _code(text: str) -> str:
    return f"`{text[:SHOWN_OF_A_LINE].replace('`', chr(39))}`"


def main() -> int:
    """Prints and writes the report."""
    root = data_folder()
    told = report(root)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(told.model_dump_json(indent=1), encoding="utf-8")
    if not told.rows:
        print("The collection of real job logs is not here; point SWEEPER_TEST_DATA at it.")
        return 0
    print(markdown(told))
    if left := unjudged(root):
        print(f"\nNot judged: {', '.join(left)}")
    return 1 if told.failed or left else 0


if __name__ == "__main__":
    sys.exit(main())
