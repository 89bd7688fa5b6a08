"""The check of `sweeper try`, once, before anything is started: most mistakes show here."""

from datetime import timedelta
from pathlib import Path

from adapters.sandbox import choose_sandbox
from sweeper.activities.checks import CheckRunner, with_excerpts
from sweeper.cli import composition
from sweeper.cli.command import people
from sweeper.cli.worker_role import NO_SANDBOX
from sweeper.config import StateDir
from sweeper.errors import BadInput, MissingProgram
from sweeper.model import Check, CheckPlan, CheckResult, GitAccess
from worktrees.borrow import Borrowed

CHECK_SECONDS = timedelta(minutes=15)
REPOSITORY_ID = 0
NAME = "preflight"


async def run_check(check: str, borrowed: Borrowed, root: Path, *, allow_unsandboxed: bool) -> CheckResult:
    """How the check ends on the files as they are, with an excerpt of what it said.

    Raises MissingProgram and MissingTool naming what is missing, BadInput if a limit ended the check.
    """
    sandbox = await choose_sandbox(allow_unsandboxed, private=(root,))
    if (await sandbox.probe()).name == "none":
        people.print(NO_SANDBOX, style="bold red")
    store = composition.artifacts(StateDir(root))
    runner = CheckRunner(sandbox, store)
    workspaces = composition.workspaces(root / NAME, sandbox)
    await workspaces.fetch(REPOSITORY_ID, [borrowed.commit], GitAccess(url=borrowed.path.as_uri()))
    workspace = await workspaces.create(REPOSITORY_ID, NAME, borrowed.commit)
    results = await runner.run_all(CheckPlan(checks=(Check(name="check", command=check),)), workspace, CHECK_SECONDS)
    await workspaces.discard(REPOSITORY_ID, NAME)
    if problem := runner.problem(results):
        if results[0].missing_program:
            raise MissingProgram(f"The check cannot run: {problem}; install it there or give another --check.")
        raise BadInput(f"The check cannot be judged: {problem}; give a quicker or smaller --check.")
    return (await with_excerpts(results, store))[0]
