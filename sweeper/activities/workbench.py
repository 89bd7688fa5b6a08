"""Activities on the sweep's host: worktree, agent, verifier, git push. They run on that host's own queue.

Safe twice: workspaces are destroyed and made anew; a recorded attempt is answered from its commit; pushes and
deletions look at the remote first and compare with the commit they meant.
"""

from collections.abc import Sequence
from datetime import datetime

from temporalio import activity

from sweeper.activities import names, requests
from sweeper.activities.checks import CheckRunner, with_excerpts
from sweeper.errors import BadInput, PolicyDenied
from sweeper.model import (
    CheckResult,
    CommitMeta,
    Effect,
    EffectState,
    Finding,
    FixOutcome,
    FixReport,
    JobEvidence,
    Patch,
    Reproduction,
    Severity,
    Verdict,
    VerdictKind,
    Workspace,
)
from sweeper.policy.joblog import excerpt, failing_section
from sweeper.policy.limits import DIFF_TOO_LARGE, findings
from sweeper.policy.redaction import redact, redact_text
from sweeper.policy.rendering import commit_message, signed_off
from sweeper.ports import Ports, TaskFile

SHOWN_DIFF_BYTES = 4_000_000
"""Above this a diff is neither kept nor read for secrets: it is far over any limit and goes to a human as it is."""


class WorkbenchActivities:
    """Everything that needs the host's disk."""

    def __init__(self, ports: Ports) -> None:
        self._code_host = ports.code_host
        self._workspaces = ports.workspaces
        self._checks = CheckRunner(ports.sandbox, ports.artifacts)
        self._agents = ports.agents
        self._artifacts = ports.artifacts
        self._author = (ports.author_name, ports.author_email)

    @activity.defn(name=names.PREPARE.name)
    async def prepare(self, request: requests.PrepareRequest) -> Workspace:
        """A fresh worktree of the failing commit, or of a newer one."""
        facts, commit = request.facts, request.commit or request.facts.head_sha
        access = await self._code_host.git_access(facts.run.repository)
        await self._workspaces.fetch(facts.run.repository_id, [commit], access)
        return await self._workspaces.create(facts.run.repository_id, request.sweep, commit)

    @activity.defn(name=names.REPRODUCE.name)
    async def reproduce(self, request: requests.ReproduceRequest) -> Reproduction:
        """The checks on the untouched tree: they have to be red, or there is nothing to fix here."""
        results = await self._checks.run_all(request.plan, request.workspace, request.check_timeout)
        return Reproduction(results=results, problem=self._checks.problem(results))

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
        return patch.model_copy(update={"diff": await self._artifacts.put(redact(diff))})

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
        return excerpt("\n".join(failing_section(log)).encode())

    @activity.defn(name=names.VERIFY.name)
    async def verify(self, request: requests.VerifyRequest) -> Verdict:
        """Green twice, each time in a fresh worktree of the commit that no agent has run in."""
        found = findings(request.patch, request.limits)
        if any(finding.severity is Severity.REJECT for finding in found):
            reason = "; ".join(f"{f.name}: {f.place} ({f.detail})" for f in found)
            too_large = all(finding.name == DIFF_TOO_LARGE for finding in found)
            return _verdict(request, VerdictKind.NOT_FIXED if too_large else VerdictKind.TAMPERED, reason, (), found)
        green: tuple[CheckResult, ...] = ()
        for round_number in (1, 2):
            workspace = await self._workspaces.create(request.repository_id, request.name, request.commit)
            results = await self._checks.run_all(request.plan, workspace, request.check_timeout)
            if problem := self._checks.problem(results):
                return _verdict(request, VerdictKind.UNVERIFIABLE, problem, green + results, found)
            green += results
            if red := [result for result in results if not result.is_green]:
                kind = VerdictKind.NOT_FIXED if round_number == 1 else VerdictKind.FLAKY
                return _verdict(request, kind, _still_red(red), green, found)
        return _verdict(request, VerdictKind.FIXED, "", green, found)

    @activity.defn(name=names.REVALIDATE.name)
    async def revalidate(self, request: requests.RevalidateRequest) -> Verdict:
        """The same proof on the merge of the proposal with the target as it is now."""
        run = request.facts.run
        access = await self._code_host.git_access(run.repository)
        await self._workspaces.fetch(run.repository_id, [request.target_head], access)
        merged = await self._workspaces.merge(run.repository_id, request.target_head, request.verify.commit)
        if merged is None:
            return _verdict(request.verify, VerdictKind.NOT_FIXED, "it conflicts with the target as it is now", (), ())
        return await self.verify(request.verify.model_copy(update={"commit": merged}))

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


def _still_red(red: Sequence[CheckResult]) -> str:
    return redact_text("; ".join(f"check {result.check!r} ended with exit code {result.exit_code}" for result in red))


def _verdict(
    request: requests.VerifyRequest,
    kind: VerdictKind,
    reason: str,
    results: tuple[CheckResult, ...],
    found: tuple[Finding, ...],
) -> Verdict:
    return Verdict(
        kind=kind,
        reason=reason,
        results=results,
        findings=found,
        tree=request.patch.tree,
        patch_id=request.patch.patch_id,
    )
