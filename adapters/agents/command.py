"""Any command line as an agent: it is told what failed, edits the files, and ends.

Fixing twice is safe for us: each try gets a fresh workspace, and only the tree it leaves counts.
"""

from datetime import timedelta

from adapters.agents.report import outcome_of, report
from sweeper.errors import BadInput
from sweeper.model import FixReport, Workspace
from sweeper.ports import Artifacts, Sandbox, SandboxLimits, SandboxRun, TaskFile

NAME = "command"
TASK_NAME = "task.json"
TASK_AT = f"/sweeper/{TASK_NAME}"
"""Where a run's file of that name appears inside, by the sandbox port's contract."""


class CommandAgent:
    """`FixAgent` that runs `sh -c <command>` in the worktree's root with SWEEPER_TASK naming the task's JSON file.

    Exit code 0 means it claims to have edited; anything else is a failed try.
    """

    def __init__(self, command: str, sandbox: Sandbox, artifacts: Artifacts) -> None:
        if not command.strip():
            raise BadInput("The agent `command` has no command line; set SWEEPER_AGENT_COMMAND")
        self._command = command
        self._sandbox = sandbox
        self._artifacts = artifacts

    @property
    def name(self) -> str:
        """As configured in SWEEPER_AGENTS."""
        return NAME

    async def fix(self, task: TaskFile, workspace: Workspace, timeout: timedelta) -> FixReport:
        """Run it once, within `timeout`."""
        result = await self._sandbox.run(
            SandboxRun(
                workspace=workspace.path,
                argv=("sh", "-c", self._command),
                env={"SWEEPER_TASK": TASK_AT, "CI": "true", "NO_COLOR": "1", "TERM": "dumb"},
                files={TASK_NAME: task.model_dump_json(indent=2).encode()},
                limits=SandboxLimits(seconds=timeout.total_seconds()),
            )
        )
        return await report(NAME, outcome_of(result), result, self._artifacts)
