"""What was fetched, kept on disk: content under its own digest, and for each address a small entry that names it.

Both appear whole or not at all (written beside, synced, renamed), so a process killed in the middle leaves nothing that
is served. Content is hashed again before it is handed out. Keeping twice is safe: the same bytes are the same file, and
the newer entry wins.
"""

import contextlib
import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from sweeper.model import Strict

_DRAFT = ".new-"
_CHUNK = 1 << 20
CACHE_BYTES = 20 << 30
ABSENT = 404


class Entry(Strict):
    """What is known of an address. `url`: where it was found, after redirects; `digest` None: the registry has none."""

    key: str
    url: str
    status: int = 200
    digest: str | None = None
    size: int = 0
    content_type: str = "application/octet-stream"
    fetched_at: float = 0.0


@dataclass(frozen=True)
class Kept:
    """An entry with its verified content, to be closed; `file` None where the registry has nothing."""

    entry: Entry
    file: BinaryIO | None = None

    def close(self) -> None:
        """Give the file back. Twice is a no-op."""
        if self.file is not None:
            self.file.close()


class Draft:
    """Content on its way in. It is nothing until it is taken; `discard` afterwards is a no-op."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._file = os.fdopen(descriptor, "wb")
        self._hash = hashlib.sha256()
        self._path = path
        self.size = 0

    def write(self, chunk: bytes) -> None:
        """Add to it."""
        self._file.write(chunk)
        self._hash.update(chunk)
        self.size += len(chunk)

    @property
    def digest(self) -> str:
        """SHA-256 of what was written so far, in hex."""
        return self._hash.hexdigest()

    def move(self, place: Path) -> None:
        """Whole and synced to the disk, under its final name."""
        with self._file:
            self._file.flush()
            os.fsync(self._file.fileno())
        place.parent.mkdir(mode=0o700, exist_ok=True)
        self._path.replace(place)

    def discard(self) -> None:
        """Take it away unless it was moved."""
        self._file.close()
        self._path.unlink(missing_ok=True)


class DownloadStore:
    """The cache's files below `place`, for this user alone. All methods block; call them in a thread."""

    def __init__(self, place: Path) -> None:
        self._objects, self._entries = place / "objects", place / "entries"
        for directory in (place, self._objects, self._entries):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._remove_left_over()

    def look(self, key: str) -> Kept | None:
        """What is kept for an address. Whatever is damaged is taken away and counts as never kept."""
        place = self._entry_file(key)
        try:
            entry = Entry.model_validate_json(place.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError):
            place.unlink(missing_ok=True)
            return None
        if entry.key != key:
            return None
        if entry.digest is None:
            return Kept(entry)
        if (file := self._open(entry.digest, entry.size)) is not None:
            return Kept(entry, file)
        place.unlink(missing_ok=True)
        return None

    def draft(self) -> Draft:
        """Room for content that is coming in."""
        return self._draft_in(self._objects)

    def take(self, draft: Draft, entry: Entry) -> None:
        """Keep the content and remember that this address gives it."""
        digest, size = draft.digest, draft.size
        draft.move(self._object_file(digest))
        self.keep(entry.model_copy(update={"digest": digest, "size": size}))

    def keep(self, entry: Entry) -> None:
        """Remember what an address gives; its content, if it has any, has to be there."""
        draft = self._draft_in(self._entries)
        try:
            draft.write(entry.model_dump_json().encode())
            draft.move(self._entry_file(entry.key))
        finally:
            draft.discard()

    def trim(self, most_bytes: int = CACHE_BYTES) -> None:
        """Take away what was served longest ago while there is more than `most_bytes`; it can be fetched again."""
        kept = []
        for path in self._objects.glob("*/*"):
            with contextlib.suppress(OSError):  # another process was first
                status = path.stat()
                kept.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in kept)
        for _, size, path in sorted(kept):
            if total <= most_bytes:
                break
            path.unlink(missing_ok=True)
            total -= size

    def _draft_in(self, directory: Path) -> Draft:
        descriptor, name = tempfile.mkstemp(prefix=f"{_DRAFT}{os.getpid()}-", dir=directory)
        return Draft(descriptor, Path(name))

    def _open(self, digest: str, size: int) -> BinaryIO | None:
        place = self._object_file(digest)
        try:
            file = place.open("rb")
        except OSError:
            return None
        seen, read = hashlib.sha256(), 0
        while chunk := file.read(_CHUNK):
            seen.update(chunk)
            read += len(chunk)
        if (seen.hexdigest(), read) == (digest, size):
            file.seek(0)
            with contextlib.suppress(OSError):
                os.utime(place)  # for `trim`: it is in use
            return file
        file.close()
        place.unlink(missing_ok=True)
        return None

    def _object_file(self, digest: str) -> Path:
        return self._objects / digest[:2] / digest

    def _entry_file(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._entries / name[:2] / f"{name}.json"

    def _remove_left_over(self) -> None:
        for directory in (self._objects, self._entries):
            for left in directory.glob(f"{_DRAFT}*"):
                owner = left.name.removeprefix(_DRAFT).partition("-")[0]
                if not Path("/proc", owner).exists():
                    left.unlink(missing_ok=True)
