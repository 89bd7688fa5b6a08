"""The crash suite's tables: kept row by row, so that a run that was cut short goes on, and printed as Markdown."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from sweeper.model import Strict
from tests.crash.rows import Killed, Point, Row, Table
from tests.crash.runner import Verdict

OK, BAD, NONE = "ok", "**FAILED**", "-"


class Report(Strict):
    """All verdicts. `missing`: activities that no story reaches."""

    rows: tuple[Verdict, ...]
    passed: int
    failed: int
    missing: tuple[str, ...] = ()


class Kept:
    """Verdicts on disk; one counts as long as the product is the one it was run on, and it passed."""

    def __init__(self, directory: Path, code: str) -> None:
        self._directory = directory
        self._code = code
        directory.mkdir(parents=True, exist_ok=True)

    def keep(self, verdict: Verdict) -> None:
        """For the next run."""
        (self._directory / f"{verdict.row.key}.json").write_text(verdict.model_dump_json() + "\n")

    def found(self, row: Row) -> Verdict | None:
        """The row's verdict, if it need not be run again."""
        try:
            verdict = Verdict.model_validate_json((self._directory / f"{row.key}.json").read_bytes())
        except (OSError, ValidationError):
            return None
        return verdict if verdict.passed and verdict.code == self._code and verdict.row == row else None


def report(verdicts: Sequence[Verdict], missing: Sequence[str]) -> Report:
    """The whole."""
    failed = sum(not verdict.passed for verdict in verdicts)
    return Report(
        rows=tuple(verdicts), passed=len(verdicts) - failed, failed=failed + len(missing), missing=tuple(missing)
    )


def markdown(found: Report) -> str:
    """Tables first, what failed after them."""
    parts = [
        _kills("Killed at each activity", found.rows, Table.KILLS, tuple(Killed)),
        _kills("Killed inside each undo", found.rows, Table.UNDO, (Killed.WORKER,)),
        _table("Each write under each fault, before / after its effect", _faults(found.rows)),
        _table("Each activity failing for good, before / after its work", _failures(found.rows)),
    ]
    failures = [
        f"- `{verdict.row.key}` ({verdict.row.scenario}): {verdict.why}" for verdict in found.rows if verdict.why
    ]
    failures += [f"- no story reaches `{activity}`" for activity in found.missing]
    parts += ["\n".join(failures)] if failures else []
    parts.append(f"{found.passed} passed, {found.failed} failed.")
    return "\n\n".join(part for part in parts if part)


def _kills(title: str, verdicts: Iterable[Verdict], table: Table, columns: tuple[Killed, ...]) -> str:
    """A cell is the four points in order: before, call, answer, after."""
    mine = [verdict for verdict in verdicts if verdict.row.table is table]
    rows = [["activity", *(f"{killed}" for killed in columns)]]
    for activity in dict.fromkeys(verdict.row.subject for verdict in mine):
        cells = []
        for killed in columns:
            by_point = {v.row.moment: v for v in mine if v.row.subject == activity and v.row.how == killed}
            cells.append(" ".join(_mark(by_point.get(point)) for point in Point))
        rows.append([f"`{activity}`", *cells])
    return _table(f"{title} ({' / '.join(Point)})", rows)


def _faults(verdicts: Iterable[Verdict]) -> list[list[str]]:
    mine = [verdict for verdict in verdicts if verdict.row.table is Table.FAULTS]
    kinds = list(dict.fromkeys(verdict.row.moment for verdict in mine))
    rows = [["write", *kinds]]
    for effect in dict.fromkeys(verdict.row.subject for verdict in mine):
        by = {(v.row.moment, v.row.how): v for v in mine if v.row.subject == effect}
        cells = [" ".join(_mark(by.get((kind, when))) for when in ("before", "after")) for kind in kinds]
        rows.append([f"`{effect}`", *cells])
    return rows


def _failures(verdicts: Iterable[Verdict]) -> list[list[str]]:
    mine = [verdict for verdict in verdicts if verdict.row.table is Table.FAILURES]
    moments = list(dict.fromkeys(verdict.row.moment for verdict in mine))
    rows = [["activity", *moments]]
    for activity in dict.fromkeys(verdict.row.subject for verdict in mine):
        by = {verdict.row.moment: verdict for verdict in mine if verdict.row.subject == activity}
        rows.append([f"`{activity}`", *(_mark(by.get(moment)) for moment in moments)])
    return rows


def _mark(verdict: Verdict | None) -> str:
    if verdict is None:
        return NONE
    return OK if verdict.passed else BAD


def _table(title: str, rows: list[list[str]]) -> str:
    if len(rows) < 2:
        return ""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return f"{title}:\n\n" + "\n".join(lines)
