"""What may enter a git command line: full commit ids, plain names, well-formed refs; never a leading '-'.

The ref rules are those of `git check-ref-format`, held here so that a bad name is refused before any process starts.
"""

import re
from urllib.parse import urlsplit

from sweeper.errors import BadInput

ABSENT = "0" * 40
"""What git writes for "there is no such ref"."""

RECORDS = "refs/sweeper/"
"""Our refs in a mirror: `refs/sweeper/<sweep>/<...>`."""

PINS = RECORDS + "pins/"
"""One ref per commit that was asked for, so that no clean-up of git takes it from under us."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_FORBIDDEN_IN_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)")
_SCHEMES = frozenset({"http", "https", "file"})


def commit_id(text: str) -> str:
    """A full sha-1 commit id, as given. Raises BadInput for anything shorter, symbolic or decorated."""
    if not _COMMIT.fullmatch(text):
        raise BadInput(f"{_shown(text)} is not a full commit id; give all 40 hexadecimal digits.")
    return text


def workspace_name(text: str) -> str:
    """A name that is one path component, one ref component and the name of git's own administration directory."""
    if not _NAME.fullmatch(text) or ".." in text or text.endswith((".", ".lock")):
        raise BadInput(f"{_shown(text)} cannot name a workspace; use letters, digits, '.', '_' and '-', no '..'.")
    return text


def branch_ref(branch: str) -> str:
    """`refs/heads/<branch>`. Raises BadInput for what git would refuse as a branch name."""
    if branch.startswith("-") or branch == "HEAD" or not _is_ref(f"refs/heads/{branch}"):
        raise BadInput(f"{_shown(branch)} is not a valid branch name; rename the branch.")
    return f"refs/heads/{branch}"


def record_ref(ref: str) -> str:
    """A ref under `refs/sweeper/<sweep>/`. Pins are not records: nobody outside writes them."""
    if not ref.startswith(RECORDS) or ref.startswith(PINS) or ref.count("/") < 3 or not _is_ref(ref):
        raise BadInput(f"{_shown(ref)} cannot hold a record; use {RECORDS}<sweep>/<name>.")
    return ref


def remote_url(url: str) -> str:
    """An http, https or file URL without a user or password in it. Raises BadInput otherwise."""
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or "@" in parts.netloc or any(ord(char) < 33 for char in url):
        raise BadInput("A repository needs an http, https or file URL without credentials in it.")
    return url


def belongs_to(name: str, sweep: str) -> bool:
    """Whether a workspace is one of a sweep: `<sweep>` itself or `<sweep>.<something>`."""
    return name == sweep or name.startswith(f"{sweep}.")


def _is_ref(ref: str) -> bool:
    components = ref.split("/")
    well_formed = all(part and not part.startswith((".", "-")) for part in components)
    return well_formed and len(ref) <= 400 and not ref.endswith(".") and not _FORBIDDEN_IN_REF.search(ref)


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 80 else text[:77] + "...")
