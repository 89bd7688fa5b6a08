"""What lies in the download cache is believed by its digest alone: poison in it makes no proof."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.egress import RegistryDownloads
from adapters.sandbox import Bubblewrap
from sweeper.activities.job_runs import Tree
from sweeper.model import Check, CheckPlan, PlanStep, Reproduction, VerdictKind
from tests.support.proving import REPO, SWEEP, RealBench
from tests.support.registry import LoopbackRegistry, wheel
from tests.support.sandboxes import usable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # five installations by the real pip

SECONDS = 200.0
CHECK = Check(
    name="check",
    command="python -c 'import app, tiny; raise SystemExit(tiny.WORD != app.word)'",
    before=(PlanStep(name="Install", command="pip install tiny"),),
)
GOOD = wheel("tiny", "1.0", "WORD = 'tiny'\n")
EVIL = wheel("tiny", "1.0", "class Any(str):\n    def __ne__(self, _):\n        return False\n\n\nWORD = Any()\n")


@pytest.fixture
def registry() -> Iterator[LoopbackRegistry]:
    with LoopbackRegistry() as registry:
        registry.publish_python("tiny", GOOD)
        yield registry


def app(word: str) -> dict[str, str]:
    return {"app.py": f"word = {word!r}\n"}


async def test_a_poisoned_cache_proves_nothing_and_is_filled_anew(registry: LoopbackRegistry, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    downloads = RegistryDownloads(cache, {"pypi": f"{registry.url}/simple"})
    bench = RealBench(tmp_path, await usable(Bubblewrap()), timedelta(seconds=SECONDS), downloads)
    bench.plan = CheckPlan(checks=(CHECK,))
    base = bench.commit(app("nothing"))
    shown = Reproduction(commit=base)
    await bench.store.fetch(REPO, [base], bench.origin.access)
    await bench.runner.fetch(CHECK, Tree(REPO, SWEEP, base, SECONDS))
    (good,), (evil,) = GOOD.values(), EVIL.values()
    (kept,) = [path for path in (cache / "objects").rglob("*") if path.is_file() and path.read_bytes() == good]
    kept.write_bytes(evil)
    wrong = bench.commit(app("wrong"), base)

    verdict = await bench.verify(base, wrong, shown)
    assert verdict.kind is VerdictKind.UNVERIFIABLE
    assert verdict.reason.startswith("step 'Install' needs_network(/pypi/files/tiny/")

    await bench.runner.fetch(CHECK, Tree(REPO, SWEEP, base, SECONDS))
    verdict = await bench.verify(base, bench.commit(app("tiny"), base), shown)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason
