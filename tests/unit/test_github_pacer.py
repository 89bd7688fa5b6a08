"""Writes of one payer come one after another, first come first served; who goes away leaves the queue."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from pydantic import SecretBytes, SecretStr

from adapters.github import GitHubAccess
from adapters.github.pacer import CALLER, LONGEST_WAIT, Caller, Pacer
from sweeper.errors import Transient


class HandClock:
    """A clock that somebody turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Writer(threading.Thread):
    """Asks for a turn; `error` if it was refused one."""

    def __init__(self, pacer: Pacer, done: list["Writer"]) -> None:
        super().__init__(daemon=True)
        self.caller = Caller()
        self.error: Transient | None = None
        self._pacer, self._done = pacer, done

    def run(self) -> None:
        CALLER.set(self.caller)
        try:
            self._pacer.wait("octo")
        except Transient as error:
            self.error = error
        self._done.append(self)


class Scene:
    """A pacer whose first turn is taken, on a clock that stands still."""

    def __init__(self, pause: float) -> None:
        self.clock = HandClock()
        self.pacer = Pacer(pause, self.clock)
        self.done: list[Writer] = []
        self.pacer.wait("octo")

    def ask(self) -> Writer:
        """One more in the queue."""
        writer, before = Writer(self.pacer, self.done), self.pacer.waiting("octo")
        writer.start()
        until(lambda: self.pacer.waiting("octo") == before + 1)
        return writer

    def later(self, seconds: float, ended: int) -> None:
        """Time goes on, until that many have had their turn or their refusal."""
        self.clock.now += seconds
        self.pacer.leave(Caller())
        until(lambda: len(self.done) == ended)


def until(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(5000):
        if condition():
            return
        pause.wait(0.002)
    raise AssertionError("it never came to that")


def test_turns_come_in_order_and_one_at_a_time() -> None:
    scene = Scene(pause=4)
    writers = [scene.ask() for _ in range(4)]

    for turn in range(4):
        assert scene.pacer.waiting("octo") == 4 - turn
        scene.later(4, ended=turn + 1)

    assert scene.done == writers
    assert [writer.error for writer in writers] == [None] * 4


def test_who_goes_away_leaves_the_queue_and_nobody_waits_for_him() -> None:
    scene = Scene(pause=4)
    first, second = scene.ask(), scene.ask()

    scene.pacer.leave(first.caller)
    until(lambda: scene.done == [first])
    scene.later(4, ended=2)

    assert "not sent" in str(first.error)
    assert (scene.done, second.error) == ([first, second], None)


def test_a_wait_has_an_end() -> None:
    scene = Scene(pause=1000)
    writer = scene.ask()

    scene.later(LONGEST_WAIT, ended=1)

    assert "not sent" in str(writer.error)
    assert scene.pacer.waiting("octo") == 0


def test_payers_do_not_wait_for_each_other() -> None:
    scene = Scene(pause=1000)

    scene.pacer.wait("somebody else")

    assert scene.pacer.waiting("somebody else") == 0


def test_without_a_pause_nobody_waits() -> None:
    pacer = Pacer(0)

    for _ in range(1000):
        pacer.wait("octo")


@pytest.mark.parametrize(
    ("url", "pause", "seconds"),
    [
        ("https://api.github.com", None, 1.0),
        ("https://github.example/api/v3", None, 1.0),
        ("http://127.0.0.1:8080", None, 0.0),
        ("http://[::1]:8080", None, 0.0),
        ("http://localhost:8080", None, 0.0),
        ("https://api.github.com", timedelta(0), 0.0),
        ("http://127.0.0.1:8080", timedelta(seconds=3), 3.0),
    ],
)
def test_the_pause_is_a_second_except_on_this_machine(url: str, pause: timedelta | None, seconds: float) -> None:
    access = GitHubAccess(api_url=url, token=SecretStr("t"), marker_key=SecretBytes(b"k"), write_pause=pause)

    assert access.pause_between_writes == seconds
