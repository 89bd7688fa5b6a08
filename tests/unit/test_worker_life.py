"""Whether a worker is alive is read from a lock and a file, by any process on the state directory."""

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.temporal.life import WORKER_LOCK, WorkerPulse, read_worker_life

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def age(state_dir: Path) -> None:
    os.utime(state_dir / WORKER_LOCK, (LONG_AGO.timestamp(), LONG_AGO.timestamp()))


def test_where_no_worker_ever_was_nobody_is_alive_since_never(tmp_path: Path) -> None:
    life = read_worker_life(tmp_path)
    assert (life.alive, life.since) == (False, None)


async def test_a_worker_is_alive_since_its_start(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    async with WorkerPulse(tmp_path):
        life = read_worker_life(tmp_path)
    assert life.alive
    assert life.since is not None
    assert before <= life.since <= datetime.now(UTC)


async def test_after_its_end_it_is_dead_since_its_last_beat(tmp_path: Path) -> None:
    async with WorkerPulse(tmp_path):
        age(tmp_path)
    life = read_worker_life(tmp_path)
    assert not life.alive
    assert life.since is not None
    assert datetime.now(UTC) - life.since < timedelta(minutes=1)


async def test_a_worker_beats_while_it_lives(tmp_path: Path) -> None:
    async with WorkerPulse(tmp_path, beat_seconds=0.01):
        age(tmp_path)
        while (tmp_path / WORKER_LOCK).stat().st_mtime == LONG_AGO.timestamp():
            await asyncio.sleep(0.01)


async def test_while_one_of_two_workers_lives_somebody_is_alive_since_the_first(tmp_path: Path) -> None:
    async with WorkerPulse(tmp_path):
        first = read_worker_life(tmp_path)
        async with WorkerPulse(tmp_path):
            assert read_worker_life(tmp_path) == first
        assert read_worker_life(tmp_path) == first
    assert not read_worker_life(tmp_path).alive


async def test_reading_does_not_disturb_the_worker(tmp_path: Path) -> None:
    async with WorkerPulse(tmp_path):
        for _ in range(100):
            assert read_worker_life(tmp_path).alive


async def test_a_worker_that_comes_after_a_dead_one_counts_from_its_own_start(tmp_path: Path) -> None:
    (tmp_path / WORKER_LOCK).write_text(LONG_AGO.isoformat())
    async with WorkerPulse(tmp_path):
        assert read_worker_life(tmp_path).since != LONG_AGO


async def test_a_file_that_says_nonsense_hides_only_the_time(tmp_path: Path) -> None:
    async with WorkerPulse(tmp_path):
        (tmp_path / WORKER_LOCK).write_text("yesterday")
        life = read_worker_life(tmp_path)
    assert (life.alive, life.since) == (True, None)


async def test_the_lock_is_for_its_owner_alone(tmp_path: Path) -> None:
    async with WorkerPulse(tmp_path):
        assert (tmp_path / WORKER_LOCK).stat().st_mode & 0o777 == 0o600
