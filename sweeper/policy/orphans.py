"""What becomes of pull requests, branches, records and worktrees whose sweep does not care for them any more.

| the sweep                                | pull request | branch                 | on hosts  |
|------------------------------------------|--------------|------------------------|-----------|
| is open                                  | its own business                                  |||
| is unknown, and its run still fails      | the sweep is started again and adopts all of it   |||
| is unknown, or was ended by other hands  | closed with a sentence | deleted at a commit of ours | discarded |
| ... and somebody moved its branch        | kept with a sentence | kept               | discarded |
| ended as left to a human                 | kept         | kept                   | discarded |
| ended as escalated, with a proposal kept | kept         | kept                   | discarded |
| ended otherwise                          | closed with a sentence | deleted at a commit of ours | discarded |

Of a sweep whose record is gone from everywhere (Temporal keeps ended ones a month) nobody can say what it left on
purpose: what is on GitHub stays and is named. Nothing is ours by its name alone: what no signed marker, no record of
ours and no sweep vouches for is left alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from sweeper.ids import branch_of
from sweeper.model import Outcome, RunRef, SweepState, Wire
from sweeper.model.upkeep import HostTrace, OpenCheck, PullTrace, Remains, RepositoryRef


class Standing(StrEnum):
    """What Temporal knows of a sweep."""

    OPEN = "open"
    UNKNOWN = "unknown"
    BROKEN = "broken"
    ENDED = "ended"


class Fate(StrEnum):
    """What is done."""

    LEAVE = "leave"
    START = "start"
    UNDO = "undo"


class Known(Wire):
    """What is known of a sweep besides its remains.

    `run`: None if the sweep is not of this GitHub, or its repository is out of sight. `is_startable`: the run fails
    still, on the head of its branch. `commits`: those the sweep pushed, by its own record.
    """

    standing: Standing
    outcome: Outcome | None = None
    run: RunRef | None = None
    is_startable: bool = False
    commits: tuple[str, ...] = ()


class Judgement(Wire):
    """What becomes of one sweep's remains. UNDO: say `reason` on `pulls`, close them if `closes`, delete the branch if
    it is still at `delete`, end `checks`, discard on `hosts`. `left`: what stays although it is nobody's, and why.
    """

    sweep: str
    repository: RepositoryRef
    fate: Fate
    reason: str = ""
    run: RunRef | None = None
    outcome: Outcome = Outcome.CANCELLED
    pulls: tuple[PullTrace, ...] = ()
    closes: bool = True
    delete: str | None = None
    proved: str = ""
    checks: tuple[OpenCheck, ...] = ()
    hosts: tuple[str, ...] = ()
    left: str = ""

    @property
    def has_work(self) -> bool:
        """Whether anything is to be done."""
        return bool(self.pulls or self.delete or self.checks or self.hosts)


_WHY = {
    Standing.UNKNOWN: "its sweep is not on record any more",
    Standing.BROKEN: "its sweep was ended by other hands",
    Standing.ENDED: "its sweep has ended",
}


def gather(
    found: Iterable[Remains], traces: Iterable[HostTrace], visible: Mapping[int, RepositoryRef]
) -> tuple[Remains, ...]:
    """All that was found, one `Remains` for each sweep and repository."""
    by_sweep: dict[tuple[str, int], Remains] = {}
    on_hosts = (
        Remains(
            sweep=trace.sweep,
            repository=visible.get(trace.repository_id, RepositoryRef(id=trace.repository_id)),
            hosts=(trace,),
        )
        for trace in traces
    )
    for item in (*found, *on_hosts):
        key = item.sweep, item.repository.id
        by_sweep[key] = _together(by_sweep[key], item) if key in by_sweep else item
    return tuple(by_sweep.values())


def _together(one: Remains, other: Remains) -> Remains:
    return one.model_copy(
        update={
            "repository": one.repository if one.repository.name else other.repository,
            "pulls": (*one.pulls, *other.pulls),
            "branch_sha": one.branch_sha or other.branch_sha,
            "hosts": (*one.hosts, *other.hosts),
        }
    )


def judge(remains: Remains, known: Known, checks: Sequence[OpenCheck] = ()) -> Judgement:
    """By the table above. The same remains are judged alike each time."""
    nothing = Judgement(sweep=remains.sweep, repository=remains.repository, fate=Fate.LEAVE, run=known.run)
    if known.standing is Standing.OPEN:
        return nothing
    if known.standing is Standing.UNKNOWN and not (remains.pulls or remains.hosts):
        return nothing.model_copy(update={"left": _unvouched(remains)})
    why = _WHY[known.standing]
    if known.standing is Standing.UNKNOWN and known.is_startable:
        return nothing.model_copy(update={"fate": Fate.START, "reason": why})
    plan = {"reason": why, "checks": tuple(checks), "hosts": tuple(dict.fromkeys(t.host for t in remains.hosts))}
    judgement = nothing.model_copy(update={**plan, **_on_github(remains, known)})
    return judgement.model_copy(update={"fate": Fate.UNDO if judgement.has_work else Fate.LEAVE})


def _on_github(remains: Remains, known: Known) -> dict[str, object]:
    """What happens to pull requests and branch."""
    if known.run is None or _keeps(remains, known):
        return {}
    ours = (*known.commits, *(commit for trace in remains.hosts for commit in trace.commits))
    plan: dict[str, object] = {"outcome": known.outcome or Outcome.CANCELLED, "pulls": remains.pulls}
    if remains.branch_sha is None:
        return plan
    if remains.branch_sha in ours:
        return {**plan, "delete": remains.branch_sha}
    if not ours:
        return {"left": f"{_branch(remains)}: no record says which commits were ours"}
    moved = {"outcome": Outcome.LEFT_TO_HUMAN, "closes": False, "proved": ours[-1]}
    return {**plan, **moved, "left": f"{_branch(remains)}: somebody else's commit"}


def _keeps(remains: Remains, known: Known) -> bool:
    if known.standing is not Standing.ENDED:
        return False
    is_kept_proposal = known.outcome is Outcome.ESCALATED and bool(remains.pulls)
    return known.outcome is Outcome.LEFT_TO_HUMAN or is_kept_proposal


def _unvouched(remains: Remains) -> str:
    return f"{_branch(remains)}: nothing vouches for it but its name" if remains.branch_sha else ""


def _branch(remains: Remains) -> str:
    return f"{branch_of(remains.sweep)} at {(remains.branch_sha or '')[:12]} is left alone"


def pushed_by(state: SweepState) -> tuple[str, ...]:
    """Every commit a sweep has put on its branch or meant to, as far as its record tells; the newest last."""
    confirmed = (effect.ref.rpartition("@")[2] for effect in state.effects if effect.name == "branch.push")
    tried = (attempt.patch.commit for attempt in state.attempts if attempt.patch)
    proposed = (state.proposal.head_sha,) if state.proposal else ()
    return tuple(dict.fromkeys((*tried, *state.pushes, *confirmed, *proposed)))
