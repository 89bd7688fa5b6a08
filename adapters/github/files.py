"""Files of a repository at a commit. Reads only."""

import base64
from urllib.parse import quote

from adapters.github.client import Client, Repository
from adapters.github.replies import FileReply
from sweeper.errors import Permanent


def read_file(client: Client, repository: str, path: str, commit: str) -> bytes | None:
    """Its bytes; None if there is no file of that name (a directory or a submodule is none).

    Raises Permanent for a file above 1 MB, which GitHub's contents call leaves out.
    """
    return _read(client.repository(repository), path, {"ref": commit})


def default_branch_file(client: Client, repository: str, path: str) -> bytes | None:
    """The same at the head of the default branch, whatever that is called."""
    return _read(client.repository(repository), path, {})


def _read(there: Repository, path: str, query: dict[str, str]) -> bytes | None:
    found = there.find(FileReply, f"contents/{quote(path)}", query)
    if found is None or found.type != "file":
        return None
    if found.encoding != "base64":
        raise Permanent(f"Read {path} from a checkout: GitHub gives no content for a file of {found.size} bytes.")
    return base64.b64decode(found.content)
