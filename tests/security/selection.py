"""Which part of a corpus a run of `make test` takes: another for each commit, and each entry in one of them."""

import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[2]

T = TypeVar("T")


def slices(entries: Sequence[T], most: int) -> list[list[T]]:
    """All entries in parts of at most `most`, neighbours apart: those that look alike are not run at once."""
    count = -(-len(entries) // most)
    return [list(entries[start::count]) for start in range(count)]


def part(entries: Sequence[T], most: int, seed: str) -> list[T]:
    """One of the slices; the same seed selects the same."""
    found = slices(entries, most)
    return found[zlib.crc32(seed.encode()) % len(found)]


def commit() -> str:
    """The commit's hash; empty where there is no git."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return asked.stdout.strip()
