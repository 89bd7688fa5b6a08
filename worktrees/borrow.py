"""Taking over somebody's local repository without writing to it: its files as they lie there, as one commit elsewhere.

Objects go to the new repository only (GIT_OBJECT_DIRECTORY), the index is a temporary file, and no ref, index or
object of the source changes. Nor does an object's time: git renews it where it is about to write an object that is
there already, so the source's objects are copied first and are out of sight when files are added. History is left
behind: a fix needs the files, and a shallow source has no more anyway.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from sweeper.errors import BadInput, Permanent, SweeperError
from sweeper.model import Strict
from worktrees.git import GitAnswer, GitCall, GitDoor

_IDENTITY = ("the working copy", "working-copy@localhost.invalid")


class Borrowed(Strict):
    """The new repository: a bare one with one commit on `branch`. `is_dirty`: uncommitted changes came along."""

    path: Path
    branch: str
    commit: str
    is_dirty: bool


async def borrow(source: Path, into: Path) -> Borrowed:
    """Make `into` (must not exist) from the working tree at `source`, ignored files left out.

    Raises BadInput if `source` is missing, no repository, or has no commit; MissingTool without git.
    """
    return await asyncio.to_thread(_Borrowing(source.absolute(), into.absolute()).run)


class _Borrowing:
    def __init__(self, source: Path, into: Path) -> None:
        self._source = source
        self._into = into
        self._door = GitDoor(into.with_name(into.name + ".home"))
        self._git_dir = source

    def run(self) -> Borrowed:
        top = self._find()
        head = self._read("rev-parse", "--verify", "--quiet", "HEAD^{tree}", accept=(0, 1)).text
        if not head:
            raise BadInput(f"{self._source} has no commit yet; commit something first.")
        self._door.ask(GitCall(("init", "--quiet", "--bare", "--template=", str(self._into))))
        self._copy_objects(head)
        tree = self._tree(head, top) if top else head
        branch = self._read("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1)).text or "main"
        commit = self._commit(tree)
        self._write("update-ref", f"refs/heads/{branch}", commit)
        self._write("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        return Borrowed(path=self._into, branch=branch, commit=commit, is_dirty=tree != head)

    def _find(self) -> Path | None:
        """Where the repository is; the top of its working tree, None for a bare one."""
        if not self._source.is_dir():
            raise BadInput(f"{self._source} is no directory; give the path of a git repository.")
        asked = ("-C", str(self._source), "rev-parse", "--path-format=absolute")
        try:
            if self._is_bare():
                return None
            self._git_dir = Path(self._door.ask(GitCall((*asked, "--git-dir"), env=_TRUSTED)).text)
            return Path(self._door.ask(GitCall((*asked, "--show-toplevel"), env=_TRUSTED)).text)
        except Permanent:
            raise BadInput(
                f"{self._source} is no git repository; run `git init` and commit, or give another path."
            ) from None

    def _is_bare(self) -> bool:
        """The door lets git find no bare repository by itself, so this one is named to it."""
        if not (self._source / "HEAD").is_file():
            return False
        call = GitCall(("rev-parse", "--is-bare-repository"), git_dir=self._source, env=_TRUSTED, accept=(0, 128))
        return self._door.ask(call).text == "true"

    def _tree(self, head: str, top: Path) -> str:
        """The files as they lie there. Blobs of changed ones are written to the new repository."""
        index = self._into / "borrow.index"
        env = {"GIT_INDEX_FILE": str(index), "GIT_OBJECT_DIRECTORY": str(self._into / "objects")}
        for argv in (("read-tree", head), ("add", "--all", "--", ".")):
            self._door.ask(GitCall(("-C", str(top), *argv), git_dir=self._git_dir, work_tree=top, env=env))
        tree = self._door.ask(GitCall(("write-tree",), git_dir=self._git_dir, env=env)).text
        index.unlink()
        return tree

    def _copy_objects(self, tree: str) -> None:
        try:
            listed = self._read("rev-list", "--objects", "--no-object-names", tree)
            pack = self._door.ask(
                GitCall(("pack-objects", "--stdout", "-q"), git_dir=self._git_dir, stdin=listed.stdout)
            )
        except SweeperError as error:
            raise BadInput(f"{self._source} lacks files of its own commit ({error}); fetch them first.") from None
        self._door.ask(GitCall(("index-pack", "--stdin"), git_dir=self._into, stdin=pack.stdout))

    def _commit(self, tree: str) -> str:
        stamp = f"{int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())} +0000"
        env: dict[str, str] = {}
        for role in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{role}_NAME": _IDENTITY[0], f"GIT_{role}_EMAIL": _IDENTITY[1], f"GIT_{role}_DATE": stamp}
        call = GitCall(("commit-tree", tree), git_dir=self._into, stdin=b"The working copy as it lies there\n", env=env)
        return self._door.ask(call).text

    def _read(self, *argv: str, accept: tuple[int, ...] = (0,)) -> GitAnswer:
        return self._door.ask(GitCall(argv, git_dir=self._git_dir, accept=accept))

    def _write(self, *argv: str) -> None:
        self._door.ask(GitCall(argv, git_dir=self._into))


_TRUSTED = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
"""The person who names a path vouches for whose it is; nothing of it is run."""
