"""Looking into a commit without a checkout: its files, one of them, and the lines that match.

git reads objects alone: no attributes of the repository, no drivers, no links. What a name or pattern may be is held
here, and everything that comes back is bounded.
"""

import re
import time
from dataclasses import replace

from sweeper.errors import BadInput, Transient
from sweeper.model.journal import FoundFile, FoundLine
from worktrees.git import GitAnswer, GitCall
from worktrees.mirror import HeldMirror
from worktrees.names import commit_id
from worktrees.reading import read as read_by_readable_name
from worktrees.reading import readable
from worktrees.tree_edits import LITERAL, look, why_not
from worktrees.walk import TreeLimits

SEARCH_SECONDS = 20.0
LINE_CHARACTERS = 300
_MOST_OUTPUT = 4 << 20
_MOST_PATTERN = 500
_MOST_REPEATS = 10_000
_REPEAT = re.compile(r"\{(\d*),?(\d*)\}")
_BACK_REFERENCE = re.compile(r"(?<!\\)(?:\\\\)*\\[1-9]")


def files(mirror: HeldMirror, commit: str, under: str, limit: int) -> tuple[FoundFile, ...]:
    """The first files at or below a folder, in git's order. Raises NotFound (the commit), BadInput (`under`)."""
    argv = ("ls-tree", "-r", "-z", "--full-tree", commit_id(commit), "--", *_within(under))
    found = []
    for record in _asked(mirror, commit, GitCall(argv, env=LITERAL)).records()[: max(0, limit)]:
        facts, _, path = record.partition("\t")
        mode, _, blob = facts.split(" ")
        found.append((path, mode, blob))
    sizes = _sizes(mirror, [blob for _, _, blob in found])
    return tuple(
        FoundFile(path=readable(path), mode=mode, size=size) for (path, mode, _), size in zip(found, sizes, strict=True)
    )


def _sizes(mirror: HeldMirror, blobs: list[str]) -> list[int | None]:
    """None for what is not here: a submodule's commit."""
    if not blobs:
        return []
    asked = "".join(f"{blob}\n" for blob in blobs).encode()
    lines = mirror.ask("cat-file", "--batch-check=%(objecttype) %(objectsize)", stdin=asked).text.split("\n")
    return [int(line.removeprefix("blob ")) if line.startswith("blob ") else None for line in lines]


def read(mirror: HeldMirror, commit: str, path: str, limit: int) -> bytes | None:
    """A regular file's content; None if there is none of that name, or it is larger. Raises NotFound (the commit)."""
    if "\ufffd" in path:  # a name that is no text in git
        mirror.require(commit)
        return read_by_readable_name(mirror, commit, path, limit)
    if why_not(path, TreeLimits().depth):
        return None
    mirror.require(commit)
    seen = look(mirror, commit, [path]).get(path)
    if seen is None or not seen.is_regular or seen.size > limit:
        return None
    return mirror.ask("cat-file", "blob", seen.blob).stdout


def search(
    mirror: HeldMirror, commit: str, pattern: str, under: str, limit: int, seconds: float = SEARCH_SECONDS
) -> tuple[FoundLine, ...]:
    """The first lines of text files that match a POSIX extended regular expression, in git's order.

    Raises BadInput for a pattern that is none, or that takes longer than `seconds`; NotFound for the commit.
    """
    _check_pattern(pattern)
    shape = ("-I", "-n", "-z", "-E", "--no-color", "--no-textconv", "--full-name", f"--max-count={max(1, limit)}")
    argv = ("grep", *shape, "-e", pattern, commit_id(commit), "--", *_within(under))
    call = GitCall(argv, env=LITERAL, accept=(0, 1, 128), seconds=seconds, most=_MOST_OUTPUT)
    began = time.monotonic()
    try:
        answer = _asked(mirror, commit, call)
    except Transient:
        if time.monotonic() - began < seconds:
            raise
        raise BadInput(f"The search takes longer than {seconds:g} s; search for something simpler.") from None
    if answer.exit_code == 128:
        said = answer.stderr.strip().rpartition(": ")[2][:100]
        raise BadInput(f"The pattern is no POSIX extended regular expression ({said}); correct it.")
    return _lines(answer, commit, limit)


def _check_pattern(pattern: str) -> None:
    """Not what would match nothing or all, nor what makes the C library's matcher need memory without bound."""
    if not 0 < len(pattern) <= _MOST_PATTERN or "\0" in pattern or "\n" in pattern:
        raise BadInput(f"A pattern needs 1 to {_MOST_PATTERN} characters on one line.")
    repeats = 1
    for least, most in _REPEAT.findall(pattern):
        repeats *= max(1, int(least or 0), int(most or 0))
    if repeats > _MOST_REPEATS or _BACK_REFERENCE.search(pattern):
        raise BadInput("The pattern repeats too much or refers back to a group; search for something simpler.")


def _lines(answer: GitAnswer, commit: str, limit: int) -> tuple[FoundLine, ...]:
    """From `<commit>:<path> NUL <number> NUL <line> LF`; of a cut answer the last line may be in part."""
    found: list[FoundLine] = []
    rest = answer.stdout
    while rest and len(found) < limit:
        parts = rest.split(b"\0", 2)
        if len(parts) < 3:
            break
        text, _, rest = parts[2].partition(b"\n")
        path = parts[0].removeprefix(f"{commit}:".encode()).decode("utf-8", "replace")
        shown = text[: 4 * LINE_CHARACTERS].decode("utf-8", "replace").rstrip("\r")[:LINE_CHARACTERS]
        found.append(FoundLine(path=path, line=int(parts[1]), text=shown))
    return tuple(found)


def _within(under: str) -> tuple[str, ...]:
    """As a pathspec, none for the root."""
    folder = under.strip("/")
    if folder in ("", "."):
        return ()
    if reason := why_not(folder, TreeLimits().depth):
        raise BadInput(f"{folder[:200]!a} {reason}.")
    return (folder,)


def _asked(mirror: HeldMirror, commit: str, call: GitCall) -> GitAnswer:
    mirror.require(commit)
    return mirror.door.ask(replace(call, git_dir=mirror.path, holding=mirror.locks))
