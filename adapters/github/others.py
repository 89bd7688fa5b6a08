"""Open pull requests of other people: somebody may be mending it already. Reads only."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from adapters.github.checks import green_jobs
from adapters.github.client import Client, Repository
from adapters.github.markers import Audit, Marks
from adapters.github.replies import ChangedFileReply, PullReply
from sweeper import ids
from sweeper.errors import Permanent
from sweeper.model import OtherPull

MOST_PULLS = 20
MOST_SEEN = 100
"""However many of them are ours."""
MOST_FILES = 100


@dataclass(frozen=True)
class Others:
    """Pull requests that are not ours."""

    client: Client
    marks: Marks

    def open_into(self, repository: str, base: str, since: datetime | None) -> tuple[OtherPull, ...]:
        """Newest first. About two requests for each: what it touches, and what is green on its head.

        Whatever was not touched since `since`, and jobs that ended before, say nothing of a failure that began then.
        """
        there = self.client.repository(repository)
        recent = (pull for pull in self._not_ours(there, base) if not _is_before(pull.updated_at, since))
        return tuple(self._shown(there, pull, since) for pull in islice(recent, MOST_PULLS))

    def _not_ours(self, there: Repository, base: str) -> Iterator[PullReply]:
        query = {"state": "open", "base": base, "sort": "created", "direction": "desc", "per_page": "30"}
        for pull in islice(there.pages(PullReply, "pulls", query), MOST_SEEN):
            if pull.base.ref == base and pull.state == "open" and not self._is_ours(pull):
                yield pull

    def _is_ours(self, pull: PullReply) -> bool:
        """By the marker, or by a branch of our namespace in the repository itself: in a fork it is anybody's."""
        home, head = pull.base.repo, pull.head.repo
        if home is None:
            return False
        in_our_namespace = head is not None and head.id == home.id and ids.is_our_branch(pull.head.ref)
        return in_our_namespace or self.marks.key_of(pull, home.id, Audit()) is not None

    def _shown(self, there: Repository, pull: PullReply, since: datetime | None) -> OtherPull:
        files = there.pages(ChangedFileReply, f"pulls/{pull.number}/files")
        names = [name for file in islice(files, MOST_FILES) for name in (file.filename, file.previous_filename) if name]
        return OtherPull(
            number=pull.number,
            url=pull.html_url,
            head_sha=pull.head.sha,
            files=tuple(names[:MOST_FILES]),
            green_jobs=_green(there, pull.head.sha, since),
        )


def _green(there: Repository, sha: str, since: datetime | None) -> tuple[str, ...]:
    """A head that is gone from GitHub (422) has nothing green."""
    try:
        return green_jobs(there, sha, since)
    except Permanent:
        return ()


def _is_before(when: datetime | None, since: datetime | None) -> bool:
    return when is not None and since is not None and when < since
