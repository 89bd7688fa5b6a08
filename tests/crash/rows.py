"""The rows of the crash suite, made from the list of activities and from what undisturbed sweeps did."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from sweeper.activities import names
from sweeper.model import Strict
from tests.crash.reference import Reference
from tests.support.dying_worker import Moment


class Table(StrEnum):
    """Which question a row belongs to."""

    KILLS = "kills"
    UNDO = "undo"
    FAULTS = "faults"
    FAILURES = "failures"


class Point(StrEnum):
    """Where an activity is when something is killed. `call`: its outgoing call is on the way, and arrives late;
    `answer`: the call has had its effect, its answer is on the way.
    """

    BEFORE = "before"
    CALL = "call"
    ANSWER = "answer"
    AFTER = "after"


class Killed(StrEnum):
    """Which processes get `kill -9`."""

    WORKER = "worker"
    TEMPORAL = "temporal"
    BOTH = "both"
    WEB = "web"


class Row(Strict):
    """One disturbance of one sweep. `subject`: the activity, or the effect a fault is for; `moment` and `how` are a
    point and what is killed, or a fault's kind and whether it strikes before or after the effect.
    """

    table: Table
    subject: str
    moment: str
    how: str
    scenario: str

    @property
    def key(self) -> str:
        """The row's name."""
        return f"{self.table}-{self.subject}-{self.moment}-{self.how}"


PASSING = ("500", "502", "503", "429", "403_secondary", "reset", "truncate", "slow", "hold", "stale_read")
LASTING = ("405", "422", "403_resource")
"""Refusals that no second try can change: the sweep has to end well, not to go on."""


FIRST_PASS = (
    names.LIST_REPOSITORIES,
    names.FIND_MISSED_RUNS,
    names.SURVEY_GITHUB,
    names.SURVEY_HOST,
    names.JUDGE_REMAINS,
    names.START_AGAIN,
)
SECOND_PASS = (names.FIND_STUCK, names.SEND_ALERT)
UPKEEP = (*FIRST_PASS, *SECOND_PASS)
"""Upkeep's own activities belong to no sweep: one story of their own, in which each is killed in its turn."""
AFTERMATH = "aftermath"


def unreached(references: Sequence[Reference]) -> list[str]:
    """Activities of sweeps and targets that no story reaches."""
    reached = {activity for reference in references for activity in reference.activities}
    return [act.name for act in names.ALL if act not in UPKEEP and act.name not in reached]


def all_rows(references: Sequence[Reference]) -> list[Row]:
    """Everything there is to disturb. Activities no story reaches have no row here; see `unreached`."""
    first: dict[str, Reference] = {}
    for reference in references:
        for activity in reference.activities:
            first.setdefault(activity, reference)
    known = [(act.name, first[act.name]) for act in names.ALL if act.name in first]
    return [
        *_kills(known),
        *_upkeep(),
        *_undo(next(reference for reference in references if reference.scenario == "cancelled")),
        *_faults(references),
        *(_row(Table.FAILURES, name, moment, "for good", ref) for name, ref in known for moment in _FAILING),
    ]


_FAILING = (Moment.DENIED, Moment.SPOILT)


def _kills(known: Sequence[tuple[str, Reference]]) -> Iterator[Row]:
    for killed in Killed:
        for name, reference in known:
            for point in points(reference, name):
                yield _row(Table.KILLS, name, point, killed, reference)


def _upkeep() -> Iterator[Row]:
    """No web process has a part in it."""
    for killed in (Killed.WORKER, Killed.TEMPORAL, Killed.BOTH):
        for act in UPKEEP:
            for point in (Point.BEFORE, Point.AFTER):
                yield Row(table=Table.KILLS, subject=act.name, moment=point, how=killed, scenario=AFTERMATH)


def points(reference: Reference, activity: str) -> tuple[Point, ...]:
    """Where this activity can be stopped: not every one calls anybody, not every call changes anything."""
    hold = reference.holds.get(activity)
    if hold is None:
        return (Point.BEFORE, Point.AFTER)
    return tuple(Point) if hold.writes else (Point.BEFORE, Point.CALL, Point.AFTER)


def _undo(cancelled: Reference) -> Iterator[Row]:
    for activity in cancelled.undoing:
        for point in points(cancelled, activity):
            yield _row(Table.UNDO, activity, point, Killed.WORKER, cancelled)


def _faults(references: Sequence[Reference]) -> Iterator[Row]:
    seen = set()
    for reference in references:
        for effect in reference.writes:
            if effect in seen:
                continue
            seen.add(effect)
            for kind in (*PASSING, *LASTING):
                for when in _moments(reference, effect, kind):
                    yield _row(Table.FAULTS, effect, kind, when, reference)


def _moments(reference: Reference, effect: str, kind: str) -> tuple[str, ...]:
    """A late read strikes after the effect only, and after the first one that its activity makes."""
    if kind != "stale_read":
        return ("before", "after")
    doer = reference.doers.get(effect)
    first = next((other for other, activity in reference.doers.items() if activity == doer), None)
    return ("after",) if doer and first == effect else ()


def _row(table: Table, subject: str, moment: str, how: str, reference: Reference) -> Row:
    return Row(table=table, subject=subject, moment=str(moment), how=str(how), scenario=reference.scenario)
