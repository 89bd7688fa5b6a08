"""Undoing, in plain deterministic code: the plan comes from policy, each step looks before it acts."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from sweeper.activities import names, requests
from sweeper.model import Effect, Ending, Outcome, RunRef, Step
from sweeper.policy.compensation import Undo, undo_plan
from sweeper.workflows.calls import Calls, sentence_of
from sweeper.workflows.progress import Progress
from sweeper.workflows.turns import Turns

FAILURES = (ActivityError, ApplicationError)
"""Of an activity, and of a host that is lost before any activity could begin there."""


class Compensation:
    """Runs the undo plan of an outcome. A step that fails for good is reported as left over, by name."""

    def __init__(self, run: RunRef, progress: Progress, calls: Calls, turns: Turns) -> None:
        self._run = run
        self._progress = progress
        self._calls = calls
        self._turns = turns

    async def run(self, ending: Ending) -> tuple[str, ...]:
        """What is left over; empty if the world is as it should be."""
        self._progress.is_ending = True
        self._progress.enter(Step.COMPENSATE)
        left_over: list[str] = []
        # The target goes first: no newer run may be left to a sweep that is about to end.
        try:
            await self._turns.over(said_no=ending.said_no)
        except FAILURES as error:
            left_over.append(f"its place at the target: {sentence_of(error)}")
        outcome, reason = ending.outcome, ending.reason
        for undo in undo_plan(outcome, self._progress.state):
            try:
                self._progress.done(await self._undo(undo, outcome, reason))
            except FAILURES as error:
                left_over.append(f"{undo} of {self._subject(undo)}: {sentence_of(error)}")
        if self._calls.host is not None:
            try:
                await self._discard()
            except FAILURES as error:
                left_over.append(f"worktrees on host {self._calls.host}: {sentence_of(error)}")
        return tuple(left_over)

    async def _undo(self, undo: Undo, outcome: Outcome, reason: str) -> Effect:
        key = self._progress.next_key()
        if undo is Undo.DELETE_BRANCH:
            delete = requests.DeleteBranchRequest(
                run=self._run, branch=self._progress.branch, ours=self._our_commits(), effect_key=key
            )
            self._progress.intend(names.DELETE_BRANCH.name, delete)
            return await self._calls.do(names.DELETE_BRANCH, delete)
        if undo is Undo.COMMENT:
            farewell = requests.Farewell(outcome=outcome, reason=reason, head=self._progress.proposal.head_sha)
            comment = requests.CommentRequest(pull=self._progress.pull, effect_key=key, farewell=farewell)
            self._progress.intend(names.COMMENT.name, comment)
            return await self._calls.do(names.COMMENT, comment)
        close = requests.CloseRequest(pull=self._progress.pull, effect_key=key)
        self._progress.intend(names.CLOSE_PROPOSAL.name, close)
        return await self._calls.do(names.CLOSE_PROPOSAL, close)

    async def _discard(self) -> None:
        request = requests.DiscardRequest(sweep=workflow.info().workflow_id, repository_id=self._run.repository_id)
        await self._calls.do(names.DISCARD, request)

    def _our_commits(self) -> tuple[str, ...]:
        """Newest first: where our branch can be if it is still ours."""
        return tuple(reversed(self._progress.state.pushes))

    def _subject(self, undo: Undo) -> str:
        proposal = self._progress.state.proposal
        return (
            self._progress.branch
            if undo is Undo.DELETE_BRANCH or proposal is None
            else f"pull request {proposal.number}"
        )
