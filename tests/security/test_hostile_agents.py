"""Hostile agents in the real sandbox, on real worktrees: none of them gets anything out, or leaves anything behind."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap
from sweeper.model import FixOutcome, FixReport
from tests.security.agents import HOSTILE, Hostile
from tests.security.agents.case import OVER, TOKEN
from tests.security.agents.host import planted
from tests.security.agents.leavings import Left
from tests.security.agents.running import Arena, arena
from tests.security.selection import commit, part
from tests.support.sandboxes import usable


@pytest.fixture(scope="module")
def sandbox() -> Bubblewrap:
    return Bubblewrap()


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory, sandbox: Bubblewrap) -> Iterator[Arena]:
    place = tmp_path_factory.mktemp("agents")
    place.parent.chmod(0o755)
    with arena(place, sandbox) as made:
        yield made


AT_ONCE = 24
"""Agents that a run of `make test` takes; `make security-report` takes all."""


@pytest.mark.slow
@pytest.mark.parametrize("case", part(HOSTILE, AT_ONCE, commit()), ids=lambda case: case.name.replace(" ", "-"))
async def test_a_hostile_agent_is_contained(case: Hostile, ground: Arena, sandbox: Bubblewrap) -> None:
    await usable(sandbox)
    assert (await ground.attack(case)).wrongs() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "wrong"),
    [
        (Hostile("It mends", shell="echo 'answer = 42' >app.py"), ""),
        (Hostile("It succeeds", shell="breach everything"), "it says: BREACH everything"),
        (Hostile("It does not parse", program="("), "it ended as failed"),
        (Hostile("It ends early", shell="exit 0"), "it did not come to its end"),
        (Hostile("It leaves a file", shell="echo x >left.txt"), "came into the patch silently"),
        (Hostile("It leaves a pipe", shell="mkfifo pipe"), "its tree was answered so: 'pipe' is a FIFO"),
        (Hostile("It leaves nothing to refuse", shell="touch app.py", refused="a FIFO"), "answered so: taken"),
        (Hostile("It ends well", shell="touch app.py", stopped_by="time"), "the time limit did not stop it"),
        (
            Hostile("It is not found out", shell="touch app.py", found={"app.py": "secret"}),
            "was not found to be secret",
        ),
    ],
    ids=lambda value: value.name.replace(" ", "-") if isinstance(value, Hostile) else "",
)
async def test_what_an_agent_gets_done_is_seen(agent: Hostile, wrong: str, ground: Arena, sandbox: Bubblewrap) -> None:
    await usable(sandbox)
    wrongs = (await ground.attack(agent)).wrongs()
    assert wrongs == [] if not wrong else any(wrong in one for one in wrongs), wrongs


def test_what_is_done_to_the_host_is_seen(tmp_path: Path) -> None:
    with planted(tmp_path, None) as host:
        assert list(host.wrongs()) == []
        (host.outside / "written").touch()
        (host.state / "marker-key").write_text("mine")
        socket.create_connection(("127.0.0.1", int(host.words["port"]))).close()
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int(host.words["udp"])))
        socket.socket(socket.AF_UNIX).connect(host.words["socket"])
        os.kill(int(host.words["canary_pid"]), signal.SIGKILL)
        os.waitid(os.P_PID, int(host.words["canary_pid"]), os.WEXITED | os.WNOWAIT)
        assert list(host.wrongs()) == [
            "something was written or run on the host: ['written']",
            "the host was reached by tcp",
            "the host was reached by udp",
            "the host was reached by socket file",
            "the host's marker-key was changed",
            "a process of the host was ended",
        ]
        host.heal()
        assert list(host.wrongs()) == ["a process of the host was ended"]


def test_what_an_agent_brings_back_or_leaves_is_seen() -> None:
    left = Left(HOSTILE[0], FixReport(agent="command", outcome=FixOutcome.EDITED, summary=f"see {TOKEN}"))
    left.log, left.canaries = (
        f"{OVER}: canary marker-key 1234".encode(),
        ("canary marker-key 1234", "canary other 5678"),
    )
    left.alive, left.remains, left.after = [17], ("sweep-1.fix1 is still there",), "/tmp/planted"
    left.told = "Fixes #1 and @octocat"
    assert left.wrongs() == [
        "1 of its processes are alive",
        "sweep-1.fix1 is still there",
        "the next run sees /tmp/planted",
        "it brought back canary marker-key",
        "a secret stands in its log or report",
        "in the proposal its words are not dead: ['closes', 'mentions', 'refers']",
    ]


def test_the_corpus_is_large_and_its_names_differ() -> None:
    assert len(HOSTILE) >= 100
    assert len({case.name for case in HOSTILE}) == len(HOSTILE)
