"""What is recorded in a journal: its commits, read in one go, and the words an action is written down in.

An action is a commit; who asked for it stands in its trailers (git-interpret-trailers(1)). Author and date come from
the base, so the same action on the same commit is the same object, whoever repeats it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sweeper.errors import BadInput, Bug, NonDeterminism, NotFound
from sweeper.model import CommitMeta
from sweeper.model.journal import SUMMARY_CHARACTERS, AgentAction, Entry, JournalRef
from worktrees.mirror import HeldMirror
from worktrees.names import commit_id, record_ref
from worktrees.reading import readable

MOST_ENTRIES = 20_000
NAMED_PATHS = 10
"""Of an entry. A whole tree may have changed in one action."""

_FIELD_CHARACTERS = 500
_LAST_SECOND = int(datetime(9990, 1, 1, tzinfo=UTC).timestamp())
_AUTHOR = ("CI Sweeper", "ci-sweeper@localhost")
_TRAILERS = re.compile(
    r"(?P<subject>[^\n]*)\n\nSweeper-Tool: (?P<tool>[^\n]+)\nSweeper-Number: (?P<n>[0-9]+)\n"
    r"Sweeper-Action: (?P<key>[^\n]+)\nSweeper-Arguments: (?P<hash>[^\n]+)\n*"
)


def checked(action: AgentAction) -> AgentAction:
    """The action with a summary of one line. Raises BadInput for a key, tool or hash that fits in no trailer."""
    for name, text in (("key", action.key), ("tool", action.tool), ("arguments hash", action.arguments_hash)):
        if not 0 < len(text) <= _FIELD_CHARACTERS or not text.isprintable() or text != text.strip():
            raise BadInput(f"The {name} of an action needs 1 to {_FIELD_CHARACTERS} printable characters on one line.")
    words = " ".join(action.summary.split())
    plain = "".join(char if char.isprintable() else "?" for char in words)
    return action.model_copy(update={"summary": plain[:SUMMARY_CHARACTERS].strip()})


def written(action: AgentAction, n: int) -> str:
    """The message of the commit that records it."""
    return (
        f"{action.summary or action.tool}\n\nSweeper-Tool: {action.tool}\nSweeper-Number: {n}\n"
        f"Sweeper-Action: {action.key}\nSweeper-Arguments: {action.arguments_hash}\n"
    )


def _read_back(message: str) -> tuple[int, AgentAction] | None:
    found = _TRAILERS.fullmatch(message)
    if found is None:
        return None
    summary = "" if found["subject"] == found["tool"] else found["subject"]
    action = AgentAction(key=found["key"], tool=found["tool"], arguments_hash=found["hash"], summary=summary)
    return int(found["n"]), action


@dataclass(frozen=True)
class _Row:
    parents: tuple[str, ...]
    seconds: int
    record: tuple[int, AgentAction] | None


@dataclass(frozen=True)
class Log:
    """A journal at one moment. `at`: where its ref is; None if it has none. `is_lost`: that commit is not here."""

    journal: JournalRef
    at: str | None
    is_lost: bool
    _rows: Mapping[str, _Row]

    @classmethod
    def load(cls, mirror: HeldMirror, journal: JournalRef, *tips: str) -> "Log":
        """The actions that lead to the ref and to `tips`, all from `base`. Raises NotFound for a tip not here."""
        base = commit_id(journal.base)
        at = mirror.read_ref(record_ref(journal.ref))
        starts = [commit for commit in (at, *map(commit_id, tips), base) if commit]
        form = ("-z", "--format=%H%n%P%n%ct%n%B", "--no-show-signature", f"--max-count={MOST_ENTRIES}")
        listed = mirror.ask("log", "--ignore-missing", *form, *starts, f"^{base}^@", "--")
        rows = dict(_row(record) for record in listed.records())
        for commit in (base, *tips):
            if commit not in rows:
                raise NotFound(f"Commit {commit} is not on this host; fetch it, or restore it from its bundle.")
        return cls(journal, at, at is not None and at not in rows, rows)

    def entries(self, commit: str) -> tuple[Entry, ...]:
        """The actions from `base` to a commit, oldest first. Raises Bug if something else lies between them."""
        found: list[tuple[str, tuple[int, AgentAction]]] = []
        while commit != self.journal.base:
            row = self._rows.get(commit)
            if row is None or row.record is None or len(row.parents) != 1:
                raise Bug(f"{commit} is no action of {self.journal.ref} on {self.journal.base}: report this.")
            found.append((commit, row.record))
            commit = row.parents[0]
        entries = tuple(Entry(n=n, commit=commit, action=action) for commit, (n, action) in reversed(found))
        if [entry.n for entry in entries] != list(range(1, len(entries) + 1)):
            raise Bug(f"The actions of {self.journal.ref} are not numbered one by one: report this.")
        return entries

    def find(self, tip: str, action: AgentAction) -> Entry | None:
        """The action as it is recorded, at the ref or on the way to `tip`.

        Raises NonDeterminism if it is there with other arguments, or was done to another state of the files.
        """
        for commit in dict.fromkeys((tip if self.at is None or self.is_lost else self.at, tip)):
            for entry in self.entries(commit):
                if entry.action.key == action.key:
                    return self._same(entry, tip, action)
        return None

    def _same(self, entry: Entry, tip: str, action: AgentAction) -> Entry:
        then = entry.action
        if (then.arguments_hash, then.tool) != (action.arguments_hash, action.tool):
            raise NonDeterminism(
                f"{action.key} is recorded as {then.tool} {then.arguments_hash} and comes back as {action.tool}"
                f" {action.arguments_hash}; use a new key for a new action."
            )
        if self._rows[entry.commit].parents != (tip,):
            raise NonDeterminism(f"{action.key} was done elsewhere than on {tip}; use a new key for a new action.")
        return entry

    def rewinds(self, tip: str) -> bool:
        """Whether the ref holds actions that are not on the way to `tip`."""
        return self.at is not None and self.at not in self._way(tip)

    def _way(self, commit: str) -> set[str]:
        return {self.journal.base, *(entry.commit for entry in self.entries(commit))}

    def meta(self, tip: str, action: AgentAction) -> CommitMeta:
        """Of the commit that records an action on `tip`: one second younger than it."""
        seconds = max(0, min(self._rows[tip].seconds, _LAST_SECOND)) + 1
        return CommitMeta(
            message=written(action, self.number(tip)),
            name=_AUTHOR[0],
            email=_AUTHOR[1],
            date=datetime.fromtimestamp(seconds, UTC),
        )

    def number(self, tip: str) -> int:
        """Of the action that comes after `tip`."""
        return len(self.entries(tip)) + 1


def _row(record: str) -> tuple[str, _Row]:
    commit, parents, seconds, message = record.split("\n", 3)
    return commit, _Row(tuple(parents.split()), int(seconds), _read_back(message))


def is_action(mirror: HeldMirror, commit: str) -> bool:
    """Whether a commit records an action. Raises NotFound if it is not here."""
    mirror.require(commit)
    message = mirror.ask("log", "--no-walk", "--no-show-signature", "-z", "--format=%B", commit, "--").records()
    return bool(message) and _read_back(message[0]) is not None


def with_paths(mirror: HeldMirror, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries with the first of the files that each changed."""
    asked = "".join(f"{entry.commit}\n" for entry in entries).encode()
    compare = ("diff-tree", "--stdin", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv")
    records = mirror.ask(*compare, stdin=asked).records() if entries else []
    paths: dict[str, list[str]] = {entry.commit: [] for entry in entries}
    of = ""
    for record in records:
        if record in paths:
            of = record
        else:
            paths[of].append(readable(record))
    return tuple(
        entry.model_copy(update={"paths": tuple(sorted(paths[entry.commit])[:NAMED_PATHS])}) for entry in entries
    )
