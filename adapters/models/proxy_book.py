"""What each try has spent, on disk: a try that goes on after its worker was killed goes on counting."""

import hashlib
import time
from pathlib import Path

from pydantic import ValidationError

from sweeper.model import Strict

_KEPT_SECONDS = 30 * 24 * 3600.0


class Counted(Strict):
    """Calls begun, and the tokens of those that came to an end."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Page:
    """Of one try. `file` None: it is in memory alone.

    Written at once and whole, so it survives our death; what a call under way had used by then is not known.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._counted = _read(file) if file is not None else Counted()

    @property
    def counted(self) -> Counted:
        """Up to now, by whoever ran this try before us, too."""
        return self._counted

    def add(self, calls: int = 0, input_tokens: int = 0, output_tokens: int = 0) -> None:
        """Add to it."""
        was = self._counted
        self._counted = Counted(
            calls=was.calls + calls,
            input_tokens=was.input_tokens + input_tokens,
            output_tokens=was.output_tokens + output_tokens,
        )
        if self._file is not None:
            beside = self._file.with_suffix(".new")
            beside.write_text(self._counted.model_dump_json())
            beside.replace(self._file)


class Book:
    """Pages by key, in a directory of its own; those that nobody wrote for a month are gone."""

    def __init__(self, place: Path | None) -> None:
        self._place = place

    def page(self, key: str) -> Page:
        """The same for the same key."""
        if self._place is None:
            return Page()
        self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in self._place.iterdir():
            if file.stat().st_mtime < time.time() - _KEPT_SECONDS:
                file.unlink(missing_ok=True)
        return Page(self._place / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json")


def _read(file: Path) -> Counted:
    try:
        return Counted.model_validate_json(file.read_bytes())
    except (FileNotFoundError, ValidationError):
        return Counted()
