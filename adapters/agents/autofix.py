"""Deterministic fixers: no model, no guess, the same edit each time.

Fixing twice is safe: each try gets a fresh workspace, and a fixer that has nothing left to mend changes nothing.
"""

from collections.abc import Sequence
from datetime import timedelta

from adapters.agents.fixing import (
    Complaint,
    Packages,
    Repair,
    fits,
    packages_asked,
    repairs,
    scripts_in,
)
from adapters.agents.fixing.account import Account
from adapters.agents.fixing.marks import Mark
from adapters.agents.fixing.room import Clock, Means, Room
from sweeper.errors import BadInput, Unverifiable
from sweeper.model import Check, FixOutcome, FixReport, PlanStep, Workspace
from sweeper.model.task import Task
from sweeper.ports import Artifacts, Downloads, Sandbox, SandboxRun, Workspaces

NAME = "autofix"
_PACKAGE_BYTES = 1 << 20
_NOT_TO_BE_RUN = (Unverifiable, BadInput)
"""BadInput: commands and variables are the repository's words, and a sandbox cannot pass on every one of them."""


class Autofix:
    """`FixAgent` that runs the mending form of the failing commands: lock files, lint fixes, then formatting.

    With `workspaces` and `downloads` the set-up steps of the check's job run first, offline from what they downloaded
    when the failure was shown; fixers that have to resolve packages anew may fetch.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        artifacts: Artifacts,
        workspaces: Workspaces | None = None,
        downloads: Downloads | None = None,
    ) -> None:
        self._means = Means(sandbox, workspaces, downloads)
        self._artifacts = artifacts

    @property
    def name(self) -> str:
        """As configured in SWEEPER_AGENTS."""
        return NAME

    async def fix(self, task: Task, workspace: Workspace, timeout: timedelta) -> FixReport:
        """Run what the catalogue knows for the check plan; `timeout` bounds all of it together."""
        checks = task.check_plan.checks
        known = repairs(checks, await self._packages(checks, workspace))
        fitting = [repair for repair in known if fits(repair, _complaint(task))]
        if not fitting:
            return FixReport(agent=NAME, outcome=FixOutcome.NO_CHANGE, summary=_why_not(task, known))
        account, clock = Account(), Clock(timeout.total_seconds())
        for group in _by_surroundings(fitting):
            try:
                await self._mend(group, workspace, account, clock)
            except _NOT_TO_BE_RUN as reason:
                account.stopped(str(reason))
            if account.is_over:
                break
        return await account.report(NAME, self._artifacts)

    async def _mend(self, group: Sequence[Repair], workspace: Workspace, account: Account, clock: Clock) -> None:
        """Repairs that need the same set-up, in one room."""
        room = Room(self._means, workspace, group[0].check, clock)
        async with room.opened(fetching=group[0].fixer.downloads):
            entered = await room.mark()
            if (failed := await room.set_up()) is not None:
                account.not_set_up(*failed)
                return
            first = before = await room.mark()
            for repair in group:
                before = await _run(repair, room, before, account)
                if account.is_over:
                    break
            if entered is not None and first is not None:
                await room.tidy(entered, first)

    async def _packages(self, checks: Sequence[Check], workspace: Workspace) -> Packages:
        """Read inside the sandbox: a package.json may be a link to anywhere."""
        found = {}
        for place in packages_asked(checks):
            script = " && ".join([*place.moves, f"head -c {_PACKAGE_BYTES} package.json"])
            run = SandboxRun(workspace=workspace.path, argv=("sh", "-c", script), working_directory=place.directory)
            try:
                result = await self._means.sandbox.run(run)
            except BadInput:
                continue
            if result.exit_code == 0:
                found[place] = scripts_in(result.output)
        return found


async def _run(repair: Repair, room: Room, before: Mark | None, account: Account) -> Mark | None:
    """One fixer, and the tree after it."""
    result = await room.run(_step(repair))
    after = await room.mark(before) if before is not None else None
    if after is not None and repair.fixer.downloads:
        spoiled = await room.readdress(after.changed)
        after = await room.mark(before)
        if spoiled:
            account.put_back(repair, result, spoiled)
            return after
    account.ran(repair, result, after)
    return after or before


def _step(repair: Repair) -> PlanStep:
    check = repair.check
    return PlanStep(
        name=repair.fixer.name,
        command=repair.script,
        shell=check.shell,
        working_directory=check.working_directory,
        env=check.env,
    )


def _by_surroundings(found: Sequence[Repair]) -> list[list[Repair]]:
    """Repairs whose jobs are set up alike, together; else in their order."""
    groups: list[list[Repair]] = []
    for repair in found:
        alike = (group for group in groups if _surroundings(group[0]) == _surroundings(repair))
        if (group := next(alike, None)) is not None:
            group.append(repair)
        else:
            groups.append([repair])
    return groups


def _surroundings(repair: Repair) -> tuple[object, ...]:
    """What has to be the same for one room: a fixer that needs no registry never gets to one."""
    return (repair.check.before, repair.check.tools, repair.fixer.downloads)


def _complaint(task: Task) -> Complaint:
    log = "\n".join((*task.diagnosis.error_lines, *task.excerpts.values()))
    return Complaint(task.diagnosis.failure_class, log)


def _why_not(task: Task, known: Sequence[Repair]) -> str:
    checks = task.check_plan.checks
    if not known:
        commands = ", ".join(repr(check.command[:80]) for check in checks) or "an empty check plan"
        return f"No automatic fixer knows {commands}."
    names = ", ".join(dict.fromkeys(repair.fixer.name for repair in known))
    return f"The failure is of class {task.diagnosis.failure_class.value}, which {names} cannot be expected to mend."
