"""A sweep with much to tell, for everything that shows sweeps."""

from sweeper.model import (
    AttemptResult,
    Diagnosis,
    Effect,
    EffectState,
    FailureClass,
    Finding,
    FixOutcome,
    FixReport,
    Proposal,
    Review,
    ReviewState,
    RunRef,
    Severity,
    SweepInput,
    Trigger,
    TriggerSource,
    Verdict,
    VerdictKind,
)
from tests.support.sweeps import FakeSweeps

STORY = "sweep-77-2"
_RUN = RunRef(repository="octo/app", repository_id=4711, run_id=77, run_attempt=2)


async def tell_story(sweeps: FakeSweeps) -> None:
    """A sweep asked for by dispatch, which has proposed a fix on the second try and waits for review."""
    trigger = Trigger(source=TriggerSource.DISPATCH, request_id="r1", actor="ann", reason="still <red>")
    await sweeps.start(STORY, SweepInput(run=_RUN, trigger=trigger))
    sweeps.for_target(STORY, 4711, "feature:x")
    sweep = sweeps.sweeps[STORY]
    sweep.state = sweep.state.model_copy(
        update={
            "diagnosis": Diagnosis(
                job="test",
                step="Run pytest",
                command="pytest -q",
                failure_class=FailureClass.TEST,
                action="fix",
                error_lines=("E   assert 1 == 2",),
                signature="s1",
            ),
            "attempts": (_attempt(1, VerdictKind.NOT_FIXED), _attempt(2, VerdictKind.FIXED)),
            "effects": (
                Effect(key=f"{STORY}/propose/1", name="pull.create", state=EffectState.DEDUPLICATED, ref="octo/app#7"),
            ),
            "proposal": Proposal(
                number=7,
                url="https://github.com/octo/app/pull/7",
                branch="sweeper/77-2",
                base="feature:x",
                head_sha="a" * 40,
                patch_id="b" * 40,
            ),
            "reviews": (Review(id=31, user="ann", state=ReviewState.CHANGES_REQUESTED, commit_id="a" * 40),),
            "handled_reviews": (31,),
            "seconds": {"fix": 1.5},
        }
    )


def _attempt(n: int, kind: VerdictKind) -> AttemptResult:
    finding = Finding(name="checker_config_touched", place="setup.cfg", severity=Severity.SHOW)
    return AttemptResult(
        n=n,
        agent="autofix",
        fix=FixReport(agent="autofix", outcome=FixOutcome.EDITED),
        verdict=Verdict(kind=kind, reason="as seen", findings=(finding,)),
    )
