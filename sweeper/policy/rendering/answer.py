"""What a reviewer's word will do."""

from datetime import timedelta


class HowToAnswer:
    """The paragraph that says what a reviewer can do. `attempts`: how many attempts the sweep may make in all."""

    def __init__(self, expires_in: timedelta, merges_itself: bool, attempts: int | None = None) -> None:
        self._expires_in = expires_in
        self._merges_itself = merges_itself
        self.attempts = attempts

    def text(self) -> str:
        """One line per possible answer."""
        approve = (
            "it is checked again against the branch as it is then, and merged"
            if self._merges_itself
            else "then merge it when you like"
        )
        return (
            "### How to answer\n\n"
            f"- **Approve** this head: {approve}.\n"
            "- **Request changes**: your text goes into one more attempt, pushed to this branch.\n"
            "- **Close**: everything of ours is cleaned up.\n"
            f"- No answer within {_span(self._expires_in)}: it closes itself and says so."
        )


def numbered(n: int, allowed: int | None) -> str:
    """An attempt, and of how many as far as that is known."""
    return f"attempt {n}" + (f" of {allowed}" if allowed else "")


def _span(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{seconds} seconds"
