"""Green twice on one commit: every check of the plan, with what its job runs before and after it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sweeper.activities import requests
from sweeper.activities.job_runs import JobRun, JobRunner, Tree
from sweeper.activities.reproducing import needs_network
from sweeper.model import (
    Action,
    Check,
    CheckResult,
    Diagnosis,
    FailureClass,
    Finding,
    Part,
    Severity,
    Tally,
    VerdictKind,
)
from sweeper.policy.proof.comparing import Expected, compare, is_in_parts, names_lost
from sweeper.policy.proof.judging import (
    GREEN_RUNS,
    REPORT_DISAGREES,
    count_findings,
    counted_in,
    is_redder,
)
from sweeper.policy.proof.names import Names
from sweeper.policy.proof.removed import Removed
from sweeper.policy.proof.reports import dotted
from sweeper.policy.proof.side_effects import SideEffects, side_effect_findings
from sweeper.policy.tampering import Exam

UNDIAGNOSED = Diagnosis(
    job="", step="", command="", failure_class=FailureClass.UNKNOWN, action=Action.TELL_HUMAN, signature=""
)
"""Where it is not known what failed, every test is part of the exam."""

ALSO_RED_WITHOUT = "also_red_without_the_fix"
TESTS_FAILED = 1
"""pytest's exit code for "tests ran and some failed"; every other one tells of more than failing tests."""


class Failure(NamedTuple):
    """Why there is no proof."""

    kind: VerdictKind
    reason: str
    findings: tuple[Finding, ...] = ()


@dataclass
class Record:
    """What a proof has gathered so far."""

    results: list[CheckResult] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    restored: tuple[str, ...] = ()

    def keep(self, findings: Sequence[Finding]) -> None:
        """Findings, each once."""
        self.findings += [finding for finding in findings if finding not in self.findings]

    def note(self, sentence: str) -> None:
        """Something the proof does not cover."""
        self.unchecked.append(sentence)

    def show(self, name: str, places: Sequence[str], detail: str) -> None:
        """A finding for the reviewer at each of these places."""
        self.findings += [Finding(name=name, place=place, severity=Severity.SHOW, detail=detail) for place in places]


class Exercise(NamedTuple):
    """A commit that is to be green. `decides`: with the exam's files put back; `removed`: what the change took away."""

    commit: str
    removed: Removed = Removed()
    decides: bool = False


class GreenRuns:
    """Runs the plan with a change and compares with what was without it."""

    def __init__(self, runner: JobRunner, request: requests.VerifyRequest, base: str, record: Record) -> None:
        self._runner = runner
        self._request = request
        self._base = base
        self._record = record
        reproduction = request.reproduction
        comparable = reproduction is not None and reproduction.commit in ("", base)
        self._without = reproduction.results if reproduction is not None and comparable else ()
        self._excused: dict[str, tuple[str, ...]] = {}
        self._effects_without: dict[str, SideEffects] = {}
        self._names: dict[str, tuple[Names, ...]] = {}

    async def green(self, exercise: Exercise) -> Failure | None:
        """None: every check passed twice, each time in a fresh tree. Green only at first is flaky."""
        for round_number in range(GREEN_RUNS):
            if (failure := await self.once(exercise, is_first=round_number == 0)) is not None:
                return failure
        return None

    async def once(self, exercise: Exercise, *, is_first: bool = True) -> Failure | None:
        """None: every check passed. The first time with the job's other tests, and with its tests counted."""
        request = self._request
        tree = Tree(request.repository_id, request.name, exercise.commit, request.check_timeout.total_seconds())
        for check in request.plan.checks:
            run = await self._runner.run(check, tree, after=is_first, counted=is_first)
            kept = run.results if is_first or run.stopped_by else (run.check,)
            self._record.results += [result for result in kept if result is not None]
            if (failure := await self._judge(check, run, tree, exercise)) is not None:
                if not is_first and failure.kind in (VerdictKind.NOT_FIXED, VerdictKind.WORSE):
                    return failure._replace(kind=VerdictKind.FLAKY, reason=f"green once, then: {failure.reason}")
                return failure
        return None

    async def _judge(self, check: Check, run: JobRun, tree: Tree, exercise: Exercise) -> Failure | None:
        decisive = [r for r in run.results if r.part is not Part.AFTER]
        if problem := run.problem or self._runner.commands.problem(decisive):
            return Failure(VerdictKind.UNVERIFIABLE, problem)
        result = run.check
        if result is None:
            return self._stopped(run)
        if not result.is_green and (failure := await self._red(check, run, result, tree)) is not None:
            return failure
        seen = await self._side_effects(check, run, tree)
        found = count_findings(await self._counted_without(check, run), result, by_number=run.names is None)
        if not found:
            seen += await self._by_name(check, run, tree, exercise)
        self._record.keep([finding for finding in seen if finding.severity is Severity.SHOW])
        found += tuple(finding for finding in seen if finding.severity is Severity.REJECT)
        if found:
            reason = "; ".join(f"{finding.name}: {finding.detail}" for finding in found)
            return Failure(VerdictKind.TAMPERED, f"check {check.name!r} proves nothing: {reason}", found)
        return self._others(run)

    def _stopped(self, run: JobRun) -> Failure:
        """It passed without the change, or nothing would have been reproduced."""
        step = run.stopped_by.step if run.stopped_by else ""
        if run.refused:
            return Failure(VerdictKind.UNVERIFIABLE, f"step {step!r} {needs_network(run.refused)}")
        return Failure(VerdictKind.WORSE, f"step {step!r}, which passes without the change, fails with it")

    async def _red(self, check: Check, run: JobRun, result: CheckResult, tree: Tree) -> Failure | None:
        if excused := await self._not_charged(check, run, result, tree):
            if check.name not in self._excused:
                self._record.show(
                    ALSO_RED_WITHOUT, excused[:5], "fails here without the change, too; CI did not report it"
                )
                self._record.note(
                    f"{len(excused)} test(s) that CI did not report fail here with and without the change."
                )
            self._excused[check.name] = excused
            return None
        before = next((r for r in self._without if r.check == check.name and r.part is Part.CHECK), None)
        reason = f"check {result.check!r} ended with exit code {result.exit_code}"
        if before is not None and is_redder(before, result):
            return Failure(VerdictKind.WORSE, f"{reason}, with more failures than without the change")
        return Failure(VerdictKind.NOT_FIXED, reason)

    async def _not_charged(self, check: Check, run: JobRun, result: CheckResult, tree: Tree) -> tuple[str, ...]:
        """The failing tests, if none is of those CI reported and each fails without the change as well."""
        diagnosis, report = self._request.diagnosis, run.report
        if diagnosis is None or not diagnosis.tests or report is None or result.exit_code != TESTS_FAILED:
            return ()
        reported = [dotted(test) for test in diagnosis.tests]
        if not report.failing or any(_is_one_of(test, reported) for test in report.failing):
            return ()
        if self._excused.get(check.name) == report.failing:
            return report.failing
        without = await self._runner.run(check, tree.at(self._base), counted=False)
        if without.report is None or not set(report.failing) <= set(without.report.failing):
            return ()
        return report.failing

    async def _by_name(self, check: Check, run: JobRun, tree: Tree, exercise: Exercise) -> tuple[Finding, ...]:
        """Each test for itself. Where there is nothing to compare with, the untouched tree is run only on suspicion."""
        before = await self._names_without(check)
        if run.names is None:
            return names_lost(check.name) if before else ()
        diagnosis = self._request.diagnosis
        expected = Expected(
            check=check.name,
            before=before,
            named=diagnosis.tests if diagnosis else (),
            removed=exercise.removed,
            decides=exercise.decides,
        )
        compared = await asyncio.to_thread(compare, expected, run.names)
        if compared.is_refused and not before:
            without = await self._runner.run(check, tree.at(self._base), counted=True)
            known = () if without.names is None else (without.names,)
            expected = expected.model_copy(update={"before": known})
            compared = await asyncio.to_thread(compare, expected, run.names)
        for sentence in compared.notes:
            self._record.note(sentence)
        return compared.findings

    async def _counted_without(self, check: Check, run: JobRun) -> Tally | None:
        names = await self._names_without(check) if run.names is not None else ()
        if run.names is not None and names and is_in_parts(names[0], run.names):
            return None
        return counted_in(self._without, check.name)

    async def _names_without(self, check: Check) -> tuple[Names, ...]:
        if check.name not in self._names:
            tallies = [r.tally for r in self._without if r.check == check.name and r.part is Part.CHECK]
            read = [await self._runner.names_of(tally) for tally in tallies]
            if any(tally and tally.names and names is None for tally, names in zip(tallies, read, strict=True)):
                self._record.note(
                    f"Names of the tests of check {check.name!r} before the change are not kept any more."
                )
            self._names[check.name] = tuple(names for names in read if names is not None)
        return self._names[check.name]

    async def _side_effects(self, check: Check, run: JobRun, tree: Tree) -> tuple[Finding, ...]:
        """What the job did besides. The untouched tree is run once more only if there is something to compare."""
        exam = exam_of(self._request)
        if not side_effect_findings(run.effects, check, exam):
            return ()
        if check.name not in self._effects_without:
            without = await self._runner.run(check, tree.at(self._base), after=True, counted=True)
            self._effects_without[check.name] = without.effects
        return side_effect_findings(run.effects.without(self._effects_without[check.name]), check, exam)

    def _others(self, run: JobRun) -> Failure | None:
        for result in run.results:
            if result.part is not Part.AFTER:
                continue
            before = _without(self._without, result)
            if result.limit or before is None or before.limit:
                self._record.note(
                    f"Step {result.step!r} of the job could not be compared with a run before the change."
                )
            elif is_redder(before, result):
                return Failure(VerdictKind.WORSE, f"step {result.step!r} is redder than without the change")
            elif before.is_green and (found := _fewer(before.tally, result)):
                reason = "; ".join(f"{finding.name}: {finding.detail}" for finding in found)
                return Failure(VerdictKind.TAMPERED, f"step {result.step!r} proves nothing: {reason}", found)
        return None


def exam_of(request: requests.VerifyRequest) -> Exam:
    """What a change is judged against."""
    diagnosis = request.diagnosis or UNDIAGNOSED
    return Exam(plan=request.plan, diagnosis=diagnosis, protected=request.protected, limits=request.limits)


def _fewer(before: Tally | None, result: CheckResult) -> tuple[Finding, ...]:
    return tuple(finding for finding in count_findings(before, result) if finding.name != REPORT_DISAGREES)


def _without(results: Sequence[CheckResult], like: CheckResult) -> CheckResult | None:
    named = (like.check, like.part, like.step)
    return next((result for result in results if (result.check, result.part, result.step) == named), None)


def _is_one_of(test: str, reported: Sequence[str]) -> bool:
    """Reports name tests from where the tool was started, CI from the top of the tree, or the other way round."""
    return any(test == one or test.endswith(f".{one}") or one.endswith(f".{test}") for one in reported)
