"""The `.git` that code inside the sandbox sees: one commit deep, its own pack, no way back to the mirror.

git, pre-commit and setuptools-scm need a repository to work in; the real one must stay out of reach. So each tree
gets a throw-away repository: a shallow pack of its one commit, HEAD detached there, an index that matches the files,
and the tags on that commit. It has no hooks, no alternates, no remote. git on the host never reads it.
"""

import shutil
from pathlib import Path

from worktrees.mirror import PLAIN_ATTRIBUTES, HeldMirror

_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = false
\ttrustctime = false
\tcheckStat = minimal
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
"""checkStat minimal: files change owner and are bound elsewhere after the index was written; size and mtime hold."""


def build(mirror: HeldMirror, commit: str, index: Path, target: Path) -> None:
    """Make the repository in `target`, which must not exist. `index` is the one the files were written with."""
    for directory in ("objects/pack", "objects/info", "refs/heads", "refs/tags", "info"):
        (target / directory).mkdir(mode=0o755, parents=True)
    tags = _tags_at(mirror, commit)
    _pack(mirror, [commit, *(tag for tag, _, _ in tags)], target / "objects" / "pack" / "pack")
    _write(target / "HEAD", f"{commit}\n")
    _write(target / "config", _CONFIG)
    _write(target / "info" / "attributes", PLAIN_ATTRIBUTES)
    _write(target / "packed-refs", _packed_refs(tags))
    if mirror.ask("rev-list", "--no-walk", "--parents", commit).text != commit:
        _write(target / "shallow", f"{commit}\n")
    shutil.copyfile(index, target / "index")


def _tags_at(mirror: HeldMirror, commit: str) -> list[tuple[str, str, str]]:
    """(object, commit or "", ref) of each tag on the commit; the middle is set for annotated tags."""
    form = "--format=%(objectname) %(*objectname) %(refname)"
    lines = mirror.ask("for-each-ref", form, f"--points-at={commit}", "refs/tags/").text.splitlines()
    tags = [line.split(" ", 2) for line in lines]
    return sorted(((tag, peeled, ref) for tag, peeled, ref in tags), key=lambda tag: tag[2])


def _pack(mirror: HeldMirror, objects: list[str], prefix: Path) -> None:
    """One pack of exactly these commits and tags with their trees and files; no search for new deltas."""
    wanted = mirror.ask("rev-list", "--objects", "--no-object-names", "--no-walk", *objects).stdout
    mirror.ask("pack-objects", "--quiet", "--window=0", "--delta-base-offset", str(prefix), stdin=wanted)


def _packed_refs(tags: list[tuple[str, str, str]]) -> str:
    lines = ["# pack-refs with: peeled fully-peeled sorted "]
    for tag, peeled, ref in tags:
        lines.append(f"{tag} {ref}")
        lines += [f"^{peeled}"] if peeled else []
    return "\n".join(lines) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
