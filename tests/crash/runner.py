"""Runs rows of the crash suite in batches, a few of them side by side, and hands out verdicts."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from sweeper.model import Strict
from tests.crash.batches import BATCH, batches, run_batch
from tests.crash.reference import Reference
from tests.crash.rows import Row

COMPANIES = 2
"""Side by side: a worker process uses one core."""
ROOT = Path(__file__).parents[2]
_PRODUCT = ("sweeper", "adapters", "worktrees")


class Verdict(Strict):
    """What came of a row. `why`: in which way it failed; `code`: the product it was run on."""

    row: Row
    passed: bool
    why: str = ""
    seconds: float
    code: str


def product_code() -> str:
    """A digest of the product's source."""
    digest = hashlib.sha256()
    for package in _PRODUCT:
        for file in sorted((ROOT / package).rglob("*.py")):
            digest.update(f"{file.relative_to(ROOT)}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


async def run_rows(
    rows: Sequence[Row], references: Sequence[Reference], told: Callable[[Verdict], None], size: int = BATCH
) -> None:
    """All of them. `size`: of a batch."""
    code, free = product_code(), asyncio.Semaphore(COMPANIES)
    stories = {reference.scenario: reference for reference in references}

    def tell(row: Row, why: str, seconds: float) -> None:
        told(Verdict(row=row, passed=not why, why=why, seconds=round(seconds, 1), code=code))

    async def one(batch: Sequence[Row]) -> None:
        async with free:
            await run_batch(batch, stories, tell)

    async with asyncio.TaskGroup() as group:
        for batch in batches(rows, size):
            group.create_task(one(batch))
