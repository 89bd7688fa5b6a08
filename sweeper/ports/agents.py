"""Agents that edit a workspace."""

from datetime import timedelta
from typing import Protocol, runtime_checkable

from sweeper.model import FixReport, Spent, Workspace
from sweeper.model.task import Task


class FixAgent(Protocol):
    """Edits a workspace. What it says is a claim; what counts is the tree it leaves and the verifier's word."""

    @property
    def name(self) -> str:
        """As configured in SWEEPER_AGENTS."""
        ...

    async def fix(self, task: Task, workspace: Workspace, timeout: timedelta) -> FixReport:
        """Try once. A failing agent is a report, not an error."""
        ...


@runtime_checkable
class KeepsAccount(Protocol):
    """An agent that knows what a try has spent, even if its worker was killed before it could report."""

    def spent(self, sweep: str, attempt: int) -> Spent:
        """Up to now, in all runs of that try on this host."""
        ...
