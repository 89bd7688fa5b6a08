"""`Artifacts` over fsspec: big texts under their own digest, on disk by default, elsewhere by URL.

Putting twice is safe: the name is the content's digest, and an object that is there already is left alone.
"""

import asyncio
import hashlib
import os
import posixpath
import re
import tempfile
from pathlib import Path

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from sweeper.errors import BadInput, Bug, NotFound
from sweeper.model import ArtifactRef

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


class FileArtifacts:
    """A store at an fsspec URL (`file:///...`, `memory://...`, `s3://...`); a bare path is a local directory.

    On disk: directories 0700, files 0600, written beside and renamed, so a name always means whole content.
    """

    def __init__(self, url: str) -> None:
        try:
            self._files, self._root = url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise BadInput(f"The artefact store {url!r} cannot be used: {error}; give a file:// URL") from error

    async def put(self, data: bytes) -> ArtifactRef:
        """Store already redacted bytes."""
        ref = ArtifactRef(digest=f"sha256:{hashlib.sha256(data).hexdigest()}", size=len(data))
        await asyncio.to_thread(self._write, self._place(ref), data)
        return ref

    async def get(self, ref: ArtifactRef) -> bytes:
        """The bytes of a digest. Raises NotFound, or Bug if they were changed behind our back."""
        data = await asyncio.to_thread(self._read, self._place(ref))
        if data is None:
            raise NotFound(
                f"The artefact {ref.digest} is not in the store any more; run the sweep again to make it anew"
            )
        if f"sha256:{hashlib.sha256(data).hexdigest()}" != ref.digest:
            raise Bug(f"The artefact {ref.digest} does not have that digest; remove the damaged file and run again")
        return data

    def _place(self, ref: ArtifactRef) -> str:
        match = _DIGEST.fullmatch(ref.digest)
        if match is None:
            raise BadInput(f"{ref.digest!r} is not a digest; expected sha256:<64 hex digits>")
        name = match[1]
        return posixpath.join(self._root, "sha256", name[:2], name)

    def _write(self, place: str, data: bytes) -> None:
        if isinstance(self._files, LocalFileSystem):
            _write_file(Path(self._root), Path(place), data)
        elif not self._files.exists(place):
            self._files.makedirs(posixpath.dirname(place), exist_ok=True)
            self._files.pipe_file(place, data)

    def _read(self, place: str) -> bytes | None:
        try:
            return bytes(self._files.cat_file(place))
        except FileNotFoundError:
            return None


def _write_file(root: Path, place: Path, data: bytes) -> None:
    if place.exists():
        return
    for directory in (root, place.parents[1], place.parent):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, beside = tempfile.mkstemp(dir=place.parent, prefix=".new-")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(place)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
