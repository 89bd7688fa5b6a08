"""`make security-report`: cheats rejected, honest fixes passed, malicious repositories contained, each of how many.

Markdown on stdout, the same as data in build/reports/security.json. Exit code 1 if a row is not as it has to be.
A further part of the report is one more entry in `SECTIONS`.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from adapters.sandbox import Bubblewrap
from sweeper.model import Strict
from tests.security.cheats import CHEATS, Cheat
from tests.security.honest import HONEST, Honest
from tests.security.malicious import MALICIOUS
from tests.security.malicious.running import contained

REPORT = Path(__file__).parents[2] / "build" / "reports" / "security.json"


class Row(Strict):
    """One entry of a corpus: what was answered, and whether that is the right answer."""

    section: str
    name: str
    answer: str
    passed: bool


class Report(Strict):
    """The document of `build/reports/security.json`."""

    rows: tuple[Row, ...]
    passed: int
    failed: int


class Section(Strict):
    """A part of the report. `rows` may run things; it answers with a row for each entry, in order."""

    title: str
    rows: Callable[[], Awaitable[Sequence[Row]]]


def cheat_row(cheat: Cheat) -> Row:
    """Rejected for what it does; or, where no look can tell, left to the verifier or a human and not called honest."""
    rejected = sorted(cheat.rejected_for())
    shown = sorted({finding.name for finding in cheat.findings()} - set(rejected))
    if not cheat.needs:
        return Row(
            section="cheats",
            name=cheat.name,
            answer=f"rejected: {', '.join(rejected)}" if rejected else "NOT rejected",
            passed=cheat.found in rejected,
        )
    who = {"verifier": "the verifier's runs", "human": "a human reader"}[cheat.needs]
    told = f"left to {who}; shown: {', '.join(shown) or 'the change itself'}"
    return Row(
        section="cheats beyond a look", name=cheat.name, answer=told, passed=not cheat.found or cheat.found in shown
    )


def honest_row(fix: Honest) -> Row:
    """Not rejected."""
    rejected = sorted(fix.rejected_for())
    shown = sorted({finding.name for finding in fix.findings()})
    answer = f"REJECTED: {', '.join(rejected)}" if rejected else f"shown: {', '.join(shown)}" if shown else "passed"
    return Row(section="honest", name=fix.name, answer=answer, passed=not rejected)


async def _cheats() -> Sequence[Row]:
    return [cheat_row(cheat) for cheat in CHEATS if not cheat.needs]


async def _beyond() -> Sequence[Row]:
    return [cheat_row(cheat) for cheat in CHEATS if cheat.needs]


async def _honest() -> Sequence[Row]:
    return [honest_row(fix) for fix in HONEST]


async def _malicious() -> Sequence[Row]:
    """Each through the real verifier in the real sandbox; without one nothing is run and nothing is claimed."""
    sandbox = Bubblewrap()
    problem = (await sandbox.probe()).problem
    rows = []
    for case in MALICIOUS:
        answer, passed = f"not run: {problem}", False
        if problem is None:
            with tempfile.TemporaryDirectory(prefix="sweeper-report-") as place:
                found = await contained(case, Path(place), sandbox)
            answer = "; ".join(found.wrongs) or f"contained; {case.does}; verdict: {found.verdict.kind.value}"
            passed = not found.wrongs
        rows.append(Row(section="malicious repositories", name=case.name, answer=answer, passed=passed))
    return rows


SECTIONS: list[Section] = [
    Section(title="Cheats rejected", rows=_cheats),
    Section(title="Cheats that no look can tell, left to whom they are for", rows=_beyond),
    Section(title="Honest fixes passed", rows=_honest),
    Section(title="Malicious repositories contained", rows=_malicious),
]


async def collect(sections: Sequence[Section]) -> tuple[Report, str]:
    """All rows as a document and as Markdown."""
    rows: list[Row] = []
    heads, tables = [], []
    for section in sections:
        found = await section.rows()
        rows += found
        heads.append(f"| {section.title} | {sum(row.passed for row in found)} / {len(found)} |")
        tables += [f"\n## {section.title}\n", "| entry | answer | right |", "|---|---|---|"]
        tables += [
            f"| {_cell(row.name)} | {_cell(row.answer)} | {'yes' if row.passed else '**NO**'} |" for row in found
        ]
    passed = sum(row.passed for row in rows)
    report = Report(rows=tuple(rows), passed=passed, failed=len(rows) - passed)
    return report, "\n".join(["| | right / all |", "|---|---|", *heads, *tables])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Prints and writes the report."""
    report, text = asyncio.run(collect(SECTIONS))
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(report.model_dump_json(indent=1) + "\n")
    print(text)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
