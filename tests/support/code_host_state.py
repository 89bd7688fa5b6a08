"""What the in-memory GitHub remembers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sweeper.errors import SweeperError
from sweeper.model import (
    Annotation,
    CheckReport,
    HeadCi,
    JobFacts,
    PullFacts,
    Review,
    ReviewState,
    RunFacts,
    RunRef,
    StepFacts,
)
from sweeper.model.run import TIME_LIMIT

_DECISIVE = {ReviewState.APPROVED, ReviewState.CHANGES_REQUESTED, ReviewState.DISMISSED}


@dataclass(frozen=True)
class FakeJob:
    """A job of a run. `log` None: there is none, for the reason in `missing`."""

    name: str
    conclusion: str | None = "failure"
    steps: tuple[tuple[str, str], ...] = (("Run tests", "failure"),)
    log: bytes | None = b"2026-01-01T00:00:00.0000000Z ##[error]Process completed with exit code 1.\n"
    missing: str | None = "GitHub has no log of this job (404)"
    annotations: tuple[Annotation, ...] = ()

    def facts(self, number: int) -> JobFacts:
        steps = (StepFacts(number=n, name=name, conclusion=end) for n, (name, end) in enumerate(self.steps, 1))
        return JobFacts(id=number, name=self.name, conclusion=self.conclusion, steps=tuple(steps))


@dataclass(frozen=True)
class FakeRun:
    """One run attempt and its jobs by id."""

    ref: RunRef
    sha: str
    branch: str
    conclusion: str | None
    workflow_path: str
    event: str
    fork: str | None
    created_at: datetime
    jobs: dict[int, FakeJob]
    pull: PullFacts | None = None

    def again(self, conclusion: str | None, jobs: dict[int, FakeJob]) -> "FakeRun":
        ref = self.ref.model_copy(update={"run_attempt": self.ref.run_attempt + 1})
        return replace(self, ref=ref, conclusion=conclusion, jobs=jobs)

    def facts(self, repository_id: int, branch_head: str | None, head_ci: HeadCi = HeadCi.NONE) -> RunFacts:
        return RunFacts(
            run=self.ref,
            status="completed" if self.conclusion else "in_progress",
            conclusion=self.conclusion,
            event=self.event,
            workflow_name="CI",
            workflow_path=self.workflow_path,
            head_sha=self.sha,
            head_branch=self.branch,
            head_repository=self.fork or self.ref.repository,
            head_repository_id=repository_id + 1 if self.fork else repository_id,
            branch_head=branch_head,
            head_ci=head_ci,
            pull=self.pull,
            hit_time_limit=self.conclusion == "cancelled" and any(map(_names_a_limit, self.jobs.values())),
            html_url=f"https://github.com/{self.ref.repository}/actions/runs/{self.ref.run_id}",
            created_at=self.created_at,
        )


def _names_a_limit(job: FakeJob) -> bool:
    return job.conclusion == "cancelled" and any(TIME_LIMIT in note.message for note in job.annotations)


@dataclass
class FakeComment:
    """A comment in the conversation."""

    id: int
    user: str
    body: str

    @property
    def author(self) -> str:
        return self.user


@dataclass
class FakePull:
    """A pull request; merged is closed with a merge commit."""

    number: int
    branch: str
    base: str
    head_sha: str
    author: str
    title: str
    body: str
    state: str = "open"
    closed_by: str | None = None
    merged_by: str | None = None
    merge_sha: str | None = None
    merged_onto: str | None = None
    draft: bool = False
    labels: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    comments: list[FakeComment] = field(default_factory=list)
    files: tuple[str, ...] = ()
    fork: str | None = None
    updated_at: datetime | None = None

    @property
    def merged(self) -> bool:
        return self.merge_sha is not None

    def dismiss(self, review_id: int) -> None:
        self.reviews = [
            review.model_copy(update={"state": ReviewState.DISMISSED}) if review.id == review_id else review
            for review in self.reviews
        ]


@dataclass
class FakeCheck:
    """A check run of ours."""

    id: int
    report: CheckReport

    def answers(self, report: CheckReport) -> bool:
        return (self.report.sha, self.report.external_id) == (report.sha, report.external_id)


@dataclass(frozen=True)
class Fault:
    """One call that will fail, before or after its effect."""

    method: str
    error: SweeperError
    when: str


def reviews_with_rights(reviews: Sequence[Review], permissions: Mapping[str, str]) -> tuple[Review, ...]:
    """As the world tells them: rights of users whose last decisive review stands, line comments of wanted changes."""
    last = {review.user: review.state for review in reviews if review.state in _DECISIVE}
    standing = {user for user, state in last.items() if state is not ReviewState.DISMISSED}
    return tuple(
        review.model_copy(
            update={
                "permission": permissions.get(review.user or "", "none") if review.user in standing else "none",
                "comments": review.comments if review.state is ReviewState.CHANGES_REQUESTED else (),
            }
        )
        for review in reviews
    )
