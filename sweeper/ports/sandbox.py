"""Running foreign code where it can do no harm."""

from collections.abc import Mapping
from typing import Protocol

from sweeper.model import Strict, Tool


class SandboxLimits(Strict):
    """Bounds of one command and all it starts. `spare_disk_bytes`: what has to stay free where its workspace lies."""

    seconds: float = 900.0
    memory_bytes: int = 4 << 30
    processes: int = 512
    file_bytes: int = 1 << 30
    output_bytes: int = 256 << 20
    spare_disk_bytes: int = 256 << 20


class SandboxRun(Strict):
    """A command in a workspace. `files` appear read-only under `/sweeper/<name>` inside.

    `home`: a host directory that is $HOME inside, so that what one command installs there is there for the next; None:
    an empty one of its own. `gate`: a host directory with the sockets of a `Gate`, the only way out.
    """

    workspace: str
    argv: tuple[str, ...]
    working_directory: str = "."
    env: Mapping[str, str] = {}
    files: Mapping[str, bytes] = {}
    home: str | None = None
    gate: str | None = None
    limits: SandboxLimits = SandboxLimits()


class SandboxResult(Strict):
    """How it ended. `output` keeps head and tail with the cut marked; `limit` names the limit that ended it."""

    exit_code: int | None
    seconds: float
    output: bytes
    limit: str | None = None


class SandboxFacts(Strict):
    """What the probe found. `problem` None: usable; else one sentence naming the cause and the remedy."""

    name: str
    version: str = ""
    path: str = ""
    held: tuple[str, ...] = ()
    problem: str | None = None


class Sandbox(Protocol):
    """Runs a command that sees its workspace, /usr and the tools: no network, no secret, never host uid 0."""

    @property
    def search_path(self) -> tuple[str, ...]:
        """Directories where programs are looked for inside."""
        ...

    def installed(self) -> tuple[Tool, ...]:
        """Programs that setup actions are mapped to, with their full versions: python, node, java, go, rust, ruby."""
        ...

    def owner(self) -> tuple[int, int] | None:
        """Host uid and gid that a workspace has to belong to; None: the worker's own."""
        ...

    async def probe(self) -> SandboxFacts:
        """Run a real probe once; the answer is kept."""
        ...

    async def run(self, run: SandboxRun) -> SandboxResult:
        """Run to the end or a limit; on return or cancellation no process of it is alive. Raises MissingTool."""
        ...
