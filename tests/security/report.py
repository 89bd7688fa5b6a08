"""`make security-report`: cheats rejected, honest fixes passed, what is hostile contained: each of how many.

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
from tests.security.agents import HOSTILE
from tests.security.agents.running import arena
from tests.security.cheats import CHEATS, Cheat
from tests.security.cheats.case import Case
from tests.security.honest import HONEST, Honest
from tests.security.malicious import MALICIOUS
from tests.security.malicious.running import contained
from tests.security.whole import BEYOND_A_LOOK, HONEST_RUN, Judged, judged

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
    told = f"left to a human reader; shown: {', '.join(shown) or 'the change itself'}"
    return Row(
        section="cheats for a human", name=cheat.name, answer=told, passed=not cheat.found or cheat.found in shown
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
    """Each through the whole verifier, which must not believe it."""
    return await _through_the_verifier("cheats beyond a look", BEYOND_A_LOOK, lambda one: one.is_refused)


async def _human() -> Sequence[Row]:
    return [cheat_row(cheat) for cheat in CHEATS if cheat.needs == "human"]


async def _honest() -> Sequence[Row]:
    return [honest_row(fix) for fix in HONEST]


async def _honest_whole() -> Sequence[Row]:
    """Each that can be run through the whole verifier, which must believe it."""
    return await _through_the_verifier("honest, whole", HONEST_RUN, lambda one: one.is_fixed)


async def _through_the_verifier(section: str, cases: Sequence[Case], right: Callable[[Judged], bool]) -> Sequence[Row]:
    """In the real sandbox; without one nothing is run and nothing is claimed."""
    sandbox = Bubblewrap()
    if problem := (await sandbox.probe()).problem:
        return [Row(section=section, name=case.name, answer=f"not run: {problem}", passed=False) for case in cases]
    with tempfile.TemporaryDirectory(prefix="sweeper-report-") as place:
        found = await judged(cases, Path(place), sandbox)
    return [Row(section=section, name=one.case.name, answer=one.answer, passed=right(one)) for one in found]


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


async def _agents() -> Sequence[Row]:
    """Each as any command agent is run; without a sandbox nothing is run and nothing is claimed."""
    section, sandbox = "hostile agents", Bubblewrap()
    if problem := (await sandbox.probe()).problem:
        return [Row(section=section, name=case.name, answer=f"not run: {problem}", passed=False) for case in HOSTILE]
    rows = []
    with tempfile.TemporaryDirectory(prefix="sweeper-report-") as place, arena(Path(place), sandbox) as ground:
        for case in HOSTILE:
            left = await ground.attack(case)
            wrongs = left.wrongs()
            answer = "; ".join(wrongs) or f"contained; {left.answer}"
            rows.append(Row(section=section, name=case.name, answer=answer, passed=not wrongs))
    return rows


SECTIONS: list[Section] = [
    Section(title="Cheats rejected by a look", rows=_cheats),
    Section(title="Cheats that only the verifier's run tells", rows=_beyond),
    Section(title="Cheats left to a human, who is shown what there is", rows=_human),
    Section(title="Honest fixes that no look rejects", rows=_honest),
    Section(title="Honest fixes passed through the whole verifier", rows=_honest_whole),
    Section(title="Malicious repositories contained", rows=_malicious),
    Section(title="Hostile agents contained", rows=_agents),
]


async def collect(sections: Sequence[Section]) -> tuple[Report, str]:
    """All rows as a document and as Markdown. It takes minutes, so each section is told on stderr when it is done."""
    rows: list[Row] = []
    heads, tables = [], []
    for section in sections:
        found = await section.rows()
        rows += found
        heads.append(f"| {section.title} | {sum(row.passed for row in found)} / {len(found)} |")
        print(heads[-1], file=sys.stderr, flush=True)
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
