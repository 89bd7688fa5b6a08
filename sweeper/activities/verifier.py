"""The proof of a change, independent of who made it. Safe twice: every tree is made anew, nothing outside is written.

What decides is a run with the exam's own files (checker configuration, conftest, the failing tests) as they were in
the tested tree. If the change touches them, its own version runs too, and that is a finding for the reviewer.
"""

from dataclasses import dataclass
from typing import NamedTuple

from sweeper.activities import requests
from sweeper.activities.green_runs import Exercise, Failure, GreenRuns, Record, exam_of
from sweeper.activities.job_runs import JobRunner, Tree
from sweeper.model import FileChange, Finding, Severity, Verdict, VerdictKind
from sweeper.policy.limits import DIFF_TOO_LARGE
from sweeper.policy.proof.judging import MOST_FINDINGS, MOST_RESTORED, MOST_UNCHECKED, unknown_counts
from sweeper.policy.proof.removed import removed_by
from sweeper.policy.redaction import redact_text
from sweeper.policy.tampering import Exam, exam_files, must_hold, tampering
from sweeper.policy.tampering.places import is_manifest
from sweeper.ports import Ports

FILE_BYTES = 2 << 20
"""Of one side of a changed file; a larger one is told as cut."""

OWN_EXAM = "exam_changed"
ONLY_OWN_EXAM = "green_with_its_own_exam_only"


class _Trees(NamedTuple):
    """The change as it is, and with the exam's files put back (the same commit if it touches none)."""

    own: str
    deciding: str
    restored: tuple[str, ...]


@dataclass(frozen=True)
class _Case:
    """One request, and what the change is about."""

    request: requests.VerifyRequest
    changes: tuple[FileChange, ...]
    exam: Exam
    found: tuple[Finding, ...]

    @property
    def base(self) -> str:
        """The commit without the change whose exam counts."""
        known = self.request.reproduction.commit if self.request.reproduction else ""
        return self.request.exam_from or known or self.request.patch.parent


class Verifier:
    """Answers one question: is what failed mended, by the code and not by the exam?"""

    def __init__(self, ports: Ports, runner: JobRunner) -> None:
        self._workspaces = ports.workspaces
        self._sandbox = ports.sandbox
        self._runner = runner

    async def verify(self, request: requests.VerifyRequest) -> Verdict:
        """The verdict on `request.commit`, or on its merge with what the tested tree was merged with."""
        case = await self._case(request)
        record = Record(findings=list(case.found))
        failure = _refused(case.found) or await self._proved(case, record)
        return await self._verdict(case, record, failure)

    async def _case(self, request: requests.VerifyRequest) -> _Case:
        """The change, and all that a look at it shows."""
        patch = request.patch
        changes = await self._workspaces.changes(request.repository_id, patch.parent, patch.commit, FILE_BYTES)
        exam = exam_of(request)
        return _Case(request, changes, exam, tampering(changes, patch, exam))

    async def _proved(self, case: _Case, record: Record) -> Failure | None:
        trees = await self._trees(case)
        if trees is None:
            return Failure(VerdictKind.NOT_FIXED, "it conflicts with what CI merges it with")
        record.restored = trees.restored
        await self._fetch(case, record, trees.deciding)
        runs = GreenRuns(self._runner, case.request, case.base, record)
        removed = removed_by(case.changes, trees.restored)
        failure = await runs.green(Exercise(trees.deciding, removed, decides=True))
        if trees.own != trees.deciding:
            failure = await self._with_its_own(case, record, runs, trees, failure)
        if failure is None:
            await self._alone(case, record, trees)
        return failure

    async def _trees(self, case: _Case) -> _Trees | None:
        request, own = case.request, case.request.commit
        if request.tested is not None and request.tested.merged_with is not None:
            merged = await self._workspaces.merge(request.repository_id, request.commit, request.tested.merged_with)
            if merged is None:
                return None
            own = merged
        touched = [path for change in case.changes for path in (change.path, change.old_path) if path]
        paths = exam_files(touched, case.exam)
        deciding = await self._workspaces.restored(request.repository_id, own, case.base, paths) if paths else own
        return _Trees(own, deciding, paths if deciding != own else ())

    async def _fetch(self, case: _Case, record: Record, deciding: str) -> None:
        """Downloads are asked for on a tree with a change only if that change says what is needed."""
        request = case.request
        tree = Tree(request.repository_id, request.name, deciding, request.check_timeout.total_seconds())
        if names_some := any(is_manifest(change.path) for change in case.changes):
            record.note("The change names dependencies of its own; they were downloaded for this proof.")
        elif request.exam_from is not None:
            tree = tree.at(request.exam_from)
        else:
            return
        for check in request.plan.checks:
            await self._runner.fetch(check, tree, whole=names_some)

    async def _with_its_own(
        self, case: _Case, record: Record, runs: GreenRuns, trees: _Trees, deciding: Failure | None
    ) -> Failure | None:
        """The change as it is must be green as well; if only that is, the exam was changed, not passed."""
        if deciding is not None and deciding.kind in (VerdictKind.UNVERIFIABLE, VerdictKind.FLAKY):
            return deciding
        own = await runs.green(Exercise(trees.own, removed_by(case.changes, ())))
        if own is not None:
            return own._replace(reason=f"with its own version of {_some(trees.restored)}: {own.reason}")
        if deciding is None:
            record.show(OWN_EXAM, trees.restored, "changed by the fix; the proof holds with the old version, too")
            return None
        held = [path for path in trees.restored if must_hold(path, case.exam)]
        if held:
            reason = f"green only with its own version of {_some(held)}, not as the exam was"
            return Failure(VerdictKind.TAMPERED, reason)
        record.show(ONLY_OWN_EXAM, trees.restored, f"the old version does not pass with the fix: {deciding.reason}")
        return None

    async def _alone(self, case: _Case, record: Record, trees: _Trees) -> None:
        """For a pull request the merge decides, which is what CI builds; the branch by itself is only told of."""
        if trees.own == case.request.commit or case.request.tested is None:
            return
        alone = GreenRuns(self._runner, case.request, case.base, Record())
        if (failure := await alone.once(Exercise(case.request.commit, removed_by(case.changes, ())))) is not None:
            record.note(f"Proved on the merge; on the branch alone it is not green: {failure.reason}.")

    async def _verdict(self, case: _Case, record: Record, failure: Failure | None) -> Verdict:
        request = case.request
        reproduction = request.reproduction
        unchecked = [
            *request.plan.uncovered,
            *(reproduction.unchecked if reproduction else ()),
            *record.unchecked,
            *unknown_counts(record.results),
        ]
        return Verdict(
            kind=failure.kind if failure else VerdictKind.FIXED,
            reason=redact_text(failure.reason) if failure else "",
            results=tuple(record.results),
            findings=tuple([*(failure.findings if failure else ()), *record.findings][:MOST_FINDINGS]),
            tree=request.patch.tree,
            patch_id=request.patch.patch_id,
            restored=record.restored[:MOST_RESTORED],
            unchecked=tuple(dict.fromkeys(unchecked))[:MOST_UNCHECKED],
            sandbox_held=(await self._sandbox.probe()).held,
        )


def _refused(found: tuple[Finding, ...]) -> Failure | None:
    """A change that is only too large is no cheat: it goes to a human."""
    rejecting = [finding for finding in found if finding.severity is Severity.REJECT]
    if not rejecting:
        return None
    reason = "; ".join(f"{f.name}: {f.place} ({f.detail})" for f in rejecting[:5])
    too_large = all(finding.name == DIFF_TOO_LARGE for finding in rejecting)
    return Failure(VerdictKind.NOT_FIXED if too_large else VerdictKind.TAMPERED, reason)


def _some(paths: tuple[str, ...] | list[str]) -> str:
    return ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")
