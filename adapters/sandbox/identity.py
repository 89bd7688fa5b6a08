"""Whose processes and files the sandbox's are on the host."""

import os
from dataclasses import dataclass

SANDBOX_UID = 61100
"""Host uid and gid of sandboxed commands when the worker is root. It lies in the range that
https://systemd.io/UIDS-GIDS/ lists as unused, so it is nobody's account."""


@dataclass(frozen=True)
class Identity:
    """Host uid and gid of the command. `switches`: they are not the worker's own, so the tree must be given to them."""

    uid: int
    gid: int
    switches: bool

    @property
    def owner(self) -> tuple[int, int] | None:
        """Who must own a workspace; None: it may stay with the worker."""
        return (self.uid, self.gid) if self.switches else None


def sandbox_identity() -> Identity:
    """Never host uid 0: mapped to nobody *inside*, a root-owned sandbox can still leave setuid-root files behind."""
    if os.geteuid() == 0:
        return Identity(uid=SANDBOX_UID, gid=SANDBOX_UID, switches=True)
    return Identity(uid=os.geteuid(), gid=os.getegid(), switches=False)
