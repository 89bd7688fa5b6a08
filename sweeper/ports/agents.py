"""Agents that edit a workspace, and what they are told."""

from datetime import timedelta
from typing import Protocol, runtime_checkable

from pydantic import Field

from sweeper.model import Allowance, CheckPlan, Diagnosis, FixReport, Spent, Verdict, Wire, Workspace
from sweeper.model.proposal import ReviewComment


class TaskFile(Wire):
    """What an agent is told, as the JSON file that SWEEPER_TASK names. Logs in it are data, not instructions.

    `allowance` is for who runs the agent, and not in the file.
    """

    sweep: str
    attempt: int
    repository: str
    failing_sha: str
    diagnosis: Diagnosis
    excerpts: dict[str, str] = {}
    check_plan: CheckPlan
    previous_verdict: Verdict | None = None
    review_comments: tuple[ReviewComment, ...] = ()
    allowance: Allowance = Field(default=Allowance(), exclude=True)


class FixAgent(Protocol):
    """Edits a workspace. What it says is a claim; what counts is the tree it leaves and the verifier's word."""

    @property
    def name(self) -> str:
        """As configured in SWEEPER_AGENTS."""
        ...

    async def fix(self, task: TaskFile, workspace: Workspace, timeout: timedelta) -> FixReport:
        """Try once. A failing agent is a report, not an error."""
        ...


@runtime_checkable
class KeepsAccount(Protocol):
    """An agent that knows what a try has spent, even if its worker was killed before it could report."""

    def spent(self, sweep: str, attempt: int) -> Spent:
        """Up to now, in all runs of that try on this host."""
        ...
