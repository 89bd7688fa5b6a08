"""Orphans: find what no sweep cares for any more, have it judged, and adopt or undo it."""

import asyncio
from datetime import timedelta

from temporalio import workflow

from sweeper import ids
from sweeper.activities import care, names, requests, writes
from sweeper.model import CheckReport, RunRef
from sweeper.model.upkeep import HostTrace, Remains, RepositoryRef
from sweeper.policy.orphans import Fate, Judgement, gather
from sweeper.ports import PullRef
from sweeper.workflows.errands import Errands

AT_ONCE = 20
"""Repositories, or sweeps, for one activity."""
MOST_JUDGED = 200
MOST_SETTLED = 200
MOST_DONE = 20
HOST_FORGOTTEN = timedelta(days=7)


class Orphans:
    """One look at everything and what follows from it. What was not settled is found again by the next pass."""

    def __init__(self, errands: Errands) -> None:
        self._errands = errands

    async def tidy(self, overview: care.Overview, grace: timedelta) -> bool:
        """Whether something is to be looked at again once the grace time is over."""
        remains = await self._find(overview)
        judged = await self._judge(remains)
        undone = [j for j in judged if j.fate is Fate.UNDO and not self._is_settled(j)]
        self._settle_others(overview, judged, was_all=len(remains) <= MOST_JUDGED)
        for judgement in judged:
            if judgement.fate is Fate.START and judgement.run is not None:
                await self._start_again(judgement, judgement.run)
        ripe = self._ripe(undone, grace)
        open_ends = {judgement.sweep for judgement in undone}
        for judgement in ripe:
            if await self._undo(judgement):
                open_ends.remove(judgement.sweep)
                self._told(f"{judgement.sweep}: undone, because {judgement.reason}")
        self._errands.note(left={j.sweep: j.left for j in judged if j.left and j.sweep not in open_ends})
        return len(ripe) < len(undone)

    def _is_settled(self, judgement: Judgement) -> bool:
        """What stays has been said already, and nothing else is to be done."""
        has_more = judgement.closes or judgement.delete or judgement.checks or judgement.hosts
        return not has_more and self._errands.state.left.get(judgement.sweep) == judgement.left != ""

    async def _find(self, overview: care.Overview) -> tuple[Remains, ...]:
        visible = {repository.id: repository for repository in overview.repositories}
        found = [broken for broken in overview.broken if broken.sweep not in self._errands.state.settled]
        named = [repository for repository in overview.repositories if repository.name]
        for start in range(0, len(named), AT_ONCE):
            batch = tuple(named[start : start + AT_ONCE])
            survey = await self._errands.run(names.SURVEY_GITHUB, care.SurveyRequest(repositories=batch))
            if survey is None:
                break
            found += survey.remains
            self._errands.note_problems(*survey.problems)
            if survey.until is not None:
                self._errands.note_problems(f"GitHub's rate limit ended the look at orphans until {survey.until}")
                break
        return gather(found, await self._on_hosts(), visible)

    async def _on_hosts(self) -> list[HostTrace]:
        """All hosts at once: one that does not answer must not hold up the others."""
        now, hosts = workflow.now(), sorted(self._errands.state.hosts)
        surveys = await asyncio.gather(
            *(self._errands.run(names.SURVEY_HOST, requests.Nothing(), host) for host in hosts)
        )
        answered = {host: now for host, survey in zip(hosts, surveys, strict=True) if survey is not None}
        known = {**self._errands.state.hosts, **answered}
        self._errands.note(hosts={host: seen for host, seen in known.items() if now - seen < HOST_FORGOTTEN})
        return [trace for survey in surveys if survey is not None for trace in survey.traces]

    async def _judge(self, remains: tuple[Remains, ...]) -> list[Judgement]:
        judged: list[Judgement] = []
        for start in range(0, min(len(remains), MOST_JUDGED), AT_ONCE):
            request = care.JudgeRequest(remains=remains[start : start + AT_ONCE])
            answer = await self._errands.run(names.JUDGE_REMAINS, request)
            if answer is None:
                break
            judged += answer.judgements
            self._errands.note_problems(*answer.problems)
        return judged

    def _settle_others(self, overview: care.Overview, judged: list[Judgement], *, was_all: bool) -> None:
        """Sweeps ended by other hands that left nothing need not be looked at again."""
        if self._errands.state.problems or not was_all:
            return  # not everything was seen
        with_work = {judgement.sweep for judgement in judged}
        clean = [broken.sweep for broken in overview.broken if broken.sweep not in with_work]
        settled = dict.fromkeys((*self._errands.state.settled, *clean))
        self._errands.note(settled=tuple(settled)[-MOST_SETTLED:])

    def _ripe(self, undone: list[Judgement], grace: timedelta) -> list[Judgement]:
        """Those that have looked like orphans for long enough: what a dead sweep had under way has come to its end."""
        now, before = workflow.now(), self._errands.state.suspects
        suspects = {judgement.sweep: before.get(judgement.sweep, now) for judgement in undone}
        self._errands.note(suspects=suspects)
        return [judgement for judgement in undone if now - suspects[judgement.sweep] >= grace]

    async def _start_again(self, judgement: Judgement, run: RunRef) -> None:
        started = await self._errands.run(names.START_AGAIN, care.StartAgainRequest(sweep=judgement.sweep, run=run))
        if started is not None and started.is_new:
            self._told(f"{judgement.sweep}: started again, because {judgement.reason}")

    async def _undo(self, judgement: Judgement) -> bool:
        """In this order, so that nobody finds a closed proposal without a reason, and no record goes before what it
        vouches for. Whether all of it was done.
        """
        run = judgement.run
        if run is not None:
            done = [await self._close(judgement, run), await self._delete(judgement, run)]
            done.append(await self._end_checks(judgement, run))
            if not all(done):
                return False
        return all([await self._discard(judgement.sweep, judgement.repository, host) for host in judgement.hosts])

    async def _close(self, judgement: Judgement, run: RunRef) -> bool:
        done = True
        for trace in judgement.pulls:
            pull = PullRef(run=run, number=trace.number, branch=trace.branch)
            head = judgement.proved or trace.head_sha
            farewell = writes.Farewell(outcome=judgement.outcome, reason=judgement.reason, head=head)
            key = ids.upkeep_key(judgement.sweep, "comment", trace.number)
            comment = writes.CommentRequest(pull=pull, effect_key=key, farewell=farewell)
            done = await self._errands.run(names.COMMENT, comment) is not None and done
            if judgement.closes:
                key = ids.upkeep_key(judgement.sweep, "close", trace.number)
                close = writes.CloseRequest(pull=pull, effect_key=key)
                done = await self._errands.run(names.CLOSE_PROPOSAL, close) is not None and done
        return done

    async def _delete(self, judgement: Judgement, run: RunRef) -> bool:
        if judgement.delete is None:
            return True
        by_life = sorted(self._errands.state.hosts.items(), key=lambda item: item[1], reverse=True)
        host = next(iter((*judgement.hosts, *(host for host, _ in by_life))), None)
        request = writes.DeleteBranchRequest(
            run=run,
            branch=ids.branch_of(judgement.sweep),
            ours=(judgement.delete,),
            effect_key=ids.upkeep_key(judgement.sweep, "delete_branch", 1),
        )
        return await self._errands.run(names.DELETE_BRANCH, request, host) is not None

    async def _end_checks(self, judgement: Judgement, run: RunRef) -> bool:
        done = True
        for check in judgement.checks:
            report = CheckReport(
                sha=check.sha,
                external_id=judgement.sweep,
                title=check.title or "Ended",
                summary=f"Nothing more comes of this: {judgement.reason}.",
                conclusion="neutral",
            )
            key = ids.upkeep_key(judgement.sweep, "check", check.sha[:12])
            request = writes.ReportCheckRequest(run=run, report=report, effect_key=key)
            done = await self._errands.run(names.REPORT_CHECK, request) is not None and done
        return done

    async def _discard(self, sweep: str, repository: RepositoryRef, host: str) -> bool:
        request = requests.DiscardRequest(sweep=sweep, repository_id=repository.id)
        return await self._errands.run(names.DISCARD, request, host) is not None

    def _told(self, sentence: str) -> None:
        workflow.logger.info("upkeep: %s", sentence)
        self._errands.note(done=(*self._errands.state.done, sentence[:200])[-MOST_DONE:])
