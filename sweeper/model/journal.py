"""The journal: the chain of commits that records what an agent did to the files of one attempt."""

from enum import StrEnum

from sweeper.model.base import Strict, Wire

SUMMARY_CHARACTERS = 200


class JournalRef(Wire):
    """Which journal: of that attempt of that sweep, beginning at commit `base`."""

    repository_id: int
    sweep: str
    attempt: int
    base: str

    @property
    def ref(self) -> str:
        """Where its tip is recorded."""
        return f"refs/sweeper/{self.sweep}/{self.attempt}"


class AgentAction(Wire):
    """One action that changes files.

    `key`: `<workflow id>/<run id>/<activity id>`, the same over retries and unique per call. `arguments_hash`: of all
    that decides what it does. `summary`: one line for a reader.
    """

    key: str
    tool: str
    arguments_hash: str
    summary: str = ""


class Entry(Wire):
    """An action as it is recorded: the commit it made, the files it changed (at most a few are named)."""

    n: int
    commit: str
    action: AgentAction
    paths: tuple[str, ...] = ()


class RecordState(StrEnum):
    """Whether an action was done now or is answered from what an earlier try recorded."""

    CREATED = "created"
    DEDUPLICATED = "deduplicated"
    NOTHING_CHANGED = "nothing_changed"


class Recorded(Wire):
    """The journal after an action. `rewound`: it held later actions that nobody counts on any more."""

    tip: str
    state: RecordState
    entry: Entry | None = None
    rewound: bool = False


class FileEdit(Strict):
    """What a file shall be. `content` None: gone. `executable` None: as it is, or not, for a new file."""

    path: str
    content: bytes | None
    executable: bool | None = None


class FoundFile(Strict):
    """A file of a tree; `size` in bytes, None for what has none (a submodule)."""

    path: str
    mode: str
    size: int | None


class FoundLine(Strict):
    """A line that matches, cut to a readable length."""

    path: str
    line: int
    text: str
