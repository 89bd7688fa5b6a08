"""Values with nothing special about them; a test names only what it is about."""

from datetime import UTC, datetime, timedelta

from sweeper.model import (
    AttemptResult,
    CheckResult,
    Diagnosis,
    FailureClass,
    FixOutcome,
    FixReport,
    JobEvidence,
    JobFacts,
    Patch,
    Proposal,
    Reproduction,
    Review,
    ReviewState,
    RunFacts,
    RunRef,
    StepFacts,
    SweepState,
    Verdict,
    VerdictKind,
    World,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FAILING_SHA = "f" * 40
HEAD = "a" * 40
OLD_HEAD = "b" * 40
TARGET = FAILING_SHA
BOT = "ci-sweeper[bot]"


def run_ref(**changes: object) -> RunRef:
    return RunRef(repository="octo/app", repository_id=4711, run_id=1001).model_copy(update=changes)


def run_facts(**changes: object) -> RunFacts:
    facts = RunFacts(
        run=run_ref(),
        status="completed",
        conclusion="failure",
        event="push",
        workflow_name="CI",
        workflow_path=".github/workflows/ci.yml",
        head_sha=FAILING_SHA,
        head_branch="main",
        head_repository="octo/app",
        head_repository_id=4711,
        branch_head=TARGET,
        html_url="https://github.com/octo/app/actions/runs/1001",
        created_at=NOW,
    )
    return facts.model_copy(update=changes)


def job(name: str = "test", *steps: str, failing: str | None = "Run pytest") -> JobEvidence:
    """A failing job. `steps` passed; then `failing` failed (None: it died without naming a step)."""
    shown = [StepFacts(number=n, name=step, conclusion="success") for n, step in enumerate(steps, start=1)]
    if failing is not None:
        shown.append(StepFacts(number=len(steps) + 1, name=failing, conclusion="failure"))
    return JobEvidence(job=JobFacts(id=7, name=name, conclusion="failure", steps=tuple(shown)))


def diagnosis(**changes: object) -> Diagnosis:
    found = Diagnosis(
        job="test",
        step="Run pytest",
        command="pytest",
        failure_class=FailureClass.TEST,
        action="fix",
        reasons=("the failing command of job 'test' runs 'pytest'",),
        error_lines=("E   AssertionError: assert 1 == 2",),
        signature="0123456789abcdef",
        jobs=("test",),
    )
    return found.model_copy(update=changes)


def check_result(exit_code: int | None = 0, **changes: object) -> CheckResult:
    ran = CheckResult(check="test", command="pytest", exit_code=exit_code, seconds=1.25, sandbox="bubblewrap")
    return ran.model_copy(update=changes)


def patch(**changes: object) -> Patch:
    made = Patch(
        commit=HEAD,
        tree="c" * 40,
        parent=FAILING_SHA,
        patch_id="d" * 40,
        files=("src/app.py",),
        files_changed=1,
        lines_changed=2,
        bytes_changed=80,
    )
    return made.model_copy(update=changes)


def verdict(kind: VerdictKind = VerdictKind.FIXED, **changes: object) -> Verdict:
    found = Verdict(
        kind=kind,
        results=(check_result(), check_result()),
        tree="c" * 40,
        patch_id="d" * 40,
    )
    return found.model_copy(update=changes)


def attempt(n: int = 1, **changes: object) -> AttemptResult:
    report = FixReport(agent="autofix", outcome=FixOutcome.EDITED)
    made = AttemptResult(n=n, agent="autofix", fix=report, patch=patch(), verdict=verdict())
    return made.model_copy(update=changes)


def reproduction(*results: CheckResult) -> Reproduction:
    return Reproduction(results=results or (check_result(1, excerpt="E   assert 1 == 2"),))


def proposal(**changes: object) -> Proposal:
    made = Proposal(
        number=12,
        url="https://github.com/octo/app/pull/12",
        branch="sweeper/1001-1",
        base="main",
        head_sha=HEAD,
        patch_id="d" * 40,
    )
    return made.model_copy(update=changes)


def review(state: ReviewState, user: str | None = "ann", **changes: object) -> Review:
    """A word by somebody who may write, on the head as it is."""
    said = Review(id=1, user=user, state=state, commit_id=HEAD, submitted_at=NOW, permission="write")
    return said.model_copy(update=changes)


def approved(user: str | None = "ann", **changes: object) -> Review:
    return review(ReviewState.APPROVED, user, **changes)


def wants_changes(user: str | None = "ann", **changes: object) -> Review:
    return review(ReviewState.CHANGES_REQUESTED, user, **changes)


def world(*reviews: Review, **changes: object) -> World:
    """Our proposal, open and untouched."""
    seen = World(
        read_at=NOW,
        state="open",
        merged=False,
        head_sha=HEAD,
        branch_sha=HEAD,
        base="main",
        target_head=TARGET,
        author=BOT,
        reviews=reviews,
    )
    return seen.model_copy(update=changes)


def sweep_state(**changes: object) -> SweepState:
    return SweepState(started_at=NOW - timedelta(hours=1)).model_copy(update=changes)
