"""Activities on the sweep's host: worktree, agent, verifier, git push. They run on that host's own queue.

Safe twice: workspaces are destroyed and made anew; a recorded attempt is answered from its journal; pushes and
deletions look at the remote first and compare with the commit they meant.
"""

from temporalio import activity

from sweeper.activities import names, requests, writes
from sweeper.activities.job_runs import JobRunner
from sweeper.activities.journaling import JournalKeeper, agent_action
from sweeper.activities.reproducing import Reproducer, tested_commit
from sweeper.activities.tasks import TaskTeller
from sweeper.activities.toolbox import Bench, first_bench
from sweeper.activities.verifier import Verifier
from sweeper.errors import BadInput, HostLost, PolicyDenied
from sweeper.model import (
    Effect,
    EffectState,
    FixOutcome,
    FixReport,
    Reproduction,
    Spent,
    Verdict,
    VerdictKind,
    Workspace,
)
from sweeper.model.journal import Recorded
from sweeper.ports import Ports
from sweeper.ports.agents import KeepsAccount


class WorkbenchActivities:
    """Everything that needs the host's disk."""

    def __init__(self, ports: Ports) -> None:
        self._code_host = ports.code_host
        self._workspaces = ports.workspaces
        runner = JobRunner(ports)
        self._reproducer = Reproducer(ports, runner)
        self._verifier = Verifier(ports, runner)
        self._agents = ports.agents
        self._journals = ports.journals
        self._keeper = JournalKeeper(ports)
        self._teller = TaskTeller(ports)

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
        if request.workspace.host != self._workspaces.host:
            raise HostLost(f"The tree to check is on host {request.workspace.host}; prepare it again on this one.")
        return await self._reproducer.reproduce(request)

    @activity.defn(name=names.FIX.name)
    async def fix(self, request: requests.AttemptRequest) -> requests.FixAnswer:
        """One agent try; its tree becomes one action in the attempt's journal, from which a repeat is answered."""
        agent = self._agents.get(request.agent)
        if agent is None:
            raise BadInput(f"Agent {request.agent!r} is not set up here; list it in SWEEPER_AGENTS and restart.")
        bench = first_bench(request)
        action = agent_action(agent.name, request, f"{agent.name} edited the tree")
        await self._keeper.have(bench.repository, bench.journal, bench.tip, bench.bundle)
        if recorded := await self._journals.done(bench.journal, bench.tip, action):
            spent = agent.spent(request.sweep, request.n) if isinstance(agent, KeepsAccount) else Spent()
            told = "recorded by an earlier try"
            report = FixReport(agent=request.agent, outcome=FixOutcome.EDITED, summary=told, spent=spent)
            return await self._finished(request, bench, report, recorded)
        workspace = await self._workspaces.create(
            bench.journal.repository_id, f"{request.sweep}.fix{request.n}", request.base
        )
        report = await agent.fix(await self._teller.task(request), workspace, request.agent_timeout)
        if report.outcome is not FixOutcome.EDITED:
            return requests.FixAnswer(report=report)
        try:
            recorded = await self._journals.snapshot(bench.journal, bench.tip, action, workspace)
        except PolicyDenied as denied:
            refused = report.model_copy(update={"outcome": FixOutcome.FAILED, "summary": str(denied)})
            return requests.FixAnswer(report=refused)
        return await self._finished(request, bench, report, recorded)

    async def _finished(
        self, request: requests.AttemptRequest, bench: Bench, report: FixReport, recorded: Recorded
    ) -> requests.FixAnswer:
        return await self._keeper.finish(request, bench.model_copy(update={"tip": recorded.tip}), report)

    @activity.defn(name=names.VERIFY.name)
    async def verify(self, request: requests.VerifyRequest) -> Verdict:
        """The proof of a patch in fresh worktrees that no agent has run in."""
        await self._have(request.repository, request)
        return await self._verifier.verify(request)

    @activity.defn(name=names.REVALIDATE.name)
    async def revalidate(self, request: requests.RevalidateRequest) -> Verdict:
        """The same proof on the merge of the proposal with the target as it is now, whose exam then counts."""
        run, verify = request.facts.run, request.verify
        access = await self._code_host.git_access(run.repository)
        await self._workspaces.fetch(run.repository_id, [request.target_head], access)
        await self._have(run.repository, verify)
        merged = await self._workspaces.merge(run.repository_id, request.target_head, verify.commit)
        if merged is None:
            reason = "it conflicts with the target as it is now"
            patch = verify.patch
            return Verdict(kind=VerdictKind.NOT_FIXED, reason=reason, tree=patch.tree, patch_id=patch.patch_id)
        there = {"commit": merged, "tested": None, "exam_from": request.target_head}
        return await self._verifier.verify(verify.model_copy(update=there))

    @activity.defn(name=names.PUSH_BRANCH.name)
    async def push_branch(self, request: writes.PushRequest) -> Effect:
        """Our branch at exactly this commit; anybody else's commit on it is never overwritten."""
        if request.patch is not None:
            await self._keeper.have_patch(request.run.repository, request.run.repository_id, request.patch)
        access = await self._code_host.git_access(request.run.repository)
        return await self._workspaces.push(
            request.run.repository_id, request.branch, request.commit, request.expected, access, request.effect_key
        )

    @activity.defn(name=names.DELETE_BRANCH.name)
    async def delete_branch(self, request: writes.DeleteBranchRequest) -> Effect:
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

    async def _have(self, repository: str, request: requests.VerifyRequest) -> None:
        """Another host may have made the patch."""
        if repository:
            await self._keeper.have_patch(repository, request.repository_id, request.patch)
