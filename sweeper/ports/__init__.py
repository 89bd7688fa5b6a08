"""What the core needs from outside. Models in, models out, async; adapters implement these, tests fake them.

Every method that writes looks before it acts, so calling it twice does the thing once. Only sweeper.errors are
raised. Values here stay in memory (they may hold a secret or a path of this host); what enters the history is
in sweeper.model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sweeper.policy.redaction import Redactor
from sweeper.ports.agents import FixAgent
from sweeper.ports.artifacts import Artifacts
from sweeper.ports.code_host import CodeHost, LogAnswer, NewPull, OpenedPull, PullRef
from sweeper.ports.downloads import Downloads, Gate
from sweeper.ports.journals import Journals
from sweeper.ports.sandbox import Sandbox, SandboxFacts, SandboxLimits, SandboxResult, SandboxRun
from sweeper.ports.spending import Spending
from sweeper.ports.sweeps import SweepRecord, Sweeps, SweepView, WorkerLife
from sweeper.ports.targets import Targets
from sweeper.ports.upkeep import Alerts, Caretaking, Door, Inventory
from sweeper.ports.workspaces import Workspaces

__all__ = [
    "Alerts",
    "Artifacts",
    "Caretaking",
    "CodeHost",
    "Door",
    "Downloads",
    "Durable",
    "FixAgent",
    "Gate",
    "Inventory",
    "Journals",
    "LogAnswer",
    "NewPull",
    "OpenedPull",
    "Ports",
    "PullRef",
    "Sandbox",
    "SandboxFacts",
    "SandboxLimits",
    "SandboxResult",
    "SandboxRun",
    "Spending",
    "SweepRecord",
    "SweepView",
    "Sweeps",
    "Targets",
    "WorkerLife",
    "Workspaces",
]


@dataclass(frozen=True)
class Ports:
    """What the activities of one process stand on, chosen once by the cli."""

    code_host: CodeHost
    workspaces: Workspaces
    sandbox: Sandbox
    agents: Mapping[str, FixAgent]
    artifacts: Artifacts
    author_name: str = "ci-sweeper[bot]"
    author_email: str = "ci-sweeper[bot]@users.noreply.github.com"
    journals: Journals = field(kw_only=True)
    downloads: Downloads | None = None
    redactor: Redactor = field(default_factory=Redactor)


@dataclass(frozen=True)
class Durable:
    """What lives in Temporal, as activities reach it: a worker gets it once it is connected."""

    sweeps: Sweeps
    targets: Targets
    upkeep: Caretaking | None = None
    spending: Spending = field(kw_only=True)
