"""What the activities of upkeep take and give."""

from sweeper.model import RunRef, Wire
from sweeper.model.base import Instant
from sweeper.model.upkeep import Alert, HostTrace, Remains, RepositoryRef, StuckCase
from sweeper.policy.orphans import Judgement


class Overview(Wire):
    """Repositories to look at, and sweeps that were ended by other hands. `problem`: what could not be asked."""

    repositories: tuple[RepositoryRef, ...]
    broken: tuple[Remains, ...]
    problem: str = ""


class Watched(Wire):
    """A repository, and the moment up to which its failed runs are known."""

    repository: RepositoryRef
    since: Instant


class MissedRequest(Wire):
    """Look for failed runs that nobody told us of."""

    watched: tuple[Watched, ...]


class Missed(Wire):
    """`seen`: repository id to the moment up to which its failed runs are known now. `started`: sweeps, by id.

    `until`: GitHub asked us to wait so long; the rest was not looked at.
    """

    seen: dict[str, Instant] = {}
    started: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    until: Instant | None = None


class SurveyRequest(Wire):
    """Look for what is ours in these repositories."""

    repositories: tuple[RepositoryRef, ...]


class Survey(Wire):
    """What was found. `until` as in `Missed`."""

    remains: tuple[Remains, ...] = ()
    problems: tuple[str, ...] = ()
    until: Instant | None = None


class HostSurvey(Wire):
    """What lies on a host."""

    traces: tuple[HostTrace, ...]


class JudgeRequest(Wire):
    """What is to become of these?"""

    remains: tuple[Remains, ...]


class Judged(Wire):
    """Those that are not to be left as they are, and what is left alone although nobody cares for it."""

    judgements: tuple[Judgement, ...] = ()
    problems: tuple[str, ...] = ()


class StartAgainRequest(Wire):
    """Start the sweep of that id, whose record is lost."""

    sweep: str
    run: RunRef


class StartedAgain(Wire):
    """False: there is such a sweep already."""

    is_new: bool


class Stuck(Wire):
    """What cannot go on by itself right now."""

    cases: tuple[StuckCase, ...]


class AlertRequest(Wire):
    """Tell the operator by one channel."""

    alert: Alert
    channel: str
