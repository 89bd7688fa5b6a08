"""A journal on a real mirror, with people's repository behind it, and hands to look into what was recorded."""

from collections.abc import Mapping
from pathlib import Path

from sweeper.model.journal import AgentAction, FileEdit, JournalRef, Recorded
from tests.support.git_origin import GitOrigin, git
from worktrees.journal import JournalStore
from worktrees.store import WorktreeStore
from worktrees.walk import TreeLimits

REPO = 7
SWEEP = "sweep-1-1"
HOST = "here"


def an_action(n: int = 1, arguments: str = "sha256-of-arguments", summary: str = "mend it") -> AgentAction:
    """The n-th of a run."""
    return AgentAction(key=f"w/r/{n}", tool="edit", arguments_hash=arguments, summary=summary)


def edits(files: Mapping[str, str | bytes | None]) -> list[FileEdit]:
    """Files that shall be so; None: gone."""
    return [
        FileEdit(path=path, content=content.encode() if isinstance(content, str) else content)
        for path, content in files.items()
    ]


class JournalScene:
    """A host's state directory under `root`, and the origin its mirror is of."""

    def __init__(self, root: Path, origin: GitOrigin | None = None, limits: TreeLimits | None = None) -> None:
        self.state = root / "state"
        self.origin = origin or GitOrigin(root)
        self.workspaces = WorktreeStore(self.state, HOST)
        self.journals = JournalStore(self.state, HOST, limits=limits)

    @property
    def mirror(self) -> Path:
        return self.state / "mirrors" / f"{REPO}.git"

    async def begin(self, files: Mapping[str, str | bytes | None] | None = None) -> JournalRef:
        """An empty journal on a commit with these files."""
        return await self.have(self.origin.commit(files if files is not None else {"a.txt": "one\n"}))

    async def have(self, commit: str) -> JournalRef:
        """An empty journal on a commit that the origin has."""
        await self.workspaces.fetch(REPO, [commit], self.origin.access)
        return JournalRef(repository_id=REPO, sweep=SWEEP, attempt=1, base=commit)

    async def change(
        self, journal: JournalRef, tip: str, files: Mapping[str, str | bytes | None], n: int = 1
    ) -> Recorded:
        """The n-th action."""
        return await self.journals.change(journal, tip, an_action(n), edits(files))

    def refs(self) -> dict[str, str]:
        """Ours, without the pins."""
        listed = git("for-each-ref", "--format=%(refname) %(objectname)", "refs/sweeper/", cwd=self.mirror)
        found = (line.split(" ") for line in listed.splitlines())
        return {ref: commit for ref, commit in found if not ref.startswith("refs/sweeper/pins/")}

    def tree(self, commit: str) -> dict[str, tuple[str, bytes]]:
        """Mode and content of every file."""
        found = {}
        for record in git("ls-tree", "-r", "-z", commit, cwd=self.mirror).split("\0"):
            if record:
                facts, _, path = record.partition("\t")
                mode, kind, blob = facts.split(" ")
                found[path] = (mode, self.blob(blob) if kind == "blob" else b"")
        return found

    def blob(self, name: str) -> bytes:
        """Byte for byte."""
        size = int(git("cat-file", "-s", name, cwd=self.mirror))
        text = git("cat-file", "--batch", cwd=self.mirror, stdin=f"{name}\n".encode())
        return text.encode("utf-8", "surrogateescape").partition(b"\n")[2].ljust(size, b"\n")[:size]

    def objects(self) -> set[str]:
        """Of every object in the mirror, reachable or not, the id."""
        form = "--batch-check=%(objectname)"
        return set(git("cat-file", "--batch-all-objects", form, cwd=self.mirror).splitlines())
