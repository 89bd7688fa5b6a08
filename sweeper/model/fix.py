"""An attempt: what the agent did, what the verifier found."""

from enum import StrEnum

from sweeper.model.base import Wire
from sweeper.model.failure import ArtifactRef
from sweeper.model.spending import Spent


class Workspace(Wire):
    """A fresh checkout of `commit` on one host, in `path` (meaningful on that host alone)."""

    host: str
    name: str
    repository_id: int
    commit: str
    path: str


class Part(StrEnum):
    """Which part of a check's job a command is: what prepares it, the failing step itself, another test after it."""

    BEFORE = "before"
    CHECK = "check"
    AFTER = "after"


class Tally(Wire):
    """Tests by their own tool: those it collects in a run of its own, and how those of the report ended.

    `names`: which they are, one a line with its end; its digest is the same for the same tests with the same ends.
    """

    collected: int | None = None
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    source: str = ""
    names: ArtifactRef | None = None

    @property
    def ran(self) -> int:
        """Every test of the report, skipped ones included."""
        return self.passed + self.failed + self.skipped


class CheckResult(Wire):
    """One run of a check. `limit` names the limit that ended it; then the exit code proves nothing.

    `excerpt` is filled in from `output` where somebody reads it; in the history it stays empty. `step` names the
    command when it is not the check itself.
    """

    check: str
    command: str
    exit_code: int | None
    seconds: float
    limit: str | None = None
    missing_program: str | None = None
    excerpt: str = ""
    output: ArtifactRef | None = None
    sandbox: str = ""
    part: Part = Part.CHECK
    step: str = ""
    tally: Tally | None = None

    @property
    def is_green(self) -> bool:
        """Passed by its exit code, within its limits. Texts like "0 failed" decide nothing."""
        return self.exit_code == 0 and self.limit is None


class Patch(Wire):
    """A commit that holds an attempt's change. `patch_id` is git's: the same change on another base keeps it.

    `bundle`: its objects and those of its journal, for a host that lacks them.
    """

    commit: str
    tree: str
    parent: str
    patch_id: str
    files: tuple[str, ...] = ()
    files_changed: int = 0
    lines_changed: int = 0
    bytes_changed: int = 0
    diff: ArtifactRef | None = None
    bundle: ArtifactRef | None = None


class FixOutcome(StrEnum):
    """How the agent's run ended, by what it did, not by what it says."""

    EDITED = "edited"
    NO_CHANGE = "no_change"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class Trouble(StrEnum):
    """What kept an agent from its work, where more is known than how it ended."""

    EXIT_CODE = "exit_code"
    LIMIT = "limit"
    PERMISSION = "permission"
    USED_UP = "used_up"
    CONTEXT_FULL = "context_full"
    MODEL_AWAY = "model_away"
    NO_PROGRAM = "no_program"


class FixReport(Wire):
    """The agent's own account; `summary` is its words (capped, redacted), never a fact of ours.

    `actions`: how many are in its journal; `story`: what they were. `versions`: of the model, prompt and tools it
    worked with. `suspicions`: where a text it was given may have tried to give it orders. `trouble` does not decide
    the outcome: an agent may end well and still have been kept from everything it tried.
    """

    agent: str
    outcome: FixOutcome
    summary: str = ""
    exit_code: int | None = None
    seconds: float = 0.0
    log: ArtifactRef | None = None
    spent: Spent = Spent()
    actions: int = 0
    story: ArtifactRef | None = None
    versions: dict[str, str] = {}
    suspicions: tuple[str, ...] = ()
    trouble: Trouble | None = None


class VerdictKind(StrEnum):
    """What the verifier found."""

    FIXED = "fixed"
    NOT_FIXED = "not_fixed"
    WORSE = "worse"
    TAMPERED = "tampered"
    NOT_REPRODUCED = "not_reproduced"
    FLAKY = "flaky"
    UNVERIFIABLE = "unverifiable"


class Severity(StrEnum):
    """Whether a finding stops the proposal or is shown to the reviewer."""

    REJECT = "reject"
    SHOW = "show"


class Finding(Wire):
    """Something the verifier noticed about a patch."""

    name: str
    place: str
    severity: Severity
    detail: str = ""


class Verdict(Wire):
    """The proof or its absence: what ran on a tree with the patch that no agent has touched, in `results`.

    `restored`: files that were put back to their state in the tested tree for the deciding run. `unchecked`: sentences
    on what this proof does not cover. `sandbox_held`: which bounds the sandbox's probe found to hold.
    """

    kind: VerdictKind
    reason: str = ""
    results: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    tree: str = ""
    patch_id: str = ""
    restored: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    sandbox_held: tuple[str, ...] = ()


class Reproduction(Wire):
    """The checks run on the tested tree before any patch, several times. `problem` set: nothing could be concluded.

    `commit`: what was checked out, the merge that CI built for a pull request; `tree`: its tree. `unchecked`: sentences
    on what this leaves open, for the proof.
    """

    results: tuple[CheckResult, ...] = ()
    problem: str | None = None
    is_flaky: bool = False
    commit: str = ""
    tree: str = ""
    unchecked: tuple[str, ...] = ()

    @property
    def is_red(self) -> bool:
        """At least one check failed by its own exit code."""
        return any(not result.is_green and result.limit is None for result in self.results)


class AttemptResult(Wire):
    """One agent try from start to verdict. `patch` None: nothing to verify. `host`: on whose disk it ended."""

    n: int
    agent: str
    fix: FixReport
    patch: Patch | None = None
    verdict: Verdict
    host: str | None = None
