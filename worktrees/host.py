"""The stable id of a state directory: the host part of `host-<id>` queues."""

import os
import re
from pathlib import Path

from sweeper.errors import BadInput
from worktrees.durable import write_durably
from worktrees.locks import locked

_ID = re.compile(r"[0-9a-f]{12}")


def host_id(root: Path) -> str:
    """Twelve hex digits, drawn once and kept in `root/host-id`; the same for every process that asks.

    Raises BadInput when the file holds something else: drawing a new one would orphan the sweeps of this host.
    """
    path = root / "host-id"
    with locked(root / "host-id.lock"):
        if not path.exists():
            write_durably(path, os.urandom(6).hex().encode() + b"\n")
        known = path.read_text(encoding="utf-8", errors="replace").strip()
    if not _ID.fullmatch(known):
        raise BadInput(f"{path.name} in the state directory is damaged; restore it, or delete it to start afresh.")
    return known
