"""Many rings for one sweep become few signals, and none is forgotten."""

import asyncio
from collections import Counter

import pytest

from adapters.temporal.rings import Rings
from sweeper.errors import OutOfReach

ID, OTHER = "sweep-1-1", "sweep-2-1"


class Signals:
    """What reaches the server. `gate` holds signals under way; ids in `closed` have no open sweep."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun: Counter[str] = Counter()
        self.closed: set[str] = set()
        self.away = False

    async def send(self, workflow_id: str) -> bool:
        self.begun[workflow_id] += 1
        await self.gate.wait()
        if self.away:
            raise OutOfReach("Temporal is away.")
        return workflow_id not in self.closed


async def test_a_ring_is_one_signal_and_says_whether_the_sweep_is_open() -> None:
    signals = Signals()
    rings = Rings(signals.send)
    assert await rings.ring(ID)
    signals.closed.add(OTHER)
    assert not await rings.ring(OTHER)
    assert signals.begun == {ID: 1, OTHER: 1}


async def test_rings_during_a_signal_share_the_one_that_follows() -> None:
    signals = Signals()
    rings = Rings(signals.send)
    signals.gate.clear()
    first = asyncio.create_task(rings.ring(ID))
    while not signals.begun[ID]:
        await asyncio.sleep(0)
    others = [asyncio.create_task(rings.ring(ID)) for _ in range(50)]
    await asyncio.sleep(0)
    assert signals.begun[ID] == 1
    signals.gate.set()
    assert await first
    assert all(await asyncio.gather(*others))
    assert signals.begun[ID] == 2


async def test_one_sweeps_rings_do_not_wait_for_anothers() -> None:
    signals = Signals()
    rings = Rings(signals.send)
    signals.gate.clear()
    tasks = [asyncio.create_task(rings.ring(workflow_id)) for workflow_id in (ID, OTHER)]
    while signals.begun.total() < 2:
        await asyncio.sleep(0)
    signals.gate.set()
    assert await asyncio.gather(*tasks) == [True, True]


async def test_a_storm_is_answered_at_once_and_sent_later_as_one() -> None:
    signals = Signals()
    rings = Rings(signals.send, burst=3, window_seconds=0.2)
    for _ in range(20):
        assert await rings.ring(ID)
    assert signals.begun[ID] == 3
    while signals.begun[ID] < 4:
        await asyncio.sleep(0.01)
    assert signals.begun[ID] == 4


async def test_who_rings_and_goes_away_has_rung_all_the_same() -> None:
    signals = Signals()
    rings = Rings(signals.send)
    signals.gate.clear()
    gone = asyncio.create_task(rings.ring(ID))
    while not signals.begun[ID]:
        await asyncio.sleep(0)
    gone.cancel()
    signals.gate.set()
    assert await rings.ring(ID)


async def test_a_signal_that_fails_is_told_and_the_next_ring_tries_again() -> None:
    signals = Signals()
    rings = Rings(signals.send, burst=2, window_seconds=60)
    signals.away = True
    for _ in range(5):
        with pytest.raises(OutOfReach):
            await rings.ring(ID)
    signals.away = False
    assert await rings.ring(ID)


async def test_bells_that_fell_silent_are_forgotten() -> None:
    signals = Signals()
    rings = Rings(signals.send, burst=1, window_seconds=0.0)
    for n in range(100):
        await rings.ring(f"sweep-{n}-1")
    assert rings.remembered <= 2
