"""What an agent left, and all that must hold of it whoever the agent was."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sweeper.model import FileChange, Finding, FixReport, Patch, Severity
from tests.security.agents.case import BREACH, OVER, TOKEN, Hostile
from tests.security.agents.host import LISTED
from tests.support.markdown_reading import acts

_MORE = re.compile(r"\(and (\d+) more\)$")
HONEST_EDIT = "app.py"


@dataclass
class Left:
    """`host`, `mirror`: what was done to those, as sentences. `log`: the kept output. `refusal`: of its tree.

    `tree`: each entry as it lay there. `told`: the words on it in a proposal. `remains`: what was still there after
    its sweep's end. `alive`: processes of it after it had returned. `after`: what a next run sees that it should not.
    """

    case: Hostile
    report: FixReport
    log: bytes = b""
    host: tuple[str, ...] = ()
    mirror: tuple[str, ...] = ()
    canaries: Sequence[str] = ()
    alive: Sequence[int] = ()
    tree: dict[str, os.stat_result] = field(default_factory=dict)
    refusal: str = ""
    patch: Patch | None = None
    changes: tuple[FileChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    told: str = ""
    after: str = ""
    remains: tuple[str, ...] = ()
    door: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """What became of it, in one line."""
        stopped = f", stopped by the {self.case.stopped_by} limit" if self.case.stopped_by else ""
        found = ", ".join(sorted({finding.name for finding in self.findings if finding.severity is Severity.REJECT}))
        patch = "no change" if self.patch is None else f"rejected: {found}" if found else "an honest change is left"
        tree = f"its tree was refused: {self.refusal}" if self.refusal else patch
        return f"it ended as {self.report.outcome.value}{stopped}; {tree}"[:240]

    def wrongs(self) -> list[str]:
        """A sentence for each thing that must not be; empty: it was contained."""
        looks = (_ended, _got_out, _stayed, _secrets, _tree, _patch, _words, *self.case.looks)
        return [wrong for look in looks for wrong in look(self)]


def _ended(left: Left) -> Iterator[str]:
    case, report = left.case, left.report
    if report.outcome not in case.ends:
        yield f"it ended as {report.outcome} ({report.exit_code}): {report.summary[-200:]}"
    if case.stopped_by and f"stopped by the {case.stopped_by} limit" not in report.summary:
        yield f"the {case.stopped_by} limit did not stop it: {report.summary[-200:]}"
    if case.gets_through and OVER.encode() not in left.log:
        yield f"it did not come to its end, so nothing is known: {left.log[-300:]!r}"


def _got_out(left: Left) -> Iterator[str]:
    for line in left.log.decode("utf-8", "replace").splitlines():
        if line.startswith(BREACH):
            yield f"it says: {line[:200]}"
    yield from left.host
    yield from left.mirror
    yield from left.door


def _stayed(left: Left) -> Iterator[str]:
    if left.alive:
        yield f"{len(left.alive)} of its processes are alive"
    yield from left.remains
    if left.after:
        yield f"the next run sees {left.after[:300]}"


def _secrets(left: Left) -> Iterator[str]:
    contents = [change.new or b"" for change in left.changes]
    kept = b"\n".join([left.log, left.report.model_dump_json().encode(), left.told.encode(), *contents])
    for canary in left.canaries:
        if canary.encode() in kept:
            yield f"it brought back {canary.rpartition(' ')[0]}"
    for secret in (LISTED, TOKEN):
        if secret.encode() in b"\n".join([left.log, left.report.model_dump_json().encode(), left.told.encode()]):
            yield "a secret stands in its log or report"


def _tree(left: Left) -> Iterator[str]:
    for path, facts in left.tree.items():
        if stat.S_ISCHR(facts.st_mode) or stat.S_ISBLK(facts.st_mode):
            yield f"it made a device: {path!a}"
        if facts.st_mode & (stat.S_ISUID | stat.S_ISGID) and 0 in (facts.st_uid, facts.st_gid):
            yield f"it made a program that runs as root: {path!a}"


def _patch(left: Left) -> Iterator[str]:
    case = left.case
    if case.refused or left.refusal:
        if not case.refused or case.refused not in left.refusal:
            yield f"its tree was answered so: {left.refusal or 'taken'}"
        return
    named = {finding.place.rpartition(":")[0] or finding.place for finding in left.findings}
    named |= {finding.place for finding in left.findings}
    silent = [change.path for change in left.changes if change.path not in (*named, *case.edits, HONEST_EDIT)]
    unnamed = sum(int(more[1]) for finding in left.findings if (more := _MORE.search(finding.detail)))
    if len(silent) > unnamed and "files" not in named:
        yield f"these came into the patch silently: {silent!a}"
    for path, name in case.found.items():
        if not any(finding.name == name and finding.place.startswith(path) for finding in left.findings):
            yield f"{path} was not found to be {name}: {[(f.name, f.place) for f in left.findings]}"
    if any(change.new_mode not in ("", "100644", "100755", "120000") for change in left.changes):
        yield "a mode came into the patch that git does not give to files"


def _words(left: Left) -> Iterator[str]:
    if found := acts(left.told):
        yield f"in the proposal its words are not dead: {sorted(found)}"


def entries(tree: Path) -> dict[str, os.stat_result]:
    """Everything below a directory, links not followed; a path may be longer than any call would take."""
    found = {}
    top = os.fsencode(tree)
    for folder, folders, files, descriptor in os.fwalk(top):
        for name in (*folders, *files):
            path = folder[len(top) + 1 :] + b"/" + name
            found[os.fsdecode(path.lstrip(b"/"))] = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    return found
