"""What GitHub shows of us, repository by repository. Reads only, so asking twice is safe."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from itertools import islice

from adapters.github.annotations import hit_time_limit
from adapters.github.auth import tokens_for
from adapters.github.checks import CHECK_NAME
from adapters.github.ci_replies import CheckRunReply, RunReply
from adapters.github.client import Client, Repository
from adapters.github.markers import Audit, Marks
from adapters.github.reach import repositories_of
from adapters.github.replies import PersonReply, PullReply, RefReply
from adapters.github.settings import GitHubAccess
from sweeper import ids
from sweeper.errors import Permanent
from sweeper.model import Instant
from sweeper.model.run import FAILING_CONCLUSIONS
from sweeper.model.upkeep import FailedRun, OpenCheck, PullTrace, Remains, RepositoryRef

LISTED_AS = ("failure", "timed_out")
"""What GitHub lists by. A run that could not even start has no job to mend and is left to its webhook."""

MOST_CANCELLED = 20
"""Cancelled runs of one look that are asked for a time limit; of those GitHub sends no other word."""

LONGEST_RUN = timedelta(days=3)
"""GitHub lists by creation, and we ask for ends: of runs begun or first tried earlier than that only webhooks tell."""


class _ListedRun(RunReply):
    """A run in a list: as of its newest attempt."""

    updated_at: Instant
    actor: PersonReply | None = None
    triggering_actor: PersonReply | None = None


class _NamedRef(RefReply):
    """A ref in a list."""

    ref: str


class GitHubInventory:
    """The Inventory port. `watched`: patterns like `owner/*` for the repositories to look at besides known ones; none:
    those that were given to an app or a bot, and of a person's token only the known ones.
    """

    def __init__(self, access: GitHubAccess, watched: Sequence[str] = ()) -> None:
        self._access = access
        self._watched = tuple(pattern.casefold() for pattern in watched)
        tokens = tokens_for(access)
        self._client = Client(access, tokens)
        self._marks = Marks(tokens, access.marker_key.get_secret_value())

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    async def repositories(self) -> tuple[RepositoryRef, ...]:
        """Where our credentials let us work, as far as the operator wants that."""
        is_named = bool(self._watched)
        found = await asyncio.to_thread(repositories_of, self._access, of_a_person=is_named)
        return tuple(filter(self._is_watched, found))

    def _is_watched(self, repository: RepositoryRef) -> bool:
        return not self._watched or any(fnmatchcase(repository.name.casefold(), pattern) for pattern in self._watched)

    async def failed_runs(self, repository: RepositoryRef, since: datetime) -> tuple[FailedRun, ...]:
        """Oldest first."""
        return await asyncio.to_thread(self._failed_runs, repository, since)

    def _failed_runs(self, repository: RepositoryRef, since: datetime) -> tuple[FailedRun, ...]:
        there = self._client.repository(repository.name)
        created = f">={since - LONGEST_RUN:%Y-%m-%dT%H:%M:%SZ}"
        found: dict[int, FailedRun] = {}
        for status in LISTED_AS:
            query = {"status": status, "created": created, "exclude_pull_requests": "true"}
            for run in there.pages(_ListedRun, "actions/runs", query, within="workflow_runs"):
                # A query may be lost on the way over a rename, so each run is looked at here, too.
                if run.updated_at >= since and run.conclusion in FAILING_CONCLUSIONS:
                    found[run.id] = _failed(run)
        query = {"status": "cancelled", "created": created, "exclude_pull_requests": "true"}
        cancelled = there.pages(_ListedRun, "actions/runs", query, within="workflow_runs")
        for run in islice((run for run in cancelled if run.updated_at >= since), MOST_CANCELLED):
            if hit_time_limit(there, run):
                found[run.id] = _failed(run)
        return tuple(found[run_id] for run_id in sorted(found))

    async def remains(self, repository: RepositoryRef) -> tuple[Remains, ...]:
        """One for each sweep that has an open pull request of ours or a branch in our namespace."""
        return await asyncio.to_thread(self._remains, repository)

    def _remains(self, repository: RepositoryRef) -> tuple[Remains, ...]:
        there = self._client.repository(repository.name)
        branches = dict(self._branches(there))
        pulls: dict[str, list[PullTrace]] = defaultdict(list)
        for sweep, pull in self._pulls(there, repository):
            pulls[sweep].append(pull)
        return tuple(
            Remains(sweep=sweep, repository=repository, pulls=tuple(pulls[sweep]), branch_sha=branches.get(sweep))
            for sweep in sorted(branches.keys() | pulls.keys())
        )

    def _branches(self, there: Repository) -> Iterator[tuple[str, str]]:
        for found in there.pages(_NamedRef, f"git/matching-refs/heads/{ids.BRANCH_PREFIX}"):
            sweep = ids.sweep_id_of_branch(found.ref.removeprefix("refs/heads/"))
            if sweep is not None:
                yield sweep, found.object.sha

    def _pulls(self, there: Repository, repository: RepositoryRef) -> Iterator[tuple[str, PullTrace]]:
        """By the signed marker: a name of ours on somebody else's pull request says nothing."""
        audit = Audit()
        for pull in there.pages(PullReply, "pulls", {"state": "open"}):
            is_open_here = pull.state == "open" and pull.base.repo is not None and pull.base.repo.id == repository.id
            key = self._marks.key_of(pull, repository.id, audit) if is_open_here else None
            sweep = ids.sweep_of_effect(key) if key else None
            if sweep is not None:
                yield sweep, PullTrace(number=pull.number, branch=pull.head.ref, head_sha=pull.head.sha)

    async def open_checks(self, repository: RepositoryRef, sweep: str, commits: Sequence[str]) -> tuple[OpenCheck, ...]:
        """Those of our name and app that stand for this sweep and are not completed."""
        return await asyncio.to_thread(self._open_checks, repository, sweep, commits)

    def _open_checks(self, repository: RepositoryRef, sweep: str, commits: Sequence[str]) -> tuple[OpenCheck, ...]:
        there = self._client.repository(repository.name)
        return tuple(OpenCheck(sha=commit) for commit in commits if self._has_open_check(there, sweep, commit))

    def _has_open_check(self, there: Repository, sweep: str, commit: str) -> bool:
        query = {"check_name": CHECK_NAME, "filter": "all"}
        checks = there.pages(CheckRunReply, f"commits/{commit}/check-runs", query, within="check_runs")
        try:
            return any(self._is_ours(check, sweep) and check.status != "completed" for check in checks)
        except Permanent:  # the commit is gone from GitHub, and with it whatever was said of it
            return False

    def _is_ours(self, check: CheckRunReply, sweep: str) -> bool:
        app_id = self._client.tokens.app_id
        same_app = app_id is None or (check.app is not None and check.app.id == app_id)
        return same_app and check.name == CHECK_NAME and check.external_id == sweep


def _failed(run: _ListedRun) -> FailedRun:
    actor = run.triggering_actor or run.actor
    return FailedRun(
        run=run.ref,
        conclusion=run.conclusion or "",
        head_sha=run.head_sha,
        head_branch=run.head_branch,
        head_repository_id=run.head_repository.id if run.head_repository else None,
        actor=actor.login if actor else None,
    )
