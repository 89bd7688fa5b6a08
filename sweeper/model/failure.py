"""What failed, why we think so, and the commands that show it."""

from enum import StrEnum

from sweeper.model.base import Instant, Wire
from sweeper.model.run import JobFacts


class ArtifactRef(Wire):
    """A big text, kept outside the history under its own digest (`sha256:<hex>`)."""

    digest: str
    size: int


class Annotation(Wire):
    """What GitHub or a tool noted on a job, redacted and cut: the only place that names a time limit."""

    level: str
    message: str
    path: str = ""
    line: int | None = None
    title: str = ""


class JobEvidence(Wire):
    """A failing job with its (redacted) log. `log` None: there is none, and `log_missing` says why."""

    job: JobFacts
    log: ArtifactRef | None = None
    log_missing: str | None = None
    annotations: tuple[Annotation, ...] = ()


class Evidence(Wire):
    """A fact about a subject at a time. After `expires_at` it must be read again before anything acts on it."""

    kind: str
    subject: str
    digest: str
    version: int
    captured_at: Instant
    expires_at: Instant


class FailureClass(StrEnum):
    """What kind of failure it is."""

    LINT = "lint"
    FORMAT = "format"
    TYPE = "type"
    TEST = "test"
    BUILD = "build"
    DEPENDENCY = "dependency"
    CONFIGURATION = "configuration"
    FLAKY = "flaky"
    INFRASTRUCTURE = "infrastructure"
    OUTSIDE_CODE = "outside_code"
    UNKNOWN = "unknown"


class Action(StrEnum):
    """What a diagnosis leads to."""

    FIX = "fix"
    RERUN_ONCE = "rerun_once"
    WAIT = "wait"
    TELL_HUMAN = "tell_human"


class TestedTree(Wire):
    """The tree CI really built: a commit, or its merge with `merged_with`. `source`: where that is known from."""

    __test__ = False  # not a test case, whatever its name begins with

    commit: str
    merged_with: str | None = None
    source: str = "the commit that was pushed"


class Tool(Wire):
    """A program that a setup action of the workflow installs. `version` as asked for, a prefix: `3.12`, `20`."""

    name: str
    version: str = ""


class PlanStep(Wire):
    """A script of the job, as the workflow would run it. `id`: under which later steps find its outputs.

    `may_fail`: the workflow goes on if it does (`continue-on-error`).
    """

    name: str
    command: str
    shell: str = "default"
    working_directory: str = "."
    env: dict[str, str] = {}
    id: str = ""
    may_fail: bool = False


class Check(Wire):
    """One command that shows the failure, as the workflow would run it.

    `before` runs first, in the same tree: what prepares the job, and passed in CI. `after` are the job's other tests,
    which must be no redder with a patch than without. `tools` have to be installed where it runs.
    """

    name: str
    command: str
    job: str = ""
    step: str = ""
    shell: str = "default"
    working_directory: str = "."
    env: dict[str, str] = {}
    before: tuple[PlanStep, ...] = ()
    after: tuple[PlanStep, ...] = ()
    tools: tuple[Tool, ...] = ()


class CheckPlan(Wire):
    """The checks of a failure and where they come from. Empty with `unverifiable` set: no proof possible.

    `reasons`: a sentence for each step of the job, why it is in or out. `uncovered`: a sentence for each failing job
    that no check stands for, and why; a proof says so.
    """

    checks: tuple[Check, ...] = ()
    source: str = ""
    unverifiable: str | None = None
    reasons: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()


class OtherFix(Wire):
    """An open pull request of somebody else that seems to be the fix, and why we think so."""

    number: int
    url: str
    why: str


class Background(Wire):
    """What else is known of a failure: elsewhere, earlier, in other attempts.

    `head_fails_alike` None: the target's head says nothing. `seen_in`: earlier sweeps of the same signature, newest
    first. `red_since`: when the workflow last passed there; `commits_since_green`: `<sha> <subject>` of what came
    since then, oldest first. `target_fails_alike`, `newer_base`: of a pull request's
    target the same, and where it is now, if it has moved on.
    """

    head_fails_alike: bool | None = None
    target_fails_alike: bool | None = None
    green_attempts: tuple[int, ...] = ()
    seen_in: tuple[str, ...] = ()
    other_fix: OtherFix | None = None
    last_green: str | None = None
    red_since: Instant | None = None
    commits_since_green: tuple[str, ...] = ()
    newer_base: str | None = None


class Diagnosis(Wire):
    """What the triage decided, with the lines that led there. `jobs` names every failing job."""

    job: str
    step: str
    command: str
    failure_class: FailureClass
    action: Action
    reasons: tuple[str, ...] = ()
    error_lines: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    signature: str
    jobs: tuple[str, ...] = ()
    background: Background = Background()
