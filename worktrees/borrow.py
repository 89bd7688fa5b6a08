"""Taking over somebody's local repository without writing to it: its files as they lie there, as one commit elsewhere.

Objects go to the new repository only (GIT_OBJECT_DIRECTORY), the index is a temporary file, and no ref, index or
object of the source changes. History is left behind: a fix needs the files, and a shallow source has no more anyway.
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
        self._objects = source

    def run(self) -> Borrowed:
        top = self._find()
        head = self._read("rev-parse", "--verify", "--quiet", "HEAD^{tree}", accept=(0, 1)).text
        if not head:
            raise BadInput(f"{self._source} has no commit yet; commit something first.")
        self._door.ask(GitCall(("init", "--quiet", "--bare", "--template=", str(self._into))))
        tree = self._tree(head, top) if top else head
        self._copy_objects(tree)
        branch = self._read("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1)).text or "main"
        commit = self._commit(tree)
        self._write("update-ref", f"refs/heads/{branch}", commit)
        self._write("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        return Borrowed(path=self._into, branch=branch, commit=commit, is_dirty=tree != head)

    def _find(self) -> Path | None:
        """Where the repository is; the top of its working tree, None for a bare one."""
        if not self._source.is_dir():
            raise BadInput(f"{self._source} is no directory; give the path of a git repository.")
        asked = ("-C", str(self._source), "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
        try:
            lines = self._door.ask(GitCall((*asked, "--is-bare-repository"), env=_TRUSTED)).text.splitlines()
            top = None
            if lines[2] != "true":
                top = Path(self._door.ask(GitCall((*asked[:3], "--show-toplevel"), env=_TRUSTED)).text)
        except Permanent:
            raise BadInput(
                f"{self._source} is no git repository; run `git init` and commit, or give another path."
            ) from None
        self._git_dir, self._objects = Path(lines[0]), Path(lines[1]) / "objects"
        return top

    def _tree(self, head: str, top: Path) -> str:
        """The files as they lie there. Blobs of changed ones are written to the new repository."""
        index = self._into / "borrow.index"
        env = {"GIT_INDEX_FILE": str(index), **self._new_objects()}
        for argv in (("read-tree", head), ("add", "--all", "--", ".")):
            self._door.ask(GitCall(("-C", str(top), *argv), git_dir=self._git_dir, work_tree=top, env=env))
        tree = self._door.ask(GitCall(("write-tree",), git_dir=self._git_dir, env=env)).text
        index.unlink()
        return tree

    def _new_objects(self) -> dict[str, str]:
        return {
            "GIT_OBJECT_DIRECTORY": str(self._into / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self._objects),
        }

    def _copy_objects(self, tree: str) -> None:
        env = self._new_objects()
        try:
            listed = self._door.ask(
                GitCall(("rev-list", "--objects", "--no-object-names", tree), git_dir=self._git_dir, env=env)
            )
            pack = self._door.ask(
                GitCall(("pack-objects", "--stdout", "-q"), git_dir=self._git_dir, env=env, stdin=listed.stdout)
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
