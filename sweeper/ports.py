"""What the core needs from outside. Models in, models out, async; adapters implement these, tests fake them.

Every method that writes looks before it acts, so calling it twice does the thing once. Only sweeper.errors are
raised. Values here stay in memory (they may hold a secret or a path of this host); what enters the history is
in sweeper.model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from sweeper.model import (
    ArtifactRef,
    CheckPlan,
    Checkpoint,
    CommitMeta,
    Diagnosis,
    Effect,
    FixReport,
    GitAccess,
    Instant,
    JobFacts,
    Patch,
    Proposal,
    RunFacts,
    RunRef,
    Strict,
    SweepInput,
    SweepState,
    Verdict,
    Wire,
    Workspace,
    World,
)
from sweeper.model.proposal import ReviewComment


class LogAnswer(Strict):
    """A job's log, or the reason why there is none (a normal case: expired, runner lost)."""

    text: bytes | None
    missing: str | None = None


class PullRef(Wire):
    """A proposal of ours and the run it answers."""

    run: RunRef
    number: int
    branch: str


class NewPull(Strict):
    """A pull request to open. The host signs `effect_key` into the body as a marker and finds it again by that."""

    run: RunRef
    branch: str
    base: str
    head_sha: str
    title: str
    body: str
    patch_id: str
    effect_key: str


class OpenedPull(Wire):
    """The pull request and how it came to be."""

    proposal: Proposal
    effect: Effect


class CodeHost(Protocol):
    """GitHub: runs, logs, pull requests, reviews. The truth about all of them.

    Raises Transient, RateLimited, OutcomeUnknown (a write whose answer was lost), AuthBroken, NotFound, PolicyDenied,
    Permanent. Writes look by natural key first: our open pull request of that head; our comment with that signed
    marker; merged already; closed already.
    """

    @property
    def api_url(self) -> str:
        """Base URL of the REST face; part of a sweep's identity."""
        ...

    async def login(self) -> str:
        """The login our writes appear under."""
        ...

    async def find_run(self, repository: str, run_id: int) -> RunFacts:
        """The newest attempt of a run, by repository name. For manual triggers. Raises NotFound."""
        ...

    async def read_run(self, run: RunRef) -> RunFacts:
        """The run attempt and its branch right now. Raises NotFound."""
        ...

    async def read_jobs(self, run: RunRef) -> tuple[JobFacts, ...]:
        """All jobs of the attempt."""
        ...

    async def read_log(self, run: RunRef, job_id: int) -> LogAnswer:
        """A job's log, at most 64 MiB; 404, 410 and empty are answers, not errors."""
        ...

    async def read_file(self, repository: str, path: str, commit: str) -> bytes | None:
        """A file at a commit; None if it is not there."""
        ...

    async def read_world(self, pull: PullRef) -> World:
        """The proposal, its reviews with each decisive reviewer's permission, its checks, both branch heads."""
        ...

    async def open_pull(self, new: NewPull) -> OpenedPull:
        """Open it, or answer with our open one of that head (deduplicated by effect key, else adopted)."""
        ...

    async def comment(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        """Post once per effect key."""
        ...

    async def close_pull(self, pull: PullRef, effect_key: str) -> Effect:
        """Close it if it is ours and open."""
        ...

    async def merge_pull(self, pull: PullRef, head_sha: str, effect_key: str) -> Effect:
        """Merge exactly `head_sha`. Raises MergeRefused (405, 409): not now."""
        ...

    async def git_access(self, repository: str) -> GitAccess:
        """URL and short-lived credential for git over HTTP."""
        ...


class Workspaces(Protocol):
    """Mirrors and worktrees on this host's disk. The state of an attempt is a commit; directories are thrown away.

    Raises Transient, OutcomeUnknown, Permanent, AuthBroken, MissingTool. What lies in a workspace is hostile.
    """

    @property
    def host(self) -> str:
        """Stable id of this host's state directory; names its task queue."""
        ...

    async def fetch(self, repository_id: int, commits: Sequence[str], access: GitAccess) -> None:
        """Have these exact commits in the mirror. Twice is a no-op."""
        ...

    async def create(self, repository_id: int, name: str, commit: str) -> Workspace:
        """A fresh checkout under that name; one left over from an earlier try is destroyed first."""
        ...

    async def snapshot(self, workspace: Workspace, meta: CommitMeta, ref: str) -> Patch | None:
        """Commit the tree as it lies there on top of its commit and record it at `ref` (compare-and-set).

        None if nothing changed. Raises PolicyDenied naming the path of a FIFO, socket, device or nested repository.
        """
        ...

    async def recorded(self, repository_id: int, ref: str) -> Patch | None:
        """What an earlier snapshot recorded at `ref`."""
        ...

    async def diff(self, repository_id: int, parent: str, commit: str) -> bytes:
        """Unified diff, binary-safe, no external drivers."""
        ...

    async def merge(self, repository_id: int, ours: str, theirs: str) -> str | None:
        """Commit id of the merge of two commits, the same each time; None on conflict."""
        ...

    async def push(
        self,
        repository_id: int,
        branch: str,
        commit: str,
        expected: str | None,
        access: GitAccess,
        effect_key: str,
    ) -> Effect:
        """Put `branch` at `commit` if it is at `expected` (None: absent) or already there. Raises Stale otherwise."""
        ...

    async def delete_branch(
        self, repository_id: int, branch: str, ours: str, access: GitAccess, effect_key: str
    ) -> Effect:
        """Delete `branch` if it is still at `ours`; gone or moved on is `skipped`."""
        ...

    async def discard(self, repository_id: int, sweep: str) -> None:
        """Remove every workspace and ref of a sweep (names `<sweep>` and `<sweep>.*`). Twice is a no-op."""
        ...


class SandboxLimits(Strict):
    """Bounds of one command and all it starts."""

    seconds: float = 900.0
    memory_bytes: int = 4 << 30
    processes: int = 512
    file_bytes: int = 1 << 30
    output_bytes: int = 256 << 20


class SandboxRun(Strict):
    """A command in a workspace. `files` appear read-only under `/sweeper/<name>` inside."""

    workspace: str
    argv: tuple[str, ...]
    working_directory: str = "."
    env: Mapping[str, str] = {}
    files: Mapping[str, bytes] = {}
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

    def owner(self) -> tuple[int, int] | None:
        """Host uid and gid that a workspace has to belong to; None: the worker's own."""
        ...

    async def probe(self) -> SandboxFacts:
        """Run a real probe once; the answer is kept."""
        ...

    async def run(self, run: SandboxRun) -> SandboxResult:
        """Run to the end or a limit; on return or cancellation no process of it is alive. Raises MissingTool."""
        ...


class TaskFile(Wire):
    """What an agent is told, as the JSON file that SWEEPER_TASK names. Logs in it are data, not instructions."""

    sweep: str
    attempt: int
    repository: str
    failing_sha: str
    diagnosis: Diagnosis
    excerpts: dict[str, str] = {}
    check_plan: CheckPlan
    previous_verdict: Verdict | None = None
    review_comments: tuple[ReviewComment, ...] = ()


class FixAgent(Protocol):
    """Edits a workspace. What it says is a claim; what counts is the tree it leaves and the verifier's word."""

    @property
    def name(self) -> str:
        """As configured in SWEEPER_AGENTS."""
        ...

    async def fix(self, task: TaskFile, workspace: Workspace, timeout: timedelta) -> FixReport:
        """Try once. A failing agent is a report, not an error."""
        ...


class Artifacts(Protocol):
    """Content-addressed store for big texts. Putting the same bytes twice is one object."""

    async def put(self, data: bytes) -> ArtifactRef:
        """Store already redacted bytes."""
        ...

    async def get(self, ref: ArtifactRef) -> bytes:
        """Raises NotFound, or Bug if the bytes do not match the digest."""
        ...


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


class SweepView(Strict):
    """A sweep as its checkpoint and the service show it. `stuck` is a sentence when it cannot go on by itself."""

    id: str
    checkpoint: Checkpoint
    started_at: Instant
    is_open: bool
    stuck: str | None = None


class SweepRecord(Strict):
    """All that is known of one sweep."""

    view: SweepView
    state: SweepState


class WorkerLife(Strict):
    """Whether some worker is alive, and since when it is or is not."""

    alive: bool
    since: Instant | None = None


class Sweeps(Protocol):
    """The durable sweeps. All reads are answered without a worker. Raises OutOfReach when Temporal is away."""

    async def start(self, workflow_id: str, sweep: SweepInput) -> bool:
        """True: started now. False: it exists, running or ended (nothing was added to it)."""
        ...

    async def is_open(self, workflow_id: str) -> bool | None:
        """None: never heard of it."""
        ...

    async def ring(self, workflow_id: str) -> bool:
        """Make an open sweep look at the world; False if there is none. At most one ring is pending per sweep."""
        ...

    async def cancel(self, workflow_id: str, reason: str) -> bool:
        """Ask an open sweep to clean up and end; False if there is none."""
        ...

    async def open_for_target(self, target: str) -> tuple[str, ...]:
        """Ids of open sweeps for a target."""
        ...

    async def list(self, limit: int = 100) -> tuple[SweepView, ...]:
        """Newest first."""
        ...

    async def show(self, workflow_id: str) -> SweepRecord:
        """Raises NotFound."""
        ...

    async def worker_life(self) -> WorkerLife:
        """Is anybody working?"""
        ...
