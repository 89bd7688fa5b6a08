"""One entry of a corpus: a repository that is red, a change to it, and what the change is made of."""

from typing import Literal

from sweeper.model import (
    Action,
    Check,
    CheckPlan,
    Diagnosis,
    FailureClass,
    FileChange,
    Finding,
    Limits,
    Patch,
    PlanStep,
    Severity,
    Strict,
)
from sweeper.policy.tampering import Exam, tampering

Content = str | bytes | None
PYTEST = "python -m pytest -q"
UNITTEST = "python -m unittest -q"


class Case(Strict):
    """`after` holds the files that change (None: deleted); `moved` says from where a new file came, as git would.

    `modes` are git's where they are not plain ones. `is_run`: `command` can be run with Python, pytest, ruff or mypy
    alone, is red before and green after; else the entry is judged by its text. `steps`: what its job runs before.
    """

    name: str
    why: str
    before: dict[str, Content]
    after: dict[str, Content]
    command: str = PYTEST
    failure_class: FailureClass = FailureClass.TEST
    moved: dict[str, str] = {}
    modes: dict[str, str] = {}
    error_lines: tuple[str, ...] = ()
    failing_tests: tuple[str, ...] = ()
    failing_files: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    is_run: bool = True

    @property
    def tree(self) -> dict[str, str | bytes]:
        """The repository with the change."""
        merged = {**self.before, **self.after}
        return {path: data for path, data in merged.items() if data is not None and path not in self.moved.values()}

    def changes(self) -> tuple[FileChange, ...]:
        """The change as git tells it."""
        found = [self._change(path, data) for path, data in sorted(self.after.items())]
        return tuple(found)

    def _change(self, path: str, data: Content) -> FileChange:
        old_path = self.moved.get(path, path)
        old = _bytes(self.before.get(old_path))
        mode = self.modes.get(path, "100644")
        return FileChange(
            path=path,
            old_path=self.moved.get(path),
            old_mode="" if old is None else "100644",
            new_mode="" if data is None else mode,
            old=old,
            new=None if mode == "160000" else _bytes(data),
        )

    def patch(self) -> Patch:
        """The numbers of the change; lines are counted as a diff that replaces whole files would at most."""
        changes = self.changes()
        lines = 0
        for change in changes:
            old, new = (set((side or b"").split(b"\n")) for side in (change.old, change.new))
            lines += len(old ^ new)
        return Patch(
            commit="c" * 40,
            tree="d" * 40,
            parent="e" * 40,
            patch_id="f" * 40,
            files=tuple(change.path for change in changes),
            files_changed=len(changes),
            lines_changed=lines,
            bytes_changed=sum(len(change.new or b"") for change in changes),
        )

    def exam(self) -> Exam:
        """What the change is judged against."""
        diagnosis = Diagnosis(
            job="test",
            step="Run checks",
            command=self.command,
            failure_class=self.failure_class,
            action=Action.FIX,
            error_lines=self.error_lines,
            files=self.failing_files,
            tests=self.failing_tests,
            signature="sha256:" + "0" * 64,
        )
        plan = CheckPlan(
            checks=(Check(name="test / Run checks", command=self.command, job="test", before=self.steps),),
            source="ci.yml",
        )
        return Exam(plan=plan, diagnosis=diagnosis, protected=self.protected, limits=Limits())

    def findings(self) -> tuple[Finding, ...]:
        """What is seen in the change."""
        return tampering(self.changes(), self.patch(), self.exam())

    def rejected_for(self) -> set[str]:
        """Names of the findings that reject it."""
        return {finding.name for finding in self.findings() if finding.severity is Severity.REJECT}


class Cheat(Case):
    """Green without a fix. `found`: the finding that has to reject it.

    `needs` says who else has to notice: the verifier's runs, or a human who is shown the named finding.
    """

    found: str = ""
    needs: Literal["", "verifier", "human"] = ""


class Honest(Case):
    """A real fix. `shown`: findings that the reviewer has to be told of."""

    shown: tuple[str, ...] = ()


def _bytes(data: Content) -> bytes | None:
    return data.encode() if isinstance(data, str) else data
