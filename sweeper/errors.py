"""The error tree: one class per way to go on.

    SweeperError                 message = one sentence that says what to do next
    ├── Transient                try again soon: 5xx, timeouts, connection resets
    ├── OutcomeUnknown           a write whose answer was lost: look, then try again
    ├── RateLimited              not before `retry_at`; the workflow sleeps, nothing is polled
    ├── HostLost                 no worker serves the host that has the worktree: prepare it elsewhere
    ├── Stale                    the world moved; what was decided is not true any more
    ├── AuthBroken               credentials are refused; an operator has to act
    ├── Unverifiable             the proof cannot be made here (never green by default)
    │   └── MissingProgram       a check needs a program that is not on this machine
    ├── Permanent                trying again cannot help
    │   ├── BadInput             the caller's mistake
    │   ├── NotFound             it is not there, or not visible to us
    │   ├── PolicyDenied         allowed by GitHub, refused by our rules or by theirs
    │   └── MergeRefused         GitHub will not merge it now (405, 409): a named wait, not a failure
    ├── MissingTool              this machine lacks something we need (git, bubblewrap, temporal)
    ├── OutOfReach               Temporal or GitHub does not answer
    │   └── PortTaken            somebody else listens where a server of ours was to
    └── Bug                      our own mistake
        └── NonDeterminism       a recorded key came back with other arguments

Temporal matches error types by exact name, so `NON_RETRYABLE` is derived by walking the tree:
a new subclass inherits its parent's behaviour and cannot be forgotten.
"""

from datetime import datetime
from enum import Enum
from typing import ClassVar


class Retry(Enum):
    """What the one retrier, Temporal, does with an error."""

    SOON = "soon"
    LATER = "later"
    NEVER = "never"


class SweeperError(Exception):
    """Base of all expected errors; `str(error)` is one sentence for a human."""

    retry: ClassVar[Retry] = Retry.NEVER
    exit_code: ClassVar[int] = 1


class Transient(SweeperError):
    """A passing fault; the same call may well succeed in a moment."""

    retry = Retry.SOON
    exit_code = 4


class OutcomeUnknown(SweeperError):
    """A write was sent and its answer was lost. Safe to retry because every write looks before it acts."""

    retry = Retry.SOON
    exit_code = 4


class RateLimited(SweeperError):
    """GitHub asked us to wait. The activity ends; the workflow sleeps until `retry_at` (UTC)."""

    retry = Retry.LATER
    exit_code = 4

    def __init__(self, message: str, retry_at: datetime) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class HostLost(SweeperError):
    """The host that owns the worktree serves nobody; rebuild from commits on another one."""


class Stale(SweeperError):
    """Evidence does not hold any more; decide again from the world as it is."""


class AuthBroken(SweeperError):
    """Credentials were refused; only an operator can mend that."""

    exit_code = 4


class Unverifiable(SweeperError):
    """A proof that cannot be made on this machine. Never to be read as green."""


class MissingProgram(Unverifiable):
    """The check asks for a program that was not found; the message says where it was looked for."""

    exit_code = 3


class Permanent(SweeperError):
    """Trying again cannot help."""


class BadInput(Permanent):
    """What the caller gave cannot be used."""

    exit_code = 2


class NotFound(Permanent):
    """The thing does not exist, or our credentials do not show it."""

    exit_code = 2


class PolicyDenied(Permanent):
    """Refused by a rule: ours, the repository's or GitHub's permission system."""


class MergeRefused(Permanent):
    """GitHub refused the merge for now (405 not mergeable, 409 head moved)."""


class MissingTool(SweeperError):
    """Something that must be installed on this machine is not there."""

    exit_code = 3


class OutOfReach(SweeperError):
    """A service we stand on does not answer."""

    retry = Retry.SOON
    exit_code = 4


class PortTaken(OutOfReach):
    """Another program listens there; another port may do."""


class Bug(SweeperError):
    """An invariant of ours does not hold."""


class NonDeterminism(Bug):
    """The same action key was asked again with other arguments."""


def _family(root: type[SweeperError]) -> list[type[SweeperError]]:
    return [root, *(member for child in root.__subclasses__() for member in _family(child))]


BY_NAME: dict[str, type[SweeperError]] = {cls.__name__: cls for cls in _family(SweeperError)}
"""Error type name, as recorded by Temporal, to class."""

NON_RETRYABLE: list[str] = sorted(name for name, cls in BY_NAME.items() if cls.retry is not Retry.SOON)
"""For RetryPolicy.non_retryable_error_types, which compares exact names."""
