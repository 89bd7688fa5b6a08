"""Runs one malicious repository through the real verifier, git and sandbox, and looks for all that went wrong."""

import asyncio
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from adapters.sandbox import Bubblewrap
from sweeper.model import Check, CheckPlan, PlanStep, Reproduction, Verdict
from tests.security.malicious.case import Malicious
from tests.support.proving import RealBench
from tests.support.sandboxes import alive

CANARY = "canary-5b1d-of-the-host"
TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
MARK = "sweeper-malicious-mark"
VARIABLE = "SWEEPER_TEST_SECRET"
EACH = timedelta(seconds=60)
WHOLE_SECONDS = 200.0
RED = {
    "app.py": "answer = 41\n",
    "test_app.py": "from app import answer\n\n\ndef test_answer():\n    assert answer == 42\n",
}


@dataclass(frozen=True)
class Contained:
    """What the verifier said, and a sentence for each thing that must not be."""

    verdict: Verdict
    wrongs: tuple[str, ...]


class Host:
    """What an attack aims at: a file, a directory, a listener, an environment; all planted."""

    def __init__(self, place: Path, listener: socket.socket) -> None:
        self._words = {
            "secret": place / "secret",
            "outside": place / "outside",
            "port": listener.getsockname()[1],
            "mark": MARK,
        }
        self._listener = listener

    def filled(self, text: str) -> str:
        """With the marks in braces replaced."""
        for word, value in self._words.items():
            text = text.replace("{" + word + "}", str(value))
        return text

    def wrongs(self) -> Iterator[str]:
        """What was done to it."""
        if list(Path(str(self._words["outside"])).iterdir()):
            yield "something was written or run on the host"
        if self._was_called():
            yield "the host's loopback was reached"
        if alive(MARK):
            yield "a process is still running"

    def _was_called(self) -> bool:
        try:
            self._listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True


@contextmanager
def planted_host(place: Path) -> Iterator[Host]:
    """A host's canaries under `place`."""
    place.chmod(0o755)
    (place / "secret").write_text(CANARY)
    (place / "outside").mkdir()
    (place / "outside").chmod(0o777)
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = CANARY
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            yield Host(place, listener)
    finally:
        os.environ.pop(VARIABLE) if before is None else os.environ.update({VARIABLE: before})


async def contained(case: Malicious, place: Path, sandbox: Bubblewrap) -> Contained:
    """Run it once. The sandbox's probe has passed."""
    with planted_host(place) as host:
        bench = RealBench(place / "bench", sandbox, EACH)
        verdict = await asyncio.wait_for(_verdict(case, host, bench), WHOLE_SECONDS)
        wrongs = list(host.wrongs())
        kept = verdict.model_dump_json().encode() + b"".join(bench.artifacts.stored.values())
        if CANARY.encode() in kept or TOKEN.encode() in kept:
            wrongs.append("a secret got out")
        await bench.discard()
        if bench.left_over():
            wrongs.append("a workspace or home was left behind")
        if verdict.kind not in case.answer:
            wrongs.append(f"the answer is wrong: {verdict.kind.value} ({verdict.reason})")
        return Contained(verdict, tuple(wrongs))


async def _verdict(case: Malicious, host: Host, bench: RealBench) -> Verdict:
    before: Sequence[PlanStep] = (PlanStep(name="Build", command="sh build.sh"),) if case.before else ()
    bench.plan = CheckPlan(checks=(Check(name="check", command=case.command, before=tuple(before)),))
    files = {"build.sh": case.before, "check.sh": case.script, **case.files}
    filled = {path: host.filled(text) for path, text in files.items()}
    links = {path: host.filled(target) for path, target in case.links.items()}
    base = bench.commit({**RED, **filled}, links=links)
    shown = Reproduction(commit=base)
    if case.shown_red:
        shown = await bench.reproduce(base)
        assert (shown.problem, shown.is_red) == (None, True)
    return await bench.verify(base, bench.commit(case.changed, base), shown)
