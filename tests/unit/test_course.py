"""What a diagnosis leads to, and whether somebody else is at it already."""

import pytest

from sweeper.model import Action, Background, Check, CheckPlan, Diagnosis, FailureClass, OtherFix, OtherPull, Outcome
from sweeper.policy.course import Way, course
from sweeper.policy.elsewhere import other_fix

PLAN = CheckPlan(checks=(Check(name="test", command="pytest"),), source="workflow file")
NO_PLAN = CheckPlan(unverifiable="step 'Log in' needs a secret")


def diagnosis(
    action: Action = Action.FIX,
    failure_class: FailureClass = FailureClass.TEST,
    files: tuple[str, ...] = (),
    background: Background | None = None,
) -> Diagnosis:
    return Diagnosis(
        job="test",
        step="Test",
        command="pytest",
        failure_class=failure_class,
        action=action,
        reasons=("because",),
        files=files,
        signature="0123456789abcdef",
        jobs=("test", "test (3.12)"),
        background=background or Background(),
    )


def test_what_code_can_mend_and_a_check_can_show_is_fixed() -> None:
    assert course(diagnosis(), PLAN).way is Way.MAKE


def test_what_no_check_can_show_is_unverifiable_with_the_plans_reason() -> None:
    found = course(diagnosis(), NO_PLAN)
    assert (found.way, found.outcome, found.reason) == (Way.END, Outcome.UNVERIFIABLE, NO_PLAN.unverifiable)


@pytest.mark.parametrize(
    ("action", "failure_class", "way", "outcome"),
    [
        (Action.RERUN_ONCE, FailureClass.FLAKY, Way.RERUN, Outcome.FLAKY),
        (Action.RERUN_ONCE, FailureClass.INFRASTRUCTURE, Way.RERUN, Outcome.INFRASTRUCTURE),
        (Action.WAIT, FailureClass.INFRASTRUCTURE, Way.RERUN_LATER, Outcome.INFRASTRUCTURE),
        (Action.TELL_HUMAN, FailureClass.INFRASTRUCTURE, Way.END, Outcome.INFRASTRUCTURE),
        (Action.TELL_HUMAN, FailureClass.FLAKY, Way.END, Outcome.FLAKY),
        (Action.TELL_HUMAN, FailureClass.OUTSIDE_CODE, Way.END, Outcome.OUTSIDE_CODE),
        (Action.TELL_HUMAN, FailureClass.UNKNOWN, Way.END, Outcome.ESCALATED),
    ],
)
def test_what_code_cannot_mend_never_becomes_a_fix(
    action: Action, failure_class: FailureClass, way: Way, outcome: Outcome
) -> None:
    found = course(diagnosis(action, failure_class), PLAN)
    assert (found.way, found.outcome) == (way, outcome)
    assert found.reason == f"{failure_class}: because"


@pytest.mark.parametrize("action", list(Action))
def test_a_fix_by_somebody_else_goes_before_everything(action: Action) -> None:
    other = OtherFix(number=7, url="https://github.example/octo/app/pull/7", why="job 'test' passes there")
    found = course(diagnosis(action, background=Background(other_fix=other)), PLAN)
    assert (found.way, found.outcome) == (Way.END, Outcome.ALREADY_FIXED_ELSEWHERE)
    assert other.url in found.reason
    assert other.why in found.reason


def pull(number: int, files: tuple[str, ...] = (), green_jobs: tuple[str, ...] = ()) -> OtherPull:
    return OtherPull(
        number=number, url=f"https://github.example/{number}", head_sha="a" * 40, files=files, green_jobs=green_jobs
    )


def test_a_pull_request_that_is_green_on_a_failing_job_is_the_fix() -> None:
    found = other_fix(diagnosis(), [pull(1, green_jobs=("lint",)), pull(2, green_jobs=("test (3.12)",))])
    assert found is not None
    assert (found.number, found.why) == (2, "job 'test (3.12)' passes there")


@pytest.mark.parametrize(
    ("named", "changed"),
    [
        ("src/app.py", "src/app.py"),
        ("src/app.py", "backend/src/app.py"),  # named from the working directory
        ("/home/runner/work/app/app/src/app.py", "src/app.py"),  # named by a full path
    ],
)
def test_a_pull_request_that_touches_a_failing_file_is_the_fix(named: str, changed: str) -> None:
    found = other_fix(diagnosis(files=(named,)), [pull(3, files=("README.md", changed))])
    assert found is not None
    assert (found.number, changed in found.why) == (3, True)


def test_green_on_the_job_says_more_than_the_same_file() -> None:
    found = other_fix(diagnosis(files=("a.py",)), [pull(1, files=("a.py",)), pull(2, green_jobs=("test",))])
    assert found is not None
    assert found.number == 2


def test_other_work_is_no_fix() -> None:
    pulls = [pull(1, files=("b.py", "xa.py", "docs/a.py"), green_jobs=("lint",)), pull(2)]
    assert other_fix(diagnosis(files=("a.py",)), pulls) is None
