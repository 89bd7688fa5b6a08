"""The only way out of a sandbox: to package registries, through a process of ours that remembers what it fetched."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol


class Gate(Protocol):
    """An open way out for the commands of one tree.

    Through it a command sees ordinary registries at a loopback address; credentials are added outside and never seen
    inside. Nothing else is reachable but the exact `host:port` pairs of the operator's list.
    """

    @property
    def directory(self) -> str:
        """For `SandboxRun.gate`: each socket in it, `<port>.sock`, is to be found at that port of loopback inside."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """What makes package managers use it."""
        ...

    @property
    def refused(self) -> tuple[str, ...]:
        """Each `host:port` or registry path that was asked for and not given, in order, at most a few."""
        ...


class Downloads(Protocol):
    """The shared download cache. Only this process writes it, so no command can poison it; opening twice is safe."""

    def fetching(self) -> AbstractAsyncContextManager[Gate]:
        """What is not in the cache is fetched and kept."""
        ...

    def cached(self) -> AbstractAsyncContextManager[Gate]:
        """Answers from the cache alone; nothing leaves this machine."""
        ...
