"""What GitHub says of a workflow around one failing run. Reads only, few of them: no list is read beyond one page."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from adapters.github.ci_replies import JobReply, RunReply, RunsReply
from adapters.github.client import Client, Repository
from adapters.github.replies import CompareReply
from sweeper.model import RunFacts, RunHistory
from sweeper.policy.redaction import redact_text

MOST_ATTEMPTS = 10
MOST_COMMITS = 100
LONGEST_SUBJECT = 120
_PAGE = "50"
_FAILED_JOB = frozenset({"failure", "timed_out"})
_TELLING = _FAILED_JOB | {"success"}


def read_history(client: Client, facts: RunFacts) -> RunHistory:
    """Four to nine requests, and one for each other attempt. A run that is gone has no history."""
    there = client.repository(facts.run.repository)
    newest = there.find(RunReply, f"actions/runs/{facts.run.run_id}")
    if newest is None or newest.repository.id != facts.run.repository_id:
        return RunHistory()
    look = _Look(there, facts, newest)
    green = look.last_green()
    base = facts.pull
    behind, base_head = look.behind(base.base_ref) if base else (0, None)
    return RunHistory(
        green_attempts=look.green_attempts(),
        head_failing_jobs=look.failing_jobs(look.runs({"head_sha": facts.branch_head})) if facts.branch_head else None,
        last_green=green.head_sha if green else None,
        last_green_at=green.created_at if green else None,
        commits_since=look.commits_since(green.head_sha) if green else (),
        base_failing_jobs=look.base_failing_jobs(base.base_ref) if base else None,
        behind_base=behind,
        base_head=base_head,
    )


@dataclass(frozen=True)
class _Look:
    """One run, its facts and its newest attempt."""

    there: Repository
    facts: RunFacts
    newest: RunReply

    def green_attempts(self) -> tuple[int, ...]:
        """Of the newest ten."""
        numbers = range(max(1, self.newest.run_attempt - MOST_ATTEMPTS + 1), self.newest.run_attempt + 1)
        return tuple(n for n in numbers if n != self.facts.run.run_attempt and self._is_green(n))

    def _is_green(self, attempt: int) -> bool:
        if attempt == self.newest.run_attempt:
            return self.newest.conclusion == "success"
        found = self.there.find(RunReply, f"actions/runs/{self.newest.id}/attempts/{attempt}")
        return found is not None and found.conclusion == "success"

    def runs(self, query: dict[str, str]) -> list[RunReply]:
        """Other runs of the workflow, newest first. Each is compared here too: a query may be lost over a rename."""
        path = f"actions/workflows/{self.newest.workflow_id}/runs"
        wish = {"per_page": _PAGE, "exclude_pull_requests": "true", **query}
        found = self.there.find(RunsReply, path, wish)
        others = [
            run
            for run in (found.workflow_runs if found else ())
            if run.id != self.newest.id
            and run.workflow_id == self.newest.workflow_id
            and run.head_sha == query.get("head_sha", run.head_sha)
            and run.head_branch == query.get("branch", run.head_branch)
        ]
        return sorted(others, key=lambda run: run.id, reverse=True)

    def _on_the_branch(self, runs: Iterable[RunReply]) -> list[RunReply]:
        """A fork may have a branch of the same name."""
        ours = (self.facts.head_repository_id, self.facts.head_branch)
        return [run for run in runs if run.head_repository and (run.head_repository.id, run.head_branch) == ours]

    def failing_jobs(self, runs: Iterable[RunReply], *, anywhere: bool = False) -> tuple[str, ...] | None:
        """Of the newest one that says something. A run that was cancelled or never began says nothing."""
        telling = [run for run in (runs if anywhere else self._on_the_branch(runs)) if run.conclusion in _TELLING]
        if not telling:
            return None
        if telling[0].conclusion == "success":
            return ()
        path = f"actions/runs/{telling[0].id}/attempts/{telling[0].run_attempt}/jobs"
        jobs = self.there.pages(JobReply, path, within="jobs")
        return tuple(job.name for job in jobs if job.conclusion in _FAILED_JOB) or None

    def base_failing_jobs(self, base: str) -> tuple[str, ...] | None:
        """The workflow on the pull request's target, in the run's own repository; runs of forks are none of it."""
        home = self.facts.run.repository_id
        runs = [run for run in self.runs({"branch": base}) if run.head_repository and run.head_repository.id == home]
        return self.failing_jobs(runs, anywhere=True)

    def last_green(self) -> RunReply | None:
        """The newest one that passed on this branch before this run."""
        if not self.facts.head_branch:
            return None
        query = {
            "branch": self.facts.head_branch,
            "status": "success",
            "created": f"<={self.facts.created_at:%Y-%m-%dT%H:%M:%SZ}",
        }
        earlier = [run for run in self._on_the_branch(self.runs(query)) if run.id < self.newest.id]
        return next((run for run in earlier if run.conclusion == "success"), None)

    def commits_since(self, green: str) -> tuple[str, ...]:
        """Oldest first; of very many the newest. A commit that is gone has none after it."""
        found = self._compare(green)
        commits = found.commits[-MOST_COMMITS:] if found else ()
        return tuple(f"{one.sha[:12]} {_subject(one.commit.message)}".rstrip() for one in commits)

    def behind(self, base: str) -> tuple[int, str | None]:
        """How many commits of the target the tested commit does not have, and where the target is now."""
        found = self._compare(base)
        if found is None or found.base_commit is None:
            return 0, None
        return found.behind_by, found.base_commit.sha

    def _compare(self, base: str) -> CompareReply | None:
        basehead = f"{quote(base)}...{self.facts.head_sha}"
        return self.there.find(CompareReply, f"compare/{basehead}", absent={404, 422})


def _subject(message: str) -> str:
    """Written by anybody who can push: without secrets, on one line, cut."""
    first = redact_text(message.strip()).partition("\n")[0]
    return " ".join(first.split())[:LONGEST_SUBJECT]
