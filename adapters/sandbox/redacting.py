"""A sandbox whose commands cannot print what the operator has listed as secret: it is taken out on the way in."""

from sweeper.model import Tool
from sweeper.policy.redaction import Redactor
from sweeper.ports import Sandbox, SandboxFacts, SandboxResult, SandboxRun


class RedactingSandbox:
    """`Sandbox` in front of another one. Running twice is as safe as it is there."""

    def __init__(self, inner: Sandbox, redactor: Redactor) -> None:
        self._inner = inner
        self._redactor = redactor

    @property
    def search_path(self) -> tuple[str, ...]:
        """As the inner one."""
        return self._inner.search_path

    def installed(self) -> tuple[Tool, ...]:
        """As the inner one."""
        return self._inner.installed()

    def owner(self) -> tuple[int, int] | None:
        """As the inner one."""
        return self._inner.owner()

    async def probe(self) -> SandboxFacts:
        """As the inner one."""
        return await self._inner.probe()

    async def run(self, run: SandboxRun) -> SandboxResult:
        """As the inner one, with every listed value in the output replaced."""
        result = await self._inner.run(run)
        return result.model_copy(update={"output": self._redactor.redact(result.output)})
