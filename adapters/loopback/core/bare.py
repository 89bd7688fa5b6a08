"""A bare repository: the truth about refs, shas and merges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from adapters.loopback.core.git import GitFailed, GitResult, git

ZERO = "0" * 40
_CONFIG = """
[http]
\treceivepack = true
[uploadpack]
\tallowAnySHA1InWant = true
\tallowFilter = true
[receive]
\thideRefs = refs/pull
\tautogc = false
[gc]
\tauto = 0
"""
_COMMIT_FORMAT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"


@dataclass(frozen=True)
class Person:
    """Who made a commit, and when."""

    name: str
    email: str
    date: str


@dataclass(frozen=True)
class Commit:
    """A commit as git shows it."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str

    @property
    def subject(self) -> str:
        """First line of the message."""
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True)
class CommitText:
    """What a new commit says. `author` None: GitHub itself."""

    message: str
    when: datetime
    author: tuple[str, str] | None = None

    def environment(self) -> dict[str, str]:
        """Dates and author for git."""
        date = str(int(self.when.timestamp())) + " +0000"
        found = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        if self.author:
            found |= {"GIT_AUTHOR_NAME": self.author[0], "GIT_AUTHOR_EMAIL": self.author[1]}
        return found


class Bare:
    """One bare repository on disk. Every method raises GitFailed when git fails in a way it does not name."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def run(self, *args: str, stdin: bytes | None = None, ok: tuple[int, ...] = (0,)) -> GitResult:
        """Run git in this repository."""
        return await git(args, cwd=self.path, stdin=stdin, ok=ok)

    async def create(self) -> None:
        """An empty repository, set up for the git door."""
        self.path.mkdir(parents=True)
        await self.run("init", "--quiet", "--bare", "--initial-branch=main", ".")
        self.configure()

    async def clone(self, source: str, config_file: Path) -> None:
        """A copy of `source`, through git's own transport so that nothing is shared with it.

        `config_file` marks the source as safe for the child git, which drops every other form of configuration;
        a repository of another user would be refused otherwise.
        """
        config_file.write_text("[safe]\n\tdirectory = *\n")
        await git(
            ["clone", "--quiet", "--bare", "--no-local", "--", source, str(self.path)],
            cwd=self.path.parent,
            env={"GIT_CONFIG_GLOBAL": str(config_file)},
        )
        await self.run("remote", "remove", "origin")
        self.configure()

    def configure(self) -> None:
        """Settings of the git door: any sha may be fetched, nobody pushes refs/pull."""
        with (self.path / "config").open("a") as config:
            config.write(_CONFIG)

    async def head_branch(self) -> str | None:
        """The branch HEAD names; None when it is detached."""
        found = await self.run("symbolic-ref", "--quiet", "--short", "HEAD", ok=(0, 1))
        return found.text or None

    async def set_head(self, branch: str) -> None:
        """Make `branch` the default branch."""
        await self.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")

    async def refs(self, prefix: str = "refs/heads/") -> dict[str, str]:
        """Full ref name to sha."""
        found = await self.run("for-each-ref", "--format=%(refname) %(objectname)", prefix)
        return {name: sha for name, _, sha in (line.partition(" ") for line in found.text.splitlines())}

    async def branches(self) -> dict[str, str]:
        """Branch name to sha."""
        return {ref.removeprefix("refs/heads/"): sha for ref, sha in (await self.refs()).items()}

    async def resolve(self, rev: str) -> str | None:
        """The commit `rev` names; None if there is none."""
        found = await self.run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}", ok=(0, 1, 128)
        )
        return found.text if found.code == 0 else None

    async def branch(self, name: str) -> str | None:
        """The head of a branch; None if there is none."""
        return await self.resolve(f"refs/heads/{name}")

    async def valid_branch_name(self, name: str) -> bool:
        """Whether git takes the name."""
        return (await self.run("check-ref-format", f"refs/heads/{name}", ok=(0, 1))).code == 0

    async def log(self, *revs: str, limit: int = 250) -> list[Commit]:
        """Commits, newest first."""
        found = await self.run("log", "-z", f"--max-count={limit}", f"--format={_COMMIT_FORMAT}%x00", *revs, "--")
        fields = found.out.decode(errors="replace").split("\0")
        return [_commit(fields[at : at + 10]) for at in range(0, len(fields) - 10, 11)]

    async def commit(self, sha: str) -> Commit:
        """One commit."""
        return (await self.log(sha, limit=1))[0]

    async def count(self, *revs: str) -> int:
        """How many commits a range has."""
        return int((await self.run("rev-list", "--count", *revs, "--")).text)

    async def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `newer` contains `older`."""
        return (await self.run("merge-base", "--is-ancestor", older, newer, ok=(0, 1))).code == 0

    async def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor; None for unrelated histories."""
        return (await self.run("merge-base", one, other, ok=(0, 1))).text or None

    async def merge_tree(self, base: str, head: str) -> str | None:
        """The tree of merging `head` into `base`; None on a conflict."""
        found = await self.run("merge-tree", "--write-tree", "--no-messages", base, head, ok=(0, 1, 128))
        return found.text if found.code == 0 else None

    async def commit_tree(self, tree: str, parents: Sequence[str], text: CommitText) -> str:
        """A new commit; with the same text, tree and parents it has the same sha."""
        args = ["commit-tree", tree, *(word for parent in parents for word in ("-p", parent)), "-F", "-"]
        return (await git(args, cwd=self.path, stdin=text.message.encode(), env=text.environment())).text

    async def update_ref(self, ref: str, new: str, old: str | None = None) -> None:
        """Move a ref; with `old` only from there (ZERO: only if it does not exist)."""
        await self.run("update-ref", ref, new, *([old] if old else []))

    async def delete_ref(self, ref: str) -> None:
        """Delete a ref; one that is gone already is fine."""
        await self.run("update-ref", "-d", ref)

    async def read(self, rev: str, path: str) -> bytes | None:
        """A file's bytes; None if there is no such file at `rev`."""
        found = await self.run("cat-file", "blob", f"{rev}:{path}", ok=(0, 128))
        return found.out if found.code == 0 else None

    async def fetch(self, source: Path, ref: str, to: str) -> None:
        """Copy one ref of another repository of this GitHub."""
        await self.run("fetch", "--quiet", "--no-tags", str(source), f"+{ref}:{to}")

    async def commit_files(self, parent: str | None, files: Mapping[str, str | None], text: CommitText) -> str:
        """Commit whole files on `parent`; None deletes. A file keeps its mode, a new one is 100644."""
        index = {"GIT_INDEX_FILE": str(self.path / f"index-{parent or 'first'}")}
        try:
            await git(["read-tree", parent] if parent else ["read-tree", "--empty"], cwd=self.path, env=index)
            listed = await git(["ls-files", "-s", "-z"], cwd=self.path, env=index)
            modes = {line.split("\t", 1)[1]: line[:6] for line in listed.out.decode().split("\0") if line}
            lines = [
                await self._index_line(path, content, modes.get(path, "100644")) for path, content in files.items()
            ]
            staged = await git(["update-index", "-z", "--index-info"], cwd=self.path, env=index, stdin=b"".join(lines))
            if staged.err:  # a path outside the repository is only grumbled about
                raise GitFailed(staged)
            tree = (await git(["write-tree"], cwd=self.path, env=index)).text
        finally:
            Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
        return await self.commit_tree(tree, [parent] if parent else [], text)

    async def _index_line(self, path: str, content: str | None, mode: str) -> bytes:
        """How `update-index --index-info` is told; mode 0 takes a file away."""
        if content is None:
            return f"0 {ZERO}\t{path}\0".encode()
        blob = (await self.run("hash-object", "-w", "--stdin", stdin=content.encode())).text
        return f"{mode} {blob}\t{path}\0".encode()


def _commit(fields: Sequence[str]) -> Commit:
    sha, tree, parents, *rest, message = fields
    author, committer = Person(*rest[:3]), Person(*rest[3:])
    return Commit(sha.lstrip("\n"), tree, tuple(parents.split()), author, committer, message.rstrip("\n"))
