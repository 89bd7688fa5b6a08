"""Activities that write to GitHub. Each looks by natural key first (the CodeHost port's contract), so a repeat after
a lost answer finds what the first try did and answers `deduplicated`.
"""

from temporalio import activity

from sweeper.activities import names, writes
from sweeper.activities.checks import with_excerpts
from sweeper.errors import Bug, NotFound
from sweeper.model import AttemptResult, Effect, Reproduction
from sweeper.policy.farewell import farewell, written
from sweeper.policy.rendering import HowToAnswer, Tries, answered_request, body, learned, title, used
from sweeper.policy.rendering.neutral import visible
from sweeper.ports import NewPull, OpenedPull, Ports


class ProposalActivities:
    """The proposal's life on GitHub."""

    def __init__(self, ports: Ports) -> None:
        self._code_host = ports.code_host
        self._artifacts = ports.artifacts
        self._redactor = ports.redactor

    @activity.defn(name=names.OPEN_PROPOSAL.name)
    async def open_proposal(self, request: writes.ProposeRequest) -> OpenedPull:
        """One open pull request for our branch. Safe twice: found by its head and signed marker."""
        patch = request.attempt.patch
        if patch is None or request.facts.head_branch is None:
            raise Bug("A proposal without a patch or without a target was asked for; please report this.")
        return await self._code_host.open_pull(
            NewPull(
                run=request.facts.run,
                branch=request.branch,
                base=request.facts.head_branch,
                head_sha=patch.commit,
                title=self._redactor.text(title(request.diagnosis)),
                body=await self._body(request),
                patch_id=patch.patch_id,
                effect_key=request.effect_key,
            )
        )

    @activity.defn(name=names.UPDATE_PROPOSAL.name)
    async def update_proposal(self, request: writes.UpdateRequest) -> Effect:
        """The proof in the body is for the head as it is now. Safe twice: the same text again changes nothing."""
        text = await self._body(request.proposal)
        return await self._code_host.update_pull(request.pull, text, request.proposal.effect_key)

    async def _body(self, request: writes.ProposeRequest) -> str:
        answer = HowToAnswer(request.expires_in, request.merges_itself, request.attempts_allowed)
        reproduction, attempt = await self._readable(request.reproduction, request.attempt)
        stories = {one.n: await self._story(one) for one in (*request.attempts, attempt)}
        text = body(request.facts, request.diagnosis, reproduction, attempt, answer, Tries(request.attempts, stories))
        return self._redactor.text("\n\n".join(part for part in (text, written(request.effects)) if part))

    async def _story(self, attempt: AttemptResult) -> str:
        """What it did to the files, action by action; a store that has lost it is no reason not to propose."""
        if attempt.fix.story is None:
            return ""
        try:
            return (await self._artifacts.get(attempt.fix.story)).decode("utf-8", "replace")
        except NotFound:
            return ""

    async def _readable(self, reproduction: Reproduction, attempt: AttemptResult) -> tuple[Reproduction, AttemptResult]:
        before = await with_excerpts(reproduction.results, self._artifacts)
        after = await with_excerpts(attempt.verdict.results, self._artifacts)
        verdict = attempt.verdict.model_copy(update={"results": after})
        return reproduction.model_copy(update={"results": before}), attempt.model_copy(update={"verdict": verdict})

    @activity.defn(name=names.COMMENT.name)
    async def comment(self, request: writes.CommentRequest) -> Effect:
        """One comment per effect key. Safe twice: found by its signed marker."""
        text = self._redactor.text(_text(request))
        return await self._code_host.comment(request.pull, text, request.effect_key)

    @activity.defn(name=names.CLOSE_PROPOSAL.name)
    async def close_proposal(self, request: writes.CloseRequest) -> Effect:
        """Closed, if it is ours and was open. Safe twice: reads the state first."""
        return await self._code_host.close_pull(request.pull, request.effect_key)

    @activity.defn(name=names.MERGE.name)
    async def merge(self, request: writes.MergeRequest) -> Effect:
        """Merged at exactly that head. Safe twice: merged already is an answer."""
        return await self._code_host.merge_pull(request.pull, request.head_sha, request.effect_key, request.target_head)

    @activity.defn(name=names.FIND_PULL.name)
    async def find_pull(self, request: writes.FindPullRequest) -> writes.FoundPull:
        """Our open proposal of a branch: for a sweep that never heard the answer to its opening. A read: safe twice."""
        return writes.FoundPull(proposal=await self._code_host.find_pull(request.run, request.branch))

    @activity.defn(name=names.REPORT_CHECK.name)
    async def report_check(self, request: writes.ReportCheckRequest) -> Effect:
        """One check run per sweep and commit. Safe twice: found by its external id; the same words change nothing."""
        summary = self._redactor.text("\n\n".join(part for part in _summary(request) if part))
        report = request.report.model_copy(update={"summary": summary})
        return await self._code_host.report_check(request.run, report, request.effect_key)

    @activity.defn(name=names.RERUN_FAILED.name)
    async def rerun_failed(self, request: writes.RerunRequest) -> Effect:
        """The failed jobs once more. Safe twice: a newer attempt than the one that was asked about is an answer."""
        return await self._code_host.rerun_failed(request.run, request.effect_key)

    @activity.defn(name=names.LABEL.name)
    async def label(self, request: writes.LabelRequest) -> Effect:
        """These labels beside those there are. Safe twice: labels are a set."""
        return await self._code_host.label_pull(request.pull, request.labels, request.effect_key)

    @activity.defn(name=names.REQUEST_REVIEWERS.name)
    async def request_reviewers(self, request: writes.ReviewersRequest) -> Effect:
        """These people asked, as far as GitHub lets us. Safe twice: who was asked or has answered is left alone."""
        return await self._code_host.request_reviewers(request.pull, request.reviewers, request.effect_key)

    @activity.defn(name=names.DRAFT.name)
    async def draft(self, request: writes.DraftRequest) -> Effect:
        """A draft from now on. Safe twice: reads the state first."""
        return await self._code_host.draft_pull(request.pull, request.effect_key)


def _summary(request: writes.ReportCheckRequest) -> tuple[str, str]:
    said, found = visible(request.report.summary), request.learned
    if found is None:
        return said, ""
    if request.report.conclusion != "action_required":
        return said, used(found.attempts)
    return said, learned(found.facts, found.diagnosis, found.attempts)


def _text(request: writes.CommentRequest) -> str:
    if request.farewell is not None:
        said = request.farewell
        return farewell(said.outcome, said.reason, said.head, said.effects)
    if request.answered is not None:
        return answered_request(request.answered.attempt, request.answered.reviewer, request.answered.allowed)
    raise Bug("A comment without a text was asked for; please report this.")
