"""Real job logs, where they are at hand."""

import os
from pathlib import Path

import pytest


def real_log(name: str) -> bytes:
    """A saved log by file name without ending; skips the test where the collection is not at hand."""
    root = Path(os.environ.get("SWEEPER_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = root / "logs" / f"{name}.log"
    if not path.is_file():
        pytest.skip(f"the collection of real job logs is not here ({path.name}); point SWEEPER_TEST_DATA at it")
    return path.read_bytes()
