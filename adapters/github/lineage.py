"""On which commit of the base a merge landed, for merge commits, squashes and rebases alike."""

from collections.abc import Callable

from adapters.github.replies import CommitReply

MOST_REBASED = 100
"""GitHub rebases no longer series."""


def landed_on(merge_sha: str, head_sha: str, commits: int, read: Callable[[str], CommitReply]) -> str | None:
    """The base as it was just before; `commits`: how many the pull request had. None: it cannot be told.

    A merge commit's first parent is the base. A squash is one commit upon it. A rebase is the whole series again: its
    last commit keeps the words of the head, so the base is that many commits further down.
    """
    merged = read(merge_sha)
    if len(merged.parents) != 1:
        return merged.parents[0].sha if merged.parents else None
    is_series = 1 < commits <= MOST_REBASED and merged.commit.message == read(head_sha).commit.message
    for _ in range(commits - 1 if is_series else 0):
        merged = read(merged.parents[0].sha)
        if not merged.parents:
            return None
    return merged.parents[0].sha
