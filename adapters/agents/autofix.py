"""Deterministic fixers: no model, no guess, the same edit each time.

Fixing twice is safe: a fixer that has nothing left to mend changes nothing.
"""

from datetime import timedelta

from adapters.agents.fixers import Repair, repairs
from adapters.agents.report import outcome_of, report
from sweeper.model import FixOutcome, FixReport, Workspace
from sweeper.ports import Artifacts, Sandbox, SandboxLimits, SandboxResult, SandboxRun, TaskFile

NAME = "autofix"
_FINE = frozenset({0, 1})
"""ruff exits with 1 when something is left that it cannot mend; what it mended still counts."""


class Autofix:
    """`FixAgent` that runs the mending form of the failing commands, lint fixes first, then formatting."""

    def __init__(self, sandbox: Sandbox, artifacts: Artifacts) -> None:
        self._sandbox = sandbox
        self._artifacts = artifacts

    @property
    def name(self) -> str:
        """As configured in SWEEPER_AGENTS."""
        return NAME

    async def fix(self, task: TaskFile, workspace: Workspace, timeout: timedelta) -> FixReport:
        """Run what the table knows for the check plan; `timeout` bounds all of it together."""
        known = repairs(task.check_plan.checks)
        if not known:
            commands = ", ".join(repr(check.command[:80]) for check in task.check_plan.checks) or "an empty check plan"
            return FixReport(agent=NAME, outcome=FixOutcome.NO_CHANGE, summary=f"No automatic fixer knows {commands}.")
        whole = SandboxResult(exit_code=0, seconds=0.0, output=b"")
        for repair in known:
            result = await self._sandbox.run(_run(repair, workspace, timeout.total_seconds() - whole.seconds))
            whole = _joined(whole, repair, result)
            if outcome_of(result, _FINE) is not FixOutcome.EDITED:
                break
        return await report(NAME, outcome_of(whole, _FINE), whole, self._artifacts)


def _run(repair: Repair, workspace: Workspace, seconds: float) -> SandboxRun:
    return SandboxRun(
        workspace=workspace.path,
        argv=("sh", "-c", repair.script),
        working_directory=repair.check.working_directory,
        env={**repair.check.env, "CI": "true", "RUFF_NO_CACHE": "true"},  # no cache directory in the patch
        limits=SandboxLimits(seconds=max(seconds, 1.0)),
    )


def _joined(whole: SandboxResult, repair: Repair, result: SandboxResult) -> SandboxResult:
    return SandboxResult(
        exit_code=result.exit_code,
        seconds=whole.seconds + result.seconds,
        output=whole.output + f"$ {repair.script}\n".encode() + result.output,
        limit=result.limit,
    )
