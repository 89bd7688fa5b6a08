"""Running one command of a plan in a sandbox, and keeping what it said."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sweeper.activities.steps import PARITY
from sweeper.model import Check, CheckPlan, CheckResult, Part, Workspace
from sweeper.policy.planning import shell_argv
from sweeper.policy.proof.judging import limit_of
from sweeper.policy.redaction import redact
from sweeper.policy.triage import excerpt
from sweeper.ports import Artifacts, Sandbox, SandboxLimits, SandboxResult, SandboxRun

EXCERPT_BYTES = 1500
COMMAND_CHARS = 300
NOT_FOUND = 127
_SAYS_SO = re.compile(
    r"(?P<program>[^\s:'\"]+)['\"]?:\s+(?:command )?not found|(?P<path>\S+): No such file or directory"
)


@dataclass(frozen=True)
class Command:
    """A command of a plan, by the names under which its result is known."""

    check: str
    text: str
    part: Part = Part.CHECK
    step: str = ""


class CheckRunner:
    """Runs commands and keeps their output as artefacts. Exit codes and limits decide; texts decide nothing."""

    def __init__(self, sandbox: Sandbox, artifacts: Artifacts) -> None:
        self._sandbox = sandbox
        self._artifacts = artifacts

    @property
    def search_path(self) -> tuple[str, ...]:
        """Where programs are looked for."""
        return self._sandbox.search_path

    async def run_all(self, plan: CheckPlan, workspace: Workspace, each: timedelta) -> tuple[CheckResult, ...]:
        """Every check once and alone, in order, without what its job does before; `each` bounds one check."""
        return tuple([(await self.run(_named(check), _alone(check, workspace, each)))[0] for check in plan.checks])

    async def run(self, command: Command, run: SandboxRun) -> tuple[CheckResult, bytes]:
        """The result, and the output as it is kept: redacted, head and tail."""
        sandbox = (await self._sandbox.probe()).name
        result = await self._sandbox.run(run)
        output = redact(result.output)
        kept = CheckResult(
            check=command.check,
            command=command.text[:COMMAND_CHARS],
            exit_code=result.exit_code,
            seconds=round(result.seconds, 3),
            limit=result.limit,
            missing_program=self._missing(result),
            output=await self._artifacts.put(output),
            sandbox=sandbox,
            part=command.part,
            step=command.step,
        )
        return kept.model_copy(update={"limit": limit_of(kept)}), output

    def _missing(self, result: SandboxResult) -> str | None:
        """The shell's own last word names the program: `bash: line 1: foo: command not found`."""
        if result.exit_code != NOT_FOUND:
            return None
        for line in reversed(result.output.decode("utf-8", "replace").splitlines()):
            if said := _SAYS_SO.search(line):
                return said["program"] or said["path"]
        return "a program"

    def problem(self, results: Sequence[CheckResult]) -> str | None:
        """Why these results prove nothing; None if they do."""
        for result in results:
            if result.missing_program:
                places = ":".join(self.search_path)
                return f"missing program {result.missing_program!r}: it was looked for in {places}"
            if result.limit:
                return f"check {result.check!r} was ended by its {result.limit} limit"
        return None


def _named(check: Check) -> Command:
    return Command(check=check.name, text=check.command)


def _alone(check: Check, workspace: Workspace, each: timedelta) -> SandboxRun:
    return SandboxRun(
        workspace=workspace.path,
        argv=shell_argv(check.shell, check.command),
        working_directory=check.working_directory,
        env={**PARITY, **check.env},
        limits=SandboxLimits(seconds=each.total_seconds()),
    )


async def with_excerpts(results: Sequence[CheckResult], artifacts: Artifacts) -> tuple[CheckResult, ...]:
    """The same results with a few lines of their output, for people and agents to read."""
    filled = []
    for result in results:
        shown = excerpt(await artifacts.get(result.output), EXCERPT_BYTES) if result.output else b""
        filled.append(result.model_copy(update={"excerpt": shown.decode("utf-8", "replace")}))
    return tuple(filled)
