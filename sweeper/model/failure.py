"""What failed, why we think so, and the commands that show it."""

from enum import StrEnum

from sweeper.model.base import Instant, Wire
from sweeper.model.run import JobFacts


class ArtifactRef(Wire):
    """A big text, kept outside the history under its own digest (`sha256:<hex>`)."""

    digest: str
    size: int


class JobEvidence(Wire):
    """A failing job with its (redacted) log. `log` None: there is none, and `log_missing` says why."""

    job: JobFacts
    log: ArtifactRef | None = None
    log_missing: str | None = None


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
    TEST = "test"
    UNKNOWN = "unknown"


class Check(Wire):
    """One command that shows the failure, as the workflow would run it."""

    name: str
    command: str
    job: str = ""
    step: str = ""
    shell: str = "default"
    working_directory: str = "."
    env: dict[str, str] = {}


class CheckPlan(Wire):
    """The checks of a failure and where they come from. Empty with `unverifiable` set: no proof possible."""

    checks: tuple[Check, ...] = ()
    source: str = ""
    unverifiable: str | None = None


class Diagnosis(Wire):
    """What the triage decided, with the lines that led there. `jobs` names every failing job."""

    job: str
    step: str
    command: str
    failure_class: FailureClass
    action: str
    reasons: tuple[str, ...] = ()
    error_lines: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    signature: str
    jobs: tuple[str, ...] = ()
