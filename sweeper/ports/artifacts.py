"""The store for big texts."""

from typing import Protocol

from sweeper.model import ArtifactRef


class Artifacts(Protocol):
    """Content-addressed store for big texts. Putting the same bytes twice is one object."""

    async def put(self, data: bytes) -> ArtifactRef:
        """Store already redacted bytes."""
        ...

    async def get(self, ref: ArtifactRef) -> bytes:
        """Raises NotFound, or Bug if the bytes do not match the digest."""
        ...
