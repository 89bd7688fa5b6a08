"""Which files a command changed, asked of the repository that lies in a workspace, by git inside the sandbox.

That repository is made for the workspace and never read by git outside. Its answers are as hostile as the rest of the
tree: they only ever undo changes in it, and put names into a summary.
"""

from dataclasses import dataclass

_INDEX = """\
set -e
place="$(git rev-parse --absolute-git-dir 2>/dev/null)" || exit 3
git rev-parse -q --verify HEAD >/dev/null || exit 3
export GIT_INDEX_FILE="$place/fixers-index" GIT_LITERAL_PATHSPECS=1
cd "$(git rev-parse --show-toplevel)"
test -f "$GIT_INDEX_FILE" || cp "$place/index" "$GIT_INDEX_FILE" 2>/dev/null || git read-tree HEAD
git add -A . 2>/dev/null
now="$(git write-tree)"
"""
MARK = f"""{_INDEX}
echo "$now"
test -z "$1" || git diff-tree -r --no-renames --name-only "$1" "$now"
"""
"""Prints the tree as it is now, then the files that are other than in the tree it is given. 3: no repository."""

TIDY = f"""{_INDEX}
names() {{ git diff-tree -r -z --no-renames --name-only "$@" | sort -z; }}
names "$1" "$now" >"$place/ours"
names --diff-filter=A "$2" "$1" | comm -z -23 - "$place/ours" | xargs -0 -r rm -f --
names --diff-filter=a "$2" "$1" | comm -z -23 - "$place/ours" >"$place/theirs"
test ! -s "$place/theirs" || git checkout -q "$2" --pathspec-from-file="$place/theirs" --pathspec-file-nul
"""
"""Undoes what differs between the second given tree and the first, but for what was changed since the first."""


@dataclass(frozen=True)
class Mark:
    """A state of the tree, and the files that changed since the mark before it."""

    tree: str
    changed: tuple[str, ...] = ()


def read_mark(output: bytes) -> Mark | None:
    """From what MARK printed."""
    tree, *changed = output.decode("utf-8", "replace").splitlines() or [""]
    return Mark(tree, tuple(changed)) if len(tree) in (40, 64) else None
