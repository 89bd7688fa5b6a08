"""Activities of upkeep. All of them may be repeated: most only look; a run that was missed or forgotten has one sweep
however often it is asked for; an alert that is sent twice carries the same id.

What cannot be asked of one repository does not keep the others from being looked at; GitHub's rate limit ends a look
early, and the next pass goes on.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from temporalio import activity

from sweeper import ids
from sweeper.activities import care, names, requests
from sweeper.activities.evidence import started_at
from sweeper.errors import Bug, NotFound, OutOfReach, Permanent, RateLimited, SweeperError
from sweeper.model import RunRef
from sweeper.model.upkeep import OpenCheck, Remains, RepositoryRef
from sweeper.policy.admission import admit_run
from sweeper.policy.orphans import Fate, Judgement, Known, Standing, judge, pushed_by
from sweeper.ports import Caretaking, Durable, Ports, SweepRecord, SweepView

LISTED_SWEEPS = 500
BLIND = timedelta(minutes=30)
"""A longer time without a look than upkeep's own pauses make; worth a line in the log."""

Found = TypeVar("Found", care.Missed, care.Survey, care.Judged)


class UpkeepActivities:
    """Looks at GitHub, hosts and Temporal, and says what does not fit together."""

    def __init__(self, ports: Ports, durable: Durable) -> None:
        self._code_host = ports.code_host
        self._workspaces = ports.workspaces
        self._sweeps = durable.sweeps
        self._upkeep = durable.upkeep

    @property
    def _tools(self) -> Caretaking:
        if self._upkeep is None:
            raise Bug("This worker was built without upkeep but got its work; please report this.")
        return self._upkeep

    @activity.defn(name=names.LIST_REPOSITORIES.name)
    async def list_repositories(self, _nothing: requests.Nothing) -> care.Overview:
        """Where our credentials let us work and where sweeps were; and sweeps ended by other hands."""
        views = await self._sweeps.list(LISTED_SWEEPS)
        problem = ""
        visible: tuple[RepositoryRef, ...] = ()
        try:
            visible = await self._tools.inventory.repositories()
        except SweeperError as error:
            problem = f"repositories could not be listed: {error}"
        known = {
            repository.id: repository for repository in (*map(_repository, reversed(views)), *visible) if repository.id
        }
        return care.Overview(
            repositories=tuple(known.values()), broken=tuple(map(_remains, filter(_is_broken, views))), problem=problem
        )

    @activity.defn(name=names.FIND_MISSED_RUNS.name)
    async def find_missed_runs(self, request: care.MissedRequest) -> care.Missed:
        """Failed runs that no webhook told us of get their sweeps, by the same rules and under the same ids."""
        missed = care.Missed()
        for watched in request.watched:
            now = started_at()
            try:
                started = await self._knock_for(watched)
            except RateLimited as limited:
                return missed.model_copy(update={"until": limited.retry_at})
            except NotFound:  # it is gone, or hidden from us since a sweep was there
                continue
            except OutOfReach:
                raise
            except SweeperError as error:
                missed = _with_problem(missed, watched.repository, error)
                continue
            seen = {**missed.seen, str(watched.repository.id): now}
            missed = missed.model_copy(update={"seen": seen, "started": (*missed.started, *started)})
        return missed

    async def _knock_for(self, watched: care.Watched) -> list[str]:
        failed = await self._tools.inventory.failed_runs(watched.repository, watched.since)
        started = [sweep for run in failed if (sweep := await self._tools.door.knock(run)) is not None]
        is_news = started or started_at() - watched.since > BLIND
        activity.logger.log(
            logging.INFO if is_news else logging.DEBUG,
            "looked for failed runs of %s from %s to %s: %d found, started %s",
            *(watched.repository.name, f"{watched.since:%F %T}", f"{started_at():%F %T}"),
            *(len(failed), ", ".join(started) or "nothing"),
        )
        return started

    @activity.defn(name=names.SURVEY_GITHUB.name)
    async def survey_github(self, request: care.SurveyRequest) -> care.Survey:
        """Open pull requests and branches of ours."""
        survey = care.Survey()
        for repository in request.repositories:
            try:
                found = await self._tools.inventory.remains(repository)
            except RateLimited as limited:
                return survey.model_copy(update={"until": limited.retry_at})
            except NotFound:
                continue
            except SweeperError as error:
                survey = _with_problem(survey, repository, error)
                continue
            survey = survey.model_copy(update={"remains": (*survey.remains, *found)})
        return survey

    @activity.defn(name=names.SURVEY_HOST.name)
    async def survey_host(self, _nothing: requests.Nothing) -> care.HostSurvey:
        """Worktrees and recorded attempts on this host."""
        return care.HostSurvey(traces=await self._workspaces.traces())

    @activity.defn(name=names.JUDGE_REMAINS.name)
    async def judge_remains(self, request: care.JudgeRequest) -> care.Judged:
        """What becomes of them, by what Temporal and GitHub say now. Only looks."""
        judged = care.Judged()
        for remains in request.remains:
            try:
                judgement = await self._judge(remains)
            except (RateLimited, OutOfReach):
                raise
            except SweeperError as error:
                judged = _with_problem(judged, remains.repository, error)
                continue
            if judgement.fate is not Fate.LEAVE or judgement.left:
                judged = judged.model_copy(update={"judgements": (*judged.judgements, judgement)})
        return judged

    async def _judge(self, remains: Remains) -> Judgement:
        run = self._run_of(remains)
        known, failing_sha = await self._known(remains, run)
        judgement = judge(remains, known)
        if known.standing is Standing.OPEN or judgement.fate is Fate.START or run is None:
            return judgement
        checks = await self._open_checks(remains, failing_sha)
        return judge(remains, known, checks)

    def _run_of(self, remains: Remains) -> RunRef | None:
        """None: not of this GitHub, or its repository is out of sight, so nothing can be done there."""
        if not remains.repository.name:
            return None
        repository = remains.repository
        return ids.run_of_sweep(remains.sweep, repository.name, repository.id, self._code_host.api_url)

    async def _known(self, remains: Remains, run: RunRef | None) -> tuple[Known, str | None]:
        is_open = await self._sweeps.is_open(remains.sweep)
        if is_open:
            return Known(standing=Standing.OPEN, run=run), None
        record = await self._record(remains.sweep) if is_open is not None else None
        if record is None:
            startable, failing_sha = await self._still_fails(run) if run else (False, None)
            return Known(standing=Standing.UNKNOWN, run=run, is_startable=startable), failing_sha
        outcome, facts = record.view.checkpoint.outcome, record.state.facts
        standing = Standing.BROKEN if outcome is None else Standing.ENDED
        known = Known(standing=standing, outcome=outcome, run=run, commits=pushed_by(record.state))
        return known, facts.head_sha if facts else None

    async def _record(self, sweep: str) -> SweepRecord | None:
        try:
            return await self._sweeps.show(sweep)
        except NotFound:  # its retention ran out between two looks
            return None

    async def _still_fails(self, run: RunRef) -> tuple[bool, str | None]:
        try:
            facts = await self._code_host.read_run(run)
        except Permanent:  # gone, or not for our eyes: then it cannot be worked on either
            return False, None
        return admit_run(facts).go, facts.head_sha

    async def _open_checks(self, remains: Remains, failing_sha: str | None) -> Sequence[OpenCheck]:
        proposed = (remains.branch_sha, *(pull.head_sha for pull in remains.pulls))
        commits = [commit for commit in dict.fromkeys((failing_sha, *proposed)) if commit]
        return await self._tools.inventory.open_checks(remains.repository, remains.sweep, commits)

    @activity.defn(name=names.START_AGAIN.name)
    async def start_again(self, request: care.StartAgainRequest) -> care.StartedAgain:
        """The sweep finds by natural keys what it made before its record was lost. Twice it is started once."""
        return care.StartedAgain(is_new=await self._tools.door.start_again(request.sweep, request.run))

    @activity.defn(name=names.FIND_STUCK.name)
    async def find_stuck(self, _nothing: requests.Nothing) -> care.Stuck:
        """What cannot go on by itself."""
        return care.Stuck(cases=await self._sweeps.stuck())

    @activity.defn(name=names.SEND_ALERT.name)
    async def send_alert(self, request: care.AlertRequest) -> requests.Nothing:
        """The operator is told. A repeat carries the same id."""
        await self._tools.alerts.send(request.alert, request.channel)
        return requests.Nothing()


def _with_problem(found: Found, where: RepositoryRef, error: SweeperError) -> Found:
    return found.model_copy(update={"problems": (*found.problems, f"{where.name or where.id}: {error}")})


def _repository(view: SweepView) -> RepositoryRef:
    run = view.checkpoint.run
    return RepositoryRef(id=run.repository_id, name=run.repository)


def _is_broken(view: SweepView) -> bool:
    return not view.is_open and view.checkpoint.outcome is None


def _remains(view: SweepView) -> Remains:
    return Remains(sweep=view.id, repository=_repository(view))
