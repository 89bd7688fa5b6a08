"""`Sandbox` that runs nothing: a script of answers by command, and a record of what was asked."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sweeper.model import Tool
from sweeper.ports import SandboxFacts, SandboxResult, SandboxRun

NOT_SCRIPTED = 127


@dataclass(frozen=True)
class Reply:
    """How a command ends. `edit` gets the workspace's path and may change what lies there."""

    exit_code: int | None = 0
    output: bytes = b""
    limit: str | None = None
    seconds: float = 0.01
    edit: Callable[[str], None] | None = None


Answer = Reply | Callable[[SandboxRun], Reply]


@dataclass
class FakeSandbox:
    """Teach it with `on`; look at `runs`. A later rule wins over an earlier one; an unknown command is "not found"."""

    rules: list[tuple[str, Answer]] = field(default_factory=list)
    runs: list[SandboxRun] = field(default_factory=list)
    problem: str | None = None
    error: Exception | None = None
    search_path: tuple[str, ...] = ("/usr/bin", "/bin")
    tools: tuple[Tool, ...] = (Tool(name="python", version="3.11.7"), Tool(name="node", version="20.20.2"))

    def on(self, part: str, answer: Answer) -> "FakeSandbox":
        """Answer so to every command whose words, joined by spaces, contain `part`."""
        self.rules.insert(0, (part, answer))
        return self

    def installed(self) -> tuple[Tool, ...]:
        """As `tools` says."""
        return self.tools

    def owner(self) -> None:
        """Workspaces stay as they are."""
        return

    async def probe(self) -> SandboxFacts:
        """Usable unless `problem` says otherwise."""
        return SandboxFacts(name="fake", held=("everything",), problem=self.problem)

    async def run(self, run: SandboxRun) -> SandboxResult:
        """The scripted answer; `error` is raised instead if it is set."""
        self.runs.append(run)
        if self.error is not None:
            raise self.error
        words = " ".join(run.argv)
        answer = next((answer for part, answer in self.rules if part in words), None)
        if answer is None:
            return SandboxResult(exit_code=NOT_SCRIPTED, seconds=0.0, output=f"{words}: not scripted\n".encode())
        reply = answer if isinstance(answer, Reply) else answer(run)
        if reply.edit is not None:
            reply.edit(run.workspace)
        return SandboxResult(exit_code=reply.exit_code, seconds=reply.seconds, output=reply.output, limit=reply.limit)
