"""`FixAgent` that follows a script: each try makes the next edit."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from sweeper.model import FixOutcome, FixReport, Spent, Workspace
from sweeper.model.task import Task

Edit = Callable[[Workspace], None]
NOTHING = Spent()


@dataclass(frozen=True)
class Turn:
    """One try: what it does to the workspace and what it says."""

    edit: Edit | None = None
    outcome: FixOutcome = FixOutcome.EDITED
    summary: str = "done"
    error: Exception | None = None
    spent: Spent = NOTHING


class Gate:
    """Holds an agent up until it is opened."""

    def __init__(self) -> None:
        self._reached, self._open = asyncio.Event(), asyncio.Event()

    async def reached(self) -> None:
        """Wait until an agent stands at it."""
        await asyncio.wait_for(self._reached.wait(), 30)

    def open(self) -> None:
        """Let everybody through from now on."""
        self._open.set()

    async def pass_through(self) -> None:
        """The agent's side."""
        self._reached.set()
        await self._open.wait()


@dataclass
class ScriptedAgent:
    """Takes its turns in order and stays with the last one; `tasks` holds what it was told each time."""

    turns: list[Turn]
    name: str = "scripted"
    tasks: list[Task] = field(default_factory=list)
    gate: Gate | None = None

    async def fix(self, task: Task, workspace: Workspace, timeout: timedelta) -> FixReport:
        """Do the next turn."""
        turn = self.turns[min(len(self.tasks), len(self.turns) - 1)]
        self.tasks.append(task)
        if self.gate is not None:
            await self.gate.pass_through()
        if turn.error is not None:
            raise turn.error
        if turn.edit is not None:
            turn.edit(workspace)
        return FixReport(
            agent=self.name, outcome=turn.outcome, summary=turn.summary, exit_code=0, seconds=0.01, spent=turn.spent
        )


def write(files: dict[str, str | None]) -> Edit:
    """An edit on disk: path to new text, None to delete."""

    def edit(workspace: Workspace) -> None:
        for path, text in files.items():
            place = Path(workspace.path, path)
            if text is None:
                place.unlink()
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)

    return edit
