"""The state document on disk, one turn at a time.

A turn holds the one lock. When it ends well and something changed, the document is written beside the old one and
renamed over it before anybody gets an answer; when it fails, memory goes back to what is on disk. No fsync: this
guards against a killed process, not against a lost machine. Big texts (job logs, webhook bodies) are files of their
own, so that the document stays small.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from adapters.loopback.core.state import State
from sweeper.errors import BadInput

STATE_FILE = "state.json"
ROOMS = ("git", "logs", "bodies", "tmp")


class Store:
    """The document and the files beside it. `now()` is GitHub's clock, which the drive API may advance."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._file = directory / STATE_FILE
        self._lock = asyncio.Lock()
        for name in ROOMS:
            (directory / name).mkdir(exist_ok=True)
        self.state = self._load()
        self._saved = ""

    def _load(self) -> State:
        if not self._file.exists():
            return State(next_run_id=int(time.time() * 1000))
        try:
            return State.model_validate_json(self._file.read_bytes())
        except ValidationError as error:
            raise BadInput(
                f"{self._file} is not a loopback state document; give another --state directory or remove it."
            ) from error

    def save(self) -> bool:
        """Write the document if it changed."""
        text = self.state.model_dump_json()
        if text == self._saved:
            return False
        beside = self._file.with_suffix(".new")
        beside.write_text(text)
        beside.replace(self._file)
        self._saved = text
        return True

    @asynccontextmanager
    async def turn(self) -> AsyncIterator["Turn"]:
        """One mutation at a time; ended by `Turn.fail` or an exception, it leaves no trace in the document."""
        async with self._lock:
            turn = Turn()
            try:
                yield turn
            except BaseException:
                self._restore()
                raise
            if turn.failed:
                self._restore()
            else:
                self.save()

    @asynccontextmanager
    async def between_turns(self) -> AsyncIterator[State]:
        """The document while no turn is under way; for reading only."""
        async with self._lock:
            yield self.state

    def snapshot(self) -> str:
        """The document as it was saved last."""
        return self._saved

    @asynccontextmanager
    async def as_of(self, snapshot: str) -> AsyncIterator[None]:
        """Reading calls inside see an older document."""
        async with self._lock:
            present = self.state
            self.state = State.model_validate_json(snapshot)
            try:
                yield
            finally:
                self.state = present

    def _restore(self) -> None:
        if self._saved and self.state.model_dump_json() != self._saved:
            self.state = State.model_validate_json(self._saved)

    def now(self) -> datetime:
        """GitHub's time, UTC, in whole seconds as its API writes it."""
        offset = timedelta(seconds=self.state.clock_offset_s)
        return (datetime.now(UTC) + offset).replace(microsecond=0)

    def new_id(self) -> int:
        """A number nothing else has."""
        self.state.next_id += 1
        return self.state.next_id

    def new_run_id(self) -> int:
        """Run ids start at the epoch in milliseconds of the first start, so that no two directories share them."""
        self.state.next_run_id += 1
        return self.state.next_run_id

    def log_file(self, job_id: int) -> Path:
        """Where a job's log lies."""
        return self.directory / "logs" / f"{job_id}.txt"

    def body_file(self, guid: str) -> Path:
        """Where a webhook's body lies."""
        return self.directory / "bodies" / f"{guid}.json"

    def git_dir(self, repo_id: int) -> Path:
        """Where a bare repository lies."""
        return self.directory / "git" / f"{repo_id}.git"


class Turn:
    """A turn under way."""

    failed = False

    def fail(self) -> None:
        """Undo everything this turn changed in the document."""
        self.failed = True
