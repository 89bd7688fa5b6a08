"""Files that are either wholly there or not there, also after a power cut."""

import os
from pathlib import Path


def write_durably(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write beside `path`, fsync, rename, fsync the directory. Twice with the same bytes is the same file."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(descriptor)
    beside.replace(path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
