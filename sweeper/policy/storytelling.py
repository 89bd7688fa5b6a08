"""The journal as a story: one line for each action, readable without the repository."""

from collections.abc import Iterable

from sweeper.model.journal import Entry

_SHOWN_PATHS = 3


def story_lines(entries: Iterable[Entry]) -> tuple[str, ...]:
    """`<n>. <tool>: <summary> (<files>) -> <commit>`, oldest first."""
    return tuple(_line(entry) for entry in entries)


def _line(entry: Entry) -> str:
    action, more = entry.action, len(entry.paths) - _SHOWN_PATHS
    paths = ", ".join(entry.paths[:_SHOWN_PATHS]) + (f" and {more} more" if more > 0 else "")
    said = f": {action.summary}" if action.summary else ""
    where = f" ({paths})" if paths and paths not in action.summary else ""
    return f"{entry.n}. {action.tool}{said}{where} -> {entry.commit[:12]}"
