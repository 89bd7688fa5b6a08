"""Activities on the sweep's host: worktree, agent, verifier, git push. They run on that host's own queue.

Safe twice: workspaces are destroyed and made anew; a recorded attempt is answered from its commit; pushes and
deletions look at the remote first and compare with the commit they meant.
"""

from datetime import datetime

from temporalio import activity

from sweeper.activities import names, requests
from sweeper.activities.checks import with_excerpts
from sweeper.activities.job_runs import JobRunner
from sweeper.activities.reproducing import Reproducer, tested_commit
from sweeper.activities.verifier import Verifier
from sweeper.errors import BadInput, PolicyDenied
from sweeper.model import (
    CommitMeta,
    Effect,
    EffectState,
    FixOutcome,
    FixReport,
    JobEvidence,
    Patch,
    Reproduction,
    Verdict,
    VerdictKind,
    Workspace,
)
from sweeper.policy.rendering import commit_message, signed_off
from sweeper.policy.triage import excerpt
from sweeper.ports import Ports, TaskFile

SHOWN_DIFF_BYTES = 4_000_000
"""Above this a diff is neither kept nor read for secrets: it is far over any limit and goes to a human as it is."""


class WorkbenchActivities:
    """Everything that needs the host's disk."""

    def __init__(self, ports: Ports) -> None:
        self._code_host = ports.code_host
        self._workspaces = ports.workspaces
        runner = JobRunner(ports)
        self._reproducer = Reproducer(ports, runner)
        self._verifier = Verifier(ports, runner)
        self._agents = ports.agents
        self._artifacts = ports.artifacts
        self._redactor = ports.redactor
        self._author = (ports.author_name, ports.author_email)

    @activity.defn(name=names.PREPARE.name)
    async def prepare(self, request: requests.PrepareRequest) -> Workspace:
        """A fresh worktree of the failing commit, or of a newer one."""
        run, commit = request.facts.run, request.commit or request.facts.head_sha
        access = await self._code_host.git_access(run.repository)
        tested = request.tested
        if tested is None:
            await self._workspaces.fetch(run.repository_id, [commit], access)
        else:
            both = [one for one in (commit, tested.commit, tested.merged_with) if one]
            await self._workspaces.fetch(run.repository_id, both, access)
            # A conflict is told when the failure is to be shown; till then any tree will do.
            commit = await tested_commit(self._workspaces, run.repository_id, tested) or tested.commit
        return await self._workspaces.create(run.repository_id, request.sweep, commit)

    @activity.defn(name=names.REPRODUCE.name)
    async def reproduce(self, request: requests.ReproduceRequest) -> Reproduction:
        """The checks on the untouched tree: they have to be red, or there is nothing to fix here."""
        return await self._reproducer.reproduce(request)

    @activity.defn(name=names.FIX.name)
    async def fix(self, request: requests.AttemptRequest) -> requests.FixAnswer:
        """One agent try; its tree becomes a commit at `refs/sweeper/<sweep>/<n>`, from which a repeat is answered."""
        agent = self._agents.get(request.agent)
        if agent is None:
            raise BadInput(f"Agent {request.agent!r} is not set up here; list it in SWEEPER_AGENTS and restart.")
        repository_id = request.facts.run.repository_id
        ref = f"refs/sweeper/{request.sweep}/{request.n}"
        if recorded := await self._workspaces.recorded(repository_id, ref):
            report = FixReport(agent=request.agent, outcome=FixOutcome.EDITED, summary="recorded by an earlier try")
            return requests.FixAnswer(report=report, patch=await self._whole(request, recorded))
        workspace = await self._workspaces.create(repository_id, f"{request.sweep}.fix{request.n}", request.base)
        report = await agent.fix(await self._task(request), workspace, request.agent_timeout)
        if report.outcome is not FixOutcome.EDITED:
            return requests.FixAnswer(report=report)
        try:
            patch = await self._workspaces.snapshot(workspace, self._meta(request), ref)
        except PolicyDenied as denied:
            refused = report.model_copy(update={"outcome": FixOutcome.FAILED, "summary": str(denied)})
            return requests.FixAnswer(report=refused)
        if patch is None:
            return requests.FixAnswer(report=report.model_copy(update={"outcome": FixOutcome.NO_CHANGE}))
        return requests.FixAnswer(report=report, patch=await self._whole(request, patch))

    async def _whole(self, request: requests.AttemptRequest, patch: Patch) -> Patch:
        """The change since the failing commit: after a review that is more than this attempt has added."""
        repository_id, failing_sha = request.facts.run.repository_id, request.facts.head_sha
        if patch.parent != failing_sha:
            patch = await self._workspaces.describe(repository_id, failing_sha, patch.commit)
        if patch.bytes_changed > SHOWN_DIFF_BYTES:
            return patch
        diff = await self._workspaces.diff(repository_id, failing_sha, patch.commit)
        return patch.model_copy(update={"diff": await self._artifacts.put(self._redactor.redact(diff))})

    def _meta(self, request: requests.AttemptRequest) -> CommitMeta:
        message = commit_message(request.sweep, request.n, request.agent, request.facts, request.diagnosis)
        name, email = self._author
        return CommitMeta(message=signed_off(message, name, email), name=name, email=email, date=_fixed_date(request))

    async def _task(self, request: requests.AttemptRequest) -> TaskFile:
        return TaskFile(
            sweep=request.sweep,
            attempt=request.n,
            repository=request.facts.run.repository,
            failing_sha=request.facts.head_sha,
            diagnosis=request.diagnosis,
            excerpts={item.job.name: await self._excerpt(item) for item in request.jobs},
            check_plan=request.plan,
            previous_verdict=await self._readable(request.previous),
            review_comments=request.review_comments,
        )

    async def _readable(self, verdict: Verdict | None) -> Verdict | None:
        if verdict is None:
            return None
        return verdict.model_copy(update={"results": await with_excerpts(verdict.results, self._artifacts)})

    async def _excerpt(self, item: JobEvidence) -> str:
        if item.log is None:
            return f"(no log: {item.log_missing})"
        log = await self._artifacts.get(item.log)
        return excerpt(log).decode("utf-8", "replace")

    @activity.defn(name=names.VERIFY.name)
    async def verify(self, request: requests.VerifyRequest) -> Verdict:
        """The proof of a patch in fresh worktrees that no agent has run in."""
        return await self._verifier.verify(request)

    @activity.defn(name=names.REVALIDATE.name)
    async def revalidate(self, request: requests.RevalidateRequest) -> Verdict:
        """The same proof on the merge of the proposal with the target as it is now, whose exam then counts."""
        run, verify = request.facts.run, request.verify
        access = await self._code_host.git_access(run.repository)
        await self._workspaces.fetch(run.repository_id, [request.target_head], access)
        merged = await self._workspaces.merge(run.repository_id, request.target_head, verify.commit)
        if merged is None:
            reason = "it conflicts with the target as it is now"
            patch = verify.patch
            return Verdict(kind=VerdictKind.NOT_FIXED, reason=reason, tree=patch.tree, patch_id=patch.patch_id)
        there = {"commit": merged, "tested": None, "exam_from": request.target_head}
        return await self._verifier.verify(verify.model_copy(update=there))

    @activity.defn(name=names.PUSH_BRANCH.name)
    async def push_branch(self, request: requests.PushRequest) -> Effect:
        """Our branch at exactly this commit; anybody else's commit on it is never overwritten."""
        access = await self._code_host.git_access(request.run.repository)
        return await self._workspaces.push(
            request.run.repository_id, request.branch, request.commit, request.expected, access, request.effect_key
        )

    @activity.defn(name=names.DELETE_BRANCH.name)
    async def delete_branch(self, request: requests.DeleteBranchRequest) -> Effect:
        """Gone, if it still was ours. At which of our commits it is, a lost push leaves open, so each is tried."""
        access = await self._code_host.git_access(request.run.repository)
        effect = Effect(key=request.effect_key, name="branch.delete", state=EffectState.SKIPPED, note="never pushed")
        for ours in request.ours:
            effect = await self._workspaces.delete_branch(
                request.run.repository_id, request.branch, ours, access, request.effect_key
            )
            if effect.state is not EffectState.SKIPPED:
                break
        return effect

    @activity.defn(name=names.DISCARD.name)
    async def discard(self, request: requests.DiscardRequest) -> requests.Nothing:
        """No worktree and no ref of the sweep is left on this host."""
        await self._workspaces.discard(request.repository_id, request.sweep)
        return requests.Nothing()


def _fixed_date(request: requests.AttemptRequest) -> datetime:
    """The failing run's own time: the same on every retry, so the same tree is the same commit."""
    return request.facts.created_at
