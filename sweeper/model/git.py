"""What git needs from outside and what it tells. In memory only: never in the history, a URL, a file or an argument."""

from pydantic import SecretStr

from sweeper.model.base import Instant, Strict


class GitAccess(Strict):
    """Where to fetch and push, and with what. The token is never put into a URL, a file, an argument or the history."""

    url: str
    token: SecretStr | None = None


class CommitMeta(Strict):
    """Message, author and date of a commit. All fixed by the caller, so the same tree gives the same commit."""

    message: str
    name: str
    email: str
    date: Instant


class Touched(Strict):
    """What commands did to the files of a checkout, each by path, sorted.

    `changed`: files of the commit that are other than in it, or gone; `rewritten`: written, and the same again;
    `added`: files it does not have, in folders that it has.
    """

    changed: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


class FileChange(Strict):
    """One file of a change with its content on both sides. Modes are git's (`100644`, `120000`), empty where absent.

    A content is None where the file is absent, a submodule, or larger than what was asked for (`is_cut`).
    """

    path: str
    old_path: str | None = None
    old_mode: str = ""
    new_mode: str = ""
    old: bytes | None = None
    new: bytes | None = None
    is_cut: bool = False
