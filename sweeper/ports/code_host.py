"""GitHub as the core needs it: runs, logs, pull requests, reviews."""

from datetime import datetime
from typing import Protocol

from sweeper.model import (
    Annotation,
    CheckReport,
    Effect,
    GitAccess,
    JobFacts,
    OtherPull,
    Proposal,
    RunFacts,
    RunHistory,
    RunRef,
    Strict,
    Wire,
    World,
)


class LogAnswer(Strict):
    """A job's log, or the reason why there is none (a normal case: expired, runner lost)."""

    text: bytes | None
    missing: str | None = None


class PullRef(Wire):
    """A proposal of ours and the run it answers."""

    run: RunRef
    number: int
    branch: str


class NewPull(Strict):
    """A pull request to open. The host signs `effect_key` into the body as a marker and finds it again by that."""

    run: RunRef
    branch: str
    base: str
    head_sha: str
    title: str
    body: str
    patch_id: str
    effect_key: str


class OpenedPull(Wire):
    """The pull request and how it came to be."""

    proposal: Proposal
    effect: Effect


class CodeHost(Protocol):
    """GitHub: runs, logs, pull requests, reviews. The truth about all of them.

    Raises Transient, RateLimited, OutcomeUnknown (a write whose answer was lost), AuthBroken, NotFound, PolicyDenied,
    Permanent. Writes look by natural key first: our open pull request of that head; our comment with that signed
    marker; merged already; closed already; our check run of that sweep; a newer attempt of the run. What GitHub or the
    repository does not offer (check runs, drafts) is `skipped` with a note.
    """

    @property
    def api_url(self) -> str:
        """Base URL of the REST face; part of a sweep's identity."""
        ...

    async def login(self) -> str:
        """The login our writes appear under."""
        ...

    async def find_run(self, repository: str, run_id: int) -> RunFacts:
        """The newest attempt of a run, by repository name. For manual triggers. Raises NotFound."""
        ...

    async def read_run(self, run: RunRef) -> RunFacts:
        """The run attempt and its branch right now. Raises NotFound."""
        ...

    async def read_jobs(self, run: RunRef) -> tuple[JobFacts, ...]:
        """All jobs of the attempt."""
        ...

    async def read_log(self, run: RunRef, job_id: int) -> LogAnswer:
        """A job's log, at most 64 MiB; 404, 410 and empty are answers, not errors."""
        ...

    async def read_annotations(self, run: RunRef, job_id: int) -> tuple[Annotation, ...]:
        """What is noted on a job, as GitHub has it; none is an answer. At most 100."""
        ...

    async def read_history(self, facts: RunFacts) -> RunHistory:
        """Other attempts of the run, the workflow on the branch's head, and since when it is red."""
        ...

    async def open_pulls(self, repository: str, base: str, since: datetime | None) -> tuple[OtherPull, ...]:
        """Open pull requests into a branch, newest first, at most 20; ours (by signed marker) are left out.

        `since`: those that nobody has touched since then are left out, and jobs that were green before do not count.
        """
        ...

    async def default_branch_file(self, repository: str, path: str) -> bytes | None:
        """A file at the head of the default branch; None if it is not there."""
        ...

    async def read_file(self, repository: str, path: str, commit: str) -> bytes | None:
        """A file at a commit; None if it is not there."""
        ...

    async def read_world(self, pull: PullRef) -> World:
        """The proposal, its reviews with each decisive reviewer's permission, its checks, both branch heads."""
        ...

    async def open_pull(self, new: NewPull) -> OpenedPull:
        """Open it, or answer with our open one of that head (deduplicated by effect key, else adopted)."""
        ...

    async def find_pull(self, run: RunRef, branch: str) -> Proposal | None:
        """Our open pull request of that branch, by its signed marker; its `patch_id` is not known (empty)."""
        ...

    async def update_pull(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        """Give our pull request this body; its marker stays. The same body again changes nothing."""
        ...

    async def comment(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        """Post once per effect key."""
        ...

    async def label_pull(self, pull: PullRef, labels: tuple[str, ...], effect_key: str) -> Effect:
        """Put labels on it if it is ours; those it has stay, new ones are made."""
        ...

    async def request_reviewers(self, pull: PullRef, reviewers: tuple[str, ...], effect_key: str) -> Effect:
        """Ask people to review; the note names those GitHub does not let us ask."""
        ...

    async def draft_pull(self, pull: PullRef, effect_key: str) -> Effect:
        """Turn it into a draft if it is ours and open."""
        ...

    async def report_check(self, run: RunRef, report: CheckReport, effect_key: str) -> Effect:
        """One check run of ours for a sweep and commit says this; the name tells whether it was made or changed."""
        ...

    async def rerun_failed(self, run: RunRef, effect_key: str) -> Effect:
        """Have the failed jobs of that attempt run again, once."""
        ...

    async def close_pull(self, pull: PullRef, effect_key: str) -> Effect:
        """Close it if it is ours and open."""
        ...

    async def merge_pull(self, pull: PullRef, head_sha: str, effect_key: str, target_head: str | None = None) -> Effect:
        """Merge exactly `head_sha`. Raises MergeRefused (405, 409): not now.

        `target_head`: the base the proof was made on; the note says if the merge landed on another one.
        """
        ...

    async def git_access(self, repository: str) -> GitAccess:
        """URL and short-lived credential for git over HTTP."""
        ...
