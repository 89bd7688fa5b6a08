"""Malicious repositories through the real verifier, git and sandbox: nothing gets out or stays, no wrong answer."""

import asyncio
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap
from sweeper.model import Check, CheckPlan, PlanStep, Reproduction, Verdict
from tests.security.malicious import MALICIOUS, Malicious
from tests.support.proving import RealBench
from tests.support.sandboxes import alive, usable

pytestmark = pytest.mark.slow

CANARY = "canary-5b1d-of-the-host"
MARK = "sweeper-malicious-mark"
RED = {
    "app.py": "answer = 41\n",
    "test_app.py": "from app import answer\n\n\ndef test_answer():\n    assert answer == 42\n",
}


class Host:
    """What an attack aims at."""

    def __init__(self, place: Path) -> None:
        self.secret = place / "secret"
        self.secret.write_text(CANARY)
        self.outside = place / "outside"
        self.outside.mkdir()
        self.outside.chmod(0o777)
        place.chmod(0o755)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)

    def filled(self, text: str) -> str:
        words = {"secret": self.secret, "outside": self.outside, "port": self.listener.getsockname()[1], "mark": MARK}
        for word, value in words.items():
            text = text.replace("{" + word + "}", str(value))
        return text

    def was_called(self) -> bool:
        try:
            self.listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setenv("SWEEPER_TEST_SECRET", CANARY)
    found = Host(tmp_path)
    yield found
    found.listener.close()


@pytest.fixture(scope="module")
def sandbox() -> Bubblewrap:
    return Bubblewrap()


async def verdict_on(case: Malicious, host: Host, bench: RealBench) -> Verdict:
    before = (PlanStep(name="Build", command="sh build.sh"),) if case.before else ()
    bench.plan = CheckPlan(checks=(Check(name="check", command=case.command, before=before),))
    base = bench.commit({**RED, "build.sh": "exit 0", "check.sh": "exit 1"})
    shown = Reproduction(commit=base)
    if case.shown_red:
        shown = await bench.reproduce(base)
        assert (shown.problem, shown.is_red) == (None, True)
    files = {"build.sh": case.before, "check.sh": case.script, **case.files}
    filled = {path: host.filled(text) for path, text in files.items()}
    links = {path: host.filled(target) for path, target in case.links.items()}
    return await bench.verify(base, bench.commit(filled, base, links=links), shown)


@pytest.mark.parametrize("case", MALICIOUS, ids=lambda case: case.name.replace(" ", "-"))
async def test_is_contained_and_rightly_answered(
    case: Malicious, host: Host, tmp_path: Path, sandbox: Bubblewrap
) -> None:
    bench = RealBench(tmp_path / "bench", await usable(sandbox), timedelta(seconds=60))
    verdict = await asyncio.wait_for(verdict_on(case, host, bench), 120)
    assert verdict.kind in case.answer, verdict.reason
    told = verdict.model_dump_json() + "".join(
        data.decode("utf-8", "replace") for data in bench.artifacts.stored.values()
    )
    assert CANARY not in told, "the host's secret got out"
    assert "ghp_0123456789" not in told
    assert list(host.outside.iterdir()) == [], "something was done on the host"
    assert not host.was_called()
    assert alive(MARK) == [], "something is still running"
    await bench.discard()
    assert bench.left_over() == [], "something was left behind"


def test_the_corpus_is_large_and_its_names_differ() -> None:
    assert len(MALICIOUS) >= 30
    assert len({case.name for case in MALICIOUS}) == len(MALICIOUS)
