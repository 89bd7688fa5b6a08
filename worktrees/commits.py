"""Commits as values: write one, describe one, diff two, merge two. Same input, same ids."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sweeper.errors import BadInput
from sweeper.model import CommitMeta, Patch
from worktrees.git import GitCall
from worktrees.mirror import HeldMirror
from worktrees.names import commit_id

SHOWN_FILES = 50
_PLAIN_DIFF = ("--no-ext-diff", "--no-textconv", "--no-renames", "--full-index")


def write_commit(mirror: HeldMirror, tree: str, parents: Sequence[str], meta: CommitMeta) -> str:
    """The id of a commit whose every byte comes from the arguments. Twice is one object."""
    if not meta.name.strip() or any(char in meta.name + meta.email for char in "<>\n\0"):
        raise BadInput("A commit needs an author name and an address without angle brackets or line ends.")
    date = f"{int(meta.date.timestamp())} +0000"
    env: dict[str, str] = {}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": meta.name, f"GIT_{role}_EMAIL": meta.email, f"GIT_{role}_DATE": date}
    argv = ("commit-tree", tree, *(word for parent in parents for word in ("-p", parent)))
    call = GitCall(argv, git_dir=mirror.path, stdin=meta.message.encode(), env=env, holding=mirror.locks)
    return mirror.door.ask(call).text


def tree_of(mirror: HeldMirror, commit: str) -> str:
    """The tree of a commit."""
    return mirror.ask("rev-parse", "--verify", "--quiet", f"{commit_id(commit)}^{{tree}}").text


def describe(mirror: HeldMirror, parent: str, commit: str) -> Patch:
    """The change between two commits in numbers.

    `patch_id` is `git patch-id --verbatim` over the full-index diff: without that it passes over blanks, and the same
    lines at another depth are another program.
    """
    changed, lines = _changed(mirror, parent, commit)
    diff = mirror.ask("diff-tree", "-p", *_PLAIN_DIFF, parent, commit).stdout
    return Patch(
        commit=commit,
        tree=tree_of(mirror, commit),
        parent=parent,
        patch_id=mirror.ask("patch-id", "--verbatim", stdin=diff).text.partition(" ")[0],
        files=tuple(_readable(path) for path in sorted(changed)[:SHOWN_FILES]),
        files_changed=len(changed),
        lines_changed=lines,
        bytes_changed=_bytes_of(mirror, list(changed.values())),
    )


def diff(mirror: HeldMirror, parent: str, commit: str) -> bytes:
    """Unified diff that `git apply` reproduces the commit's tree from, binary files included."""
    return mirror.ask("diff-tree", "-p", "--binary", *_PLAIN_DIFF, commit_id(parent), commit_id(commit)).stdout


def merge(mirror: HeldMirror, ours: str, theirs: str) -> str | None:
    """A merge commit of the two, dated by the younger one so that asking again gives the same id; None on conflict.

    Commits without a common ancestor do not merge.
    """
    for commit in (ours, theirs):
        mirror.require(commit)
    if not mirror.ask("merge-base", ours, theirs, accept=(0, 1)).text:
        return None
    merged = mirror.ask("merge-tree", "--write-tree", "--no-messages", ours, theirs, accept=(0, 1))
    if merged.exit_code == 1:
        return None
    meta = CommitMeta(
        message=f"Merge {theirs} into {ours}\n",
        name="CI Sweeper",
        email="ci-sweeper@localhost",
        date=max(_committed_at(mirror, commit) for commit in (ours, theirs)),
    )
    return write_commit(mirror, merged.text.split("\n")[0], [ours, theirs], meta)


def _committed_at(mirror: HeldMirror, commit: str) -> datetime:
    seconds = int(mirror.ask("show", "--no-patch", "--format=%ct", commit).text)
    return datetime.fromtimestamp(seconds, UTC)


def _changed(mirror: HeldMirror, parent: str, commit: str) -> tuple[dict[str, str], int]:
    """Path to its new blob ("" if deleted), and the number of added and deleted lines (a binary file has none)."""
    answer = mirror.ask("diff-tree", "-r", "-z", "--raw", "--numstat", *_PLAIN_DIFF, parent, commit)
    changed: dict[str, str] = {}
    lines = 0
    records = iter(answer.records())
    for record in records:
        if record.startswith(":"):
            _, new_mode, _, blob, _ = record.split(" ")
            changed[next(records)] = blob if new_mode.startswith("1") and new_mode != "160000" else ""
        else:
            added, deleted, _ = record.split("\t", 2)
            lines += sum(int(count) for count in (added, deleted) if count != "-")
    return changed, lines


def _bytes_of(mirror: HeldMirror, blobs: list[str]) -> int:
    asked = "".join(f"{blob}\n" for blob in blobs if blob)
    answer = mirror.ask("cat-file", "--batch-check=%(objectsize)", stdin=asked.encode())
    return sum(int(size) for size in answer.text.split())


def _readable(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
