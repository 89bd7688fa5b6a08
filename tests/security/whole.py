"""Entries of the corpora through the whole verifier: shown red on real worktrees in the sandbox, then judged."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from adapters.sandbox import Bubblewrap
from sweeper.model import CheckPlan, Verdict, VerdictKind
from tests.security.cheats import CHEATS, Cheat
from tests.security.cheats.case import Case
from tests.security.honest import HONEST, Honest
from tests.support.proving import RealBench

ENV = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
EACH = timedelta(seconds=60)
AT_ONCE = 2


BEYOND_A_LOOK: tuple[Cheat, ...] = tuple(cheat for cheat in CHEATS if cheat.needs == "verifier")
HONEST_RUN: tuple[Honest, ...] = tuple(fix for fix in HONEST if fix.is_run)


class Judged(NamedTuple):
    """An entry and the verifier's word on it; `problem` where its failure could not be shown."""

    case: Case
    verdict: Verdict | None
    problem: str = ""

    @property
    def answer(self) -> str:
        """In one line."""
        if self.verdict is None:
            return f"not shown red: {self.problem}"
        reason = f" ({self.verdict.reason})" if self.verdict.reason else ""
        return f"{self.verdict.kind.value}{reason}"[:240]

    @property
    def is_fixed(self) -> bool:
        """Whether the verifier believes it."""
        return self.verdict is not None and self.verdict.kind is VerdictKind.FIXED

    @property
    def is_refused(self) -> bool:
        """Whether its failure was shown and the change then not believed, for whatever it did to its runs."""
        return self.verdict is not None and not self.is_fixed


async def judged(cases: Sequence[Case], place: Path, sandbox: Bubblewrap) -> list[Judged]:
    """Each in a repository of its own under `place`, two at a time; in order. The sandbox's probe has passed."""
    place.chmod(0o755)
    left, found = iter(enumerate(cases)), dict[int, Judged]()
    await asyncio.gather(*(_in_turn(left, place, sandbox, found) for _ in range(AT_ONCE)))
    return [found[number] for number in range(len(cases))]


async def _in_turn(
    left: Iterator[tuple[int, Case]], place: Path, sandbox: Bubblewrap, found: dict[int, Judged]
) -> None:
    for number, case in left:
        bench = RealBench(place / f"bench{number}", sandbox, EACH)
        found[number] = await _judged(case, bench)
        await bench.discard()


async def _judged(case: Case, bench: RealBench) -> Judged:
    exam = case.exam()
    checks = [check.model_copy(update={"env": ENV, "before": case.steps}) for check in exam.plan.checks]
    bench.plan = CheckPlan(checks=tuple(checks), source=exam.plan.source)
    base = bench.commit(case.before, programs=_programs(case, case.before))
    shown = await bench.reproduce(base)
    if shown.problem is not None or not shown.is_red:
        return Judged(case, None, shown.problem or "it is green without the change")
    gone = dict.fromkeys(case.moved.values())
    fix = bench.commit({**gone, **case.after}, base, programs=_programs(case, case.after))
    return Judged(case, await bench.verify(base, fix, shown, exam.diagnosis))


def _programs(case: Case, files: dict[str, str | bytes | None]) -> list[str]:
    return [path for path, mode in case.modes.items() if mode == "100755" and files.get(path) is not None]
