"""A journal's objects as one file for another host: a git bundle (gitformat-bundle(5)) of all that the base lacks.

A bundle is taken in twice: first beside the mirror, where git checks every object and link and our own code checks
the chain of actions; then, whole, into the mirror. One that is damaged or another's leaves nothing there.
"""

import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sweeper.errors import BadInput, Bug, SweeperError, Transient
from sweeper.model.journal import JournalRef
from worktrees.journal_log import Log, is_action
from worktrees.mirror import HeldMirror
from worktrees.names import commit_id, record_ref

_FIRST = b"# v2 git bundle\n"
_MOST_HEADER = 8
_NEEDED = re.compile(r"-([0-9a-f]{40})(?: .*)?")
_OFFERED = re.compile(r"([0-9a-f]{40}) (refs/.+)")
_FULL = re.compile("no space left on device|disk quota exceeded", re.IGNORECASE)


def patch_ref(journal: JournalRef) -> str:
    """Where the commit is kept that a journal ended in: beside the journal, and removed with it."""
    return f"{journal.ref}.patch"


def pack(mirror: HeldMirror, journal: JournalRef, commit: str) -> bytes:
    """A bundle of a tip, or of a patch and the journal it came from. Raises NotFound (`commit`, `base`)."""
    mirror.require(journal.base)
    refs = {journal.ref: commit}
    if not is_action(mirror, commit):
        at = mirror.read_ref(record_ref(journal.ref))
        refs = {patch_ref(journal): commit, **({journal.ref: at} if at else {})}
    head = f"-{journal.base} \n" + "".join(f"{tip} {ref}\n" for ref, tip in refs.items())
    asked = "".join(f"{tip}\n" for tip in refs.values()) + f"^{journal.base}\n"
    options = ("--revs", "--thin", "--stdout", "--threads=1", "--delta-base-offset", "-q")
    return _FIRST + head.encode() + b"\n" + mirror.ask("pack-objects", *options, stdin=asked.encode()).stdout


def unpack(mirror: HeldMirror, journal: JournalRef, commit: str, bundle: bytes) -> Mapping[str, str]:
    """Have its objects in the mirror; the refs that are left to set, by name. Twice is a no-op.

    Raises Bug for what is no whole bundle of that commit and journal, NotFound without `base`.
    """
    mirror.require(journal.base)
    refs, objects = _taken_apart(journal, commit_id(commit), bundle)
    with tempfile.TemporaryDirectory(dir=mirror.path, prefix="bundle-") as place:
        env = {
            "GIT_OBJECT_DIRECTORY": str(Path(place, "objects")),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(mirror.path / "objects"),
        }
        Path(place, "objects").mkdir()
        beside = replace(mirror, env={**mirror.env, **env})
        _take_in(beside, objects)
        _check(beside, journal, refs)
    _take_in(mirror, objects)
    return {ref: tip for ref, tip in refs.items() if _is_to_set(mirror, ref, tip, is_asked_for=tip == commit)}


def _is_to_set(mirror: HeldMirror, ref: str, tip: str, *, is_asked_for: bool) -> bool:
    """Not a journal that is further on here, and none of those that only came along with a patch, if there is one."""
    at = mirror.read_ref(ref)
    if at is None or not is_asked_for:
        return at is None
    is_further_on = mirror.ask("merge-base", "--is-ancestor", tip, at, accept=(0, 1, 128))  # 128: `at` itself is lost
    return is_further_on.exit_code != 0


def _taken_apart(journal: JournalRef, commit: str, bundle: bytes) -> tuple[dict[str, str], bytes]:
    """The refs it offers and its pack. Only what `pack` writes is accepted."""
    header, blank, objects = bundle.partition(b"\n\n")
    lines = header.decode("utf-8", "replace").split("\n")
    if not blank or lines[0].encode() + b"\n" != _FIRST or len(lines) > _MOST_HEADER:
        raise Bug(f"What was kept of {journal.ref} is no git bundle; begin the attempt again.")
    needed = {found[1] for line in lines[1:] if (found := _NEEDED.fullmatch(line))}
    refs = {found[2]: found[1] for line in lines[1:] if (found := _OFFERED.fullmatch(line))}
    is_ours = needed == {journal.base} and all(_is_ours(journal, ref) for ref in refs)
    if not is_ours or commit not in refs.values() or len(lines) != 1 + len(needed) + len(refs):
        raise Bug(f"The bundle is not one of {commit} in {journal.ref} on {journal.base}; begin the attempt again.")
    return refs, objects


def _is_ours(journal: JournalRef, ref: str) -> bool:
    """Who wants nothing but a patch may not know the journal it came from."""
    try:
        record_ref(ref)
    except BadInput:
        return False
    return not journal.sweep or ref in (journal.ref, patch_ref(journal))


def _take_in(mirror: HeldMirror, objects: bytes) -> None:
    """Strictly: git writes a commit after all that it needs, so that being killed leaves none that lacks something."""
    answer = mirror.ask("unpack-objects", "-q", "--strict", stdin=objects, accept=(0, 1, 128))
    if _FULL.search(answer.stderr):
        raise Transient("The state directory's disk is full; free some space, it is tried again.")
    if answer.exit_code != 0:
        said = " ".join(answer.stderr.split())[-200:]
        raise Bug(f"The bundle's objects are damaged ({said}); begin the attempt again.")


def _check(mirror: HeldMirror, journal: JournalRef, refs: Mapping[str, str]) -> None:
    """Each ref's commit is there with all that it has; this journal's is a chain of actions."""
    try:
        for commit in refs.values():
            mirror.ask("rev-list", "--objects", "--quiet", commit, f"^{journal.base}")
        if refs.get(journal.ref) and patch_ref(journal) not in refs:
            Log.load(mirror, journal, refs[journal.ref]).entries(refs[journal.ref])
    except Transient:
        raise
    except SweeperError as error:
        raise Bug(f"The bundle lacks some of what it is for ({error}); begin the attempt again.") from None
