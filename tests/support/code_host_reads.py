"""What a diagnosis asks the in-memory code host: notes on jobs, the history around a run, other people's fixes."""

from collections.abc import Iterator
from datetime import datetime

from sweeper import ids
from sweeper.model import Annotation, OtherPull, RunFacts, RunHistory, RunRef
from sweeper.policy.redaction import redact_text
from tests.support.code_host_extras import FakeExtras
from tests.support.code_host_state import FakePull, FakeRun


class FakeReads(FakeExtras):
    """See the module. Runs of a fork are not of the repository's own branches."""

    async def read_annotations(self, run: RunRef, job_id: int) -> tuple[Annotation, ...]:
        async with self._call("read_annotations"):
            job = self._run(run).jobs.get(job_id)
            noted = job.annotations[:100] if job else ()
            return tuple(note.model_copy(update={"message": redact_text(note.message)[:1000]}) for note in noted)

    async def read_history(self, facts: RunFacts) -> RunHistory:
        async with self._call("read_history"):
            run = self._run(facts.run)
            attempts = self.runs[facts.run.run_id]
            on_head = (one for one in self._others(run) if one.sha == facts.branch_head and one.branch == run.branch)
            green = self._last_green(run)
            pull = facts.pull
            return RunHistory(
                green_attempts=tuple(one.ref.run_attempt for one in attempts if one != run and _is_green(one)),
                head_failing_jobs=_failing_jobs(on_head),
                last_green=green.sha if green else None,
                last_green_at=green.created_at if green else None,
                commits_since=self._between(green.sha, run.sha)[-100:] if green else (),
                base_failing_jobs=_failing_jobs(self._on_base(run, pull.base_ref)) if pull else None,
                behind_base=len(self._between(run.sha, self.branches[pull.base_ref])) if pull else 0,
                base_head=self.branches[pull.base_ref] if pull else None,
            )

    def _others(self, run: FakeRun) -> Iterator[FakeRun]:
        """Newest attempts of other runs of the workflow, newest run first."""
        for run_id in sorted(self.runs, reverse=True):
            one = self.runs[run_id][-1]
            if run_id != run.ref.run_id and one.workflow_path == run.workflow_path and one.fork == run.fork:
                yield one

    def _on_base(self, run: FakeRun, base: str) -> Iterator[FakeRun]:
        for run_id in sorted(self.runs, reverse=True):
            one = self.runs[run_id][-1]
            if (one.branch, one.fork, one.workflow_path) == (base, None, run.workflow_path):
                yield one

    def _last_green(self, run: FakeRun) -> FakeRun | None:
        earlier = (one for one in self._others(run) if one.branch == run.branch and one.ref.run_id < run.ref.run_id)
        return next(filter(_is_green, earlier), None)

    def _between(self, before: str, after: str) -> tuple[str, ...]:
        known = set(self.history_of(before))
        new = [sha for sha in self.history_of(after) if sha not in known]
        return tuple(
            f"{sha[:12]} {redact_text(self.subjects[sha]).partition(chr(10))[0][:120]}" for sha in reversed(new)
        )

    async def open_pulls(self, repository: str, base: str, since: datetime | None) -> tuple[OtherPull, ...]:
        async with self._call("open_pulls"):
            theirs = [pull for pull in self.pulls.values() if self._is_somebody_elses(pull) and pull.base == base]
            recent = [pull for pull in theirs if not (since and pull.updated_at and pull.updated_at < since)]
            newest = sorted(recent, key=lambda pull: pull.number, reverse=True)[:20]
            return tuple(self._shown(pull, since) for pull in newest)

    def _is_somebody_elses(self, pull: FakePull) -> bool:
        in_our_namespace = pull.fork is None and ids.is_our_branch(pull.branch)
        return pull.state == "open" and not in_our_namespace and not self._is_ours(pull)

    def _shown(self, pull: FakePull, since: datetime | None) -> OtherPull:
        of_head = [attempts[-1] for attempts in self.runs.values() if attempts[-1].sha == pull.head_sha]
        ends = {job.name: job.conclusion for run in of_head for job in run.jobs.values() if not _is_old(run, since)}
        return OtherPull(
            number=pull.number,
            url=f"https://github.com/{self.repository}/pull/{pull.number}",
            head_sha=pull.head_sha,
            files=pull.files[:100],
            green_jobs=tuple(name for name, end in ends.items() if end == "success"),
        )

    async def default_branch_file(self, repository: str, path: str) -> bytes | None:
        async with self._call("default_branch_file"):
            head = self.branches[self.default_branch]
            return self.files.get((path, head), self.files.get((path, None)))


def _is_green(run: FakeRun) -> bool:
    return run.conclusion == "success"


def _is_old(run: FakeRun, since: datetime | None) -> bool:
    return since is not None and run.created_at < since


def _failing_jobs(runs: Iterator[FakeRun]) -> tuple[str, ...] | None:
    newest = next((run for run in runs if run.conclusion in ("failure", "timed_out", "success")), None)
    if newest is None or _is_green(newest):
        return None if newest is None else ()
    failed = (job.name for job in newest.jobs.values() if job.conclusion in ("failure", "timed_out"))
    return tuple(failed) or None
