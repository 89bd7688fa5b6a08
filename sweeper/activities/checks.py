"""Running the checks of a plan in a workspace."""

import re
from collections.abc import Sequence
from datetime import timedelta

from sweeper.model import Check, CheckPlan, CheckResult, Workspace
from sweeper.policy.joblog import excerpt
from sweeper.policy.plan import shell_argv
from sweeper.policy.redaction import redact
from sweeper.ports import Artifacts, Sandbox, SandboxLimits, SandboxResult, SandboxRun

EXCERPT_BYTES = 1500
COMMAND_CHARS = 300
NOT_FOUND = 127
_SAYS_SO = re.compile(
    r"(?P<program>[^\s:'\"]+)['\"]?:\s+(?:command )?not found|(?P<path>\S+): No such file or directory"
)
_PARITY = {"CI": "true", "GITHUB_ACTIONS": "true", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


class CheckRunner:
    """Runs checks and keeps their output as artefacts. Exit codes and limits decide; texts decide nothing."""

    def __init__(self, sandbox: Sandbox, artifacts: Artifacts) -> None:
        self._sandbox = sandbox
        self._artifacts = artifacts

    async def run_all(self, plan: CheckPlan, workspace: Workspace, each: timedelta) -> tuple[CheckResult, ...]:
        """Every check once, in order; `each` bounds one check."""
        sandbox = (await self._sandbox.probe()).name
        return tuple([await self._run(check, workspace, each, sandbox) for check in plan.checks])

    async def _run(self, check: Check, workspace: Workspace, each: timedelta, sandbox: str) -> CheckResult:
        result = await self._sandbox.run(
            SandboxRun(
                workspace=workspace.path,
                argv=shell_argv(check),
                working_directory=check.working_directory,
                env={**_PARITY, **check.env},
                limits=SandboxLimits(seconds=each.total_seconds()),
            )
        )
        return CheckResult(
            check=check.name,
            command=check.command[:COMMAND_CHARS],
            exit_code=result.exit_code,
            seconds=round(result.seconds, 3),
            limit=result.limit,
            missing_program=self._missing(result),
            output=await self._artifacts.put(redact(result.output)),
            sandbox=sandbox,
        )

    def _missing(self, result: SandboxResult) -> str | None:
        """The shell's own last word names the program: `bash: line 1: foo: command not found`."""
        if result.exit_code != NOT_FOUND:
            return None
        for line in reversed(result.output.decode("utf-8", "replace").splitlines()):
            if said := _SAYS_SO.search(line):
                return said["program"] or said["path"]
        return "a program"

    def problem(self, results: tuple[CheckResult, ...]) -> str | None:
        """Why these results prove nothing; None if they do."""
        for result in results:
            if result.missing_program:
                places = ":".join(self._sandbox.search_path)
                return f"missing program {result.missing_program!r}: it was looked for in {places}"
            if result.limit:
                return f"check {result.check!r} was ended by its {result.limit} limit"
        return None


async def with_excerpts(results: Sequence[CheckResult], artifacts: Artifacts) -> tuple[CheckResult, ...]:
    """The same results with a few lines of their output, for people and agents to read."""
    filled = []
    for result in results:
        text = excerpt(await artifacts.get(result.output), EXCERPT_BYTES) if result.output else ""
        filled.append(result.model_copy(update={"excerpt": text}))
    return tuple(filled)
