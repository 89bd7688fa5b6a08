"""Entries of the corpora through the whole verifier: shown red on real worktrees in the sandbox, then judged."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from adapters.sandbox import Bubblewrap
from sweeper.model import CheckPlan, Verdict, VerdictKind
from tests.security.cheats.case import Case
from tests.support.proving import RealBench

ENV = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
EACH = timedelta(seconds=60)
NEVER_FIXED = (VerdictKind.TAMPERED, VerdictKind.NOT_FIXED, VerdictKind.WORSE, VerdictKind.FLAKY)


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
        """Whether it was run and not believed."""
        return self.verdict is not None and self.verdict.kind in NEVER_FIXED


async def judged(cases: Sequence[Case], place: Path, sandbox: Bubblewrap) -> list[Judged]:
    """Each in turn, in one repository under `place`. The sandbox's probe has passed."""
    place.chmod(0o755)
    bench = RealBench(place / "bench", sandbox, EACH)
    found = []
    for case in cases:
        found.append(await _judged(case, bench))
        await bench.discard()
    return found


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
