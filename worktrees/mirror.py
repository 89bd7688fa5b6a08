"""One bare repository per GitHub repository id: where all commits of its sweeps live on this host.

One lock per mirror: shared for adding objects, exclusive for what other git processes must not see half done
(fetch, refs, adding and removing worktrees). Each git child inherits the lock's descriptor, so a child that outlives
a killed worker keeps others out. A lock file of git's own that is found under the exclusive lock is therefore a
left-over of the dead, and is removed.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from sweeper.errors import NotFound, SweeperError
from sweeper.model import GitAccess
from worktrees.durable import sync_directory
from worktrees.git import GitAnswer, GitCall, GitDoor
from worktrees.locks import locked
from worktrees.names import ABSENT, PINS, RECORDS, commit_id

FETCH_SECONDS = 1800.0
"""A first fetch may outlast its activity's timeout: it goes on, and the next try finds its result."""

PLAIN_ATTRIBUTES = "* -text !eol !ident !filter !working-tree-encoding !diff !merge\n"
"""As `info/attributes` this outranks every .gitattributes: bytes in a tree are the bytes of the blob."""

_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""


@dataclass(frozen=True)
class HeldMirror:
    """A mirror while its lock is held; the only way to run git on it. `env` is for the git processes."""

    path: Path
    door: GitDoor
    locks: tuple[int, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    def also_holding(self, lock: int) -> "HeldMirror":
        """The same, with another lock that git children keep held for as long as they live."""
        return replace(self, locks=(*self.locks, lock))

    def ask(self, *argv: str, stdin: bytes | None = None, accept: tuple[int, ...] = (0,)) -> GitAnswer:
        """Run a local git command on the mirror."""
        call = GitCall(argv, git_dir=self.path, stdin=stdin, env=self.env, accept=accept, holding=self.locks)
        return self.door.ask(call)

    def ask_remote(self, *argv: str, access: GitAccess, seconds: float) -> GitAnswer:
        """Run a git command that talks to the repository behind `access`."""
        call = GitCall(argv, git_dir=self.path, access=access, seconds=seconds, holding=self.locks)
        return self.door.ask(call)

    def has(self, commit: str) -> bool:
        """Whether that commit object is here."""
        return self.ask("cat-file", "-e", f"{commit_id(commit)}^{{commit}}", accept=(0, 1, 128)).exit_code == 0

    def require(self, commit: str) -> None:
        """Raises NotFound when the commit is not in the mirror."""
        if not self.has(commit):
            raise NotFound(f"Commit {commit} is not in the mirror of this host; fetch it first.")

    def read_ref(self, ref: str) -> str | None:
        """The commit a ref points at."""
        answer = self.ask("rev-parse", "--verify", "--quiet", ref, accept=(0, 1))
        return answer.text or None

    def pin(self, commit: str) -> None:
        """Keep a commit from git's clean-up. Twice is a no-op."""
        if self.read_ref(PINS + commit) is None:
            self.ask("update-ref", PINS + commit, commit_id(commit), ABSENT)

    def forget(self, sweep: str) -> None:
        """Delete all records of a sweep. Twice is a no-op."""
        listed = self.ask("for-each-ref", "--format=%(refname)", f"{RECORDS}{sweep}/").text.splitlines()
        if listed:
            self.ask("update-ref", "--stdin", stdin="".join(f"delete {ref}\n" for ref in listed).encode())

    def fetch(self, commits: Sequence[str], access: GitAccess) -> None:
        """Have these commits, whole, and pin them in the same step; those that are pinned cost no network.

        The pins decide, not git's exit code: a tag that cannot be followed is no reason to fail.
        """
        missing = self._unpinned(commits)
        if not missing:
            return
        wanted = [f"+{commit}:{PINS}{commit}" for commit in missing]
        options = ("--no-write-fetch-head", "--no-prune", "--no-auto-maintenance", "--update-shallow", "--quiet")
        try:
            self.ask_remote("fetch", *options, access.url, *wanted, access=access, seconds=FETCH_SECONDS)
        except SweeperError:
            if self._unpinned(missing):
                raise

    def _unpinned(self, commits: Sequence[str]) -> list[str]:
        return [commit for commit in dict.fromkeys(commits) if self.read_ref(PINS + commit_id(commit)) != commit]


class Mirror:
    """The mirror of one repository and its lock."""

    def __init__(self, root: Path, repository_id: int, door: GitDoor) -> None:
        self.path = root / "mirrors" / f"{int(repository_id)}.git"
        self._lock = self.path.with_suffix(".lock")
        self._door = door

    @property
    def exists(self) -> bool:
        """Whether anything was ever fetched for this repository."""
        return self.path.is_dir()

    @contextmanager
    def reading(self) -> Iterator[HeldMirror]:
        """Hold the shared lock: read, add objects, push. Makes the mirror if absent."""
        if not self.exists:
            with self.changing():
                pass
        with locked(self._lock, shared=True) as lock:
            yield HeldMirror(self.path, self._door, (lock,))

    @contextmanager
    def changing(self) -> Iterator[HeldMirror]:
        """Hold the exclusive lock: fetch, write refs, add and remove worktrees. Makes the mirror if absent."""
        with locked(self._lock) as lock:
            if not self.exists:
                self._make()
            _remove_left_overs(self.path)
            yield HeldMirror(self.path, self._door, (lock,))

    def _make(self) -> None:
        """Build beside and rename, so that a mirror that exists is complete."""
        beside = self.path.with_suffix(".new")
        shutil.rmtree(beside, ignore_errors=True)
        self._door.ask(GitCall(("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(beside))))
        (beside / "config").write_text(_CONFIG, encoding="utf-8")
        (beside / "info").mkdir(exist_ok=True)
        (beside / "info" / "attributes").write_text(PLAIN_ATTRIBUTES, encoding="utf-8")
        beside.rename(self.path)
        sync_directory(self.path.parent)


def _remove_left_overs(mirror: Path) -> None:
    """Lock files of dead git processes, and worktrees whose HEAD was never written: those make every fetch fail."""
    for lock in [*mirror.glob("*.lock"), *(mirror / "refs").rglob("*.lock")]:
        lock.unlink(missing_ok=True)
    for admin in mirror.glob("worktrees/*"):
        head = admin / "HEAD"
        if not head.is_file() or head.read_text(encoding="ascii", errors="replace").strip() in ("", ABSENT):
            shutil.rmtree(admin, ignore_errors=True)
