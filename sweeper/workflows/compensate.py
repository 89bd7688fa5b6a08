"""Undoing, in plain deterministic code: the plan comes from policy, each step looks before it acts."""

from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from sweeper.activities import names, requests, writes
from sweeper.model import Effect, Ending, Step, Wire
from sweeper.policy.compensation import NEEDS_HUMAN, Undo, undo_plan
from sweeper.workflows.calls import sentence_of
from sweeper.workflows.check_run import CheckRun
from sweeper.workflows.parts import Chapter, Parts

FAILURES = (ActivityError, ApplicationError)
"""Of an activity, and of a host that is lost before any activity could begin there."""


class Compensation(Chapter):
    """Runs the undo plan of an outcome. A step that fails for good is reported as left over, by name."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._run = parts.sweep.run

    async def run(self, ending: Ending) -> tuple[str, ...]:
        """What is left over; empty if the world is as it should be."""
        is_open_unheard = self._progress.is_unanswered(names.OPEN_PROPOSAL.name)
        self._progress.enter(Step.COMPENSATE)
        left_over: list[str] = []
        # The target goes first: no newer run may be left to a sweep that is about to end.
        for what, leaving in (
            ("its turn at the branch", self._turns.over(said_no=ending.said_no, found_no_fix=ending.found_no_fix)),
            ("its place on the machine", self._places.free()),
            ("what its attempts used", self._attempts.settle()),
        ):
            try:
                await leaving
            except FAILURES as error:
                left_over.append(f"{what}: {sentence_of(error)}")
        if is_open_unheard:
            await self._find_proposal(left_over)
        for undo in undo_plan(ending, self._progress.state):
            try:
                self._progress.done(await self._undo(undo, ending))
            except FAILURES as error:
                left_over.append(f"{undo} of {self._subject(undo)}: {sentence_of(error)}")
        if self._calls.host is not None:
            try:
                await self._discard()
            except FAILURES as error:
                left_over.append(f"worktrees on host {self._calls.host}: {sentence_of(error)}")
        return tuple(left_over)

    async def _find_proposal(self, left_over: list[str]) -> None:
        """Stopped while a pull request was being opened: whether it is there, GitHub has to say."""
        request = writes.FindPullRequest(run=self._run, branch=self._progress.branch)
        try:
            found = await self._calls.do(names.FIND_PULL, request)
        except FAILURES as error:
            left_over.append(f"perhaps a pull request of {self._progress.branch}: {sentence_of(error)}")
            return
        self._progress.note(proposal=found.proposal)

    async def _undo(self, undo: Undo, ending: Ending) -> Effect:
        if undo is Undo.CONCLUDE_CHECK:
            return await CheckRun(self._run, self._progress, self._calls).conclude(ending.outcome, ending.reason)
        act, request = self._call(undo, ending)
        self._progress.intend(act.name, request)
        return await self._calls.do(act, request)

    def _call(self, undo: Undo, ending: Ending) -> tuple[names.Activity[Any, Effect], Wire]:
        key = self._progress.next_key()
        if undo is Undo.DELETE_BRANCH:
            ours = self._our_commits()
            return names.DELETE_BRANCH, writes.DeleteBranchRequest(
                run=self._run, branch=self._progress.branch, ours=ours, effect_key=key
            )
        pull = self._progress.pull
        match undo:
            case Undo.COMMENT:
                head = self._progress.proposal.head_sha
                farewell = writes.Farewell(
                    outcome=ending.outcome, reason=ending.reason, head=head, effects=self._progress.state.effects
                )
                return names.COMMENT, writes.CommentRequest(pull=pull, effect_key=key, farewell=farewell)
            case Undo.LABEL:
                return names.LABEL, writes.LabelRequest(pull=pull, labels=(NEEDS_HUMAN,), effect_key=key)
            case Undo.DRAFT:
                return names.DRAFT, writes.DraftRequest(pull=pull, effect_key=key)
        return names.CLOSE_PROPOSAL, writes.CloseRequest(pull=pull, effect_key=key)

    async def _discard(self) -> None:
        request = requests.DiscardRequest(sweep=workflow.info().workflow_id, repository_id=self._run.repository_id)
        await self._calls.do(names.DISCARD, request)

    def _our_commits(self) -> tuple[str, ...]:
        """Newest first: where our branch can be if it is still ours."""
        return tuple(reversed(self._progress.state.pushes))

    def _subject(self, undo: Undo) -> str:
        proposal = self._progress.state.proposal
        if undo is Undo.CONCLUDE_CHECK:
            return f"the check run of {self._progress.state.checked_sha}"
        if undo is Undo.DELETE_BRANCH or proposal is None:
            return self._progress.branch
        return f"pull request {proposal.number}"
