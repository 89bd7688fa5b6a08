"""Proofs: that a failure shows on a commit, and that a patch mends it there."""

from temporalio import workflow
from temporalio.exceptions import ActivityError

from sweeper.activities import names, requests
from sweeper.errors import HostLost
from sweeper.model import CheckPlan, Patch, Reproduction, Step, SweepInput, TestedTree, Verdict, VerdictKind
from sweeper.workflows.calls import Calls, is_a
from sweeper.workflows.progress import Progress, known

REPRODUCTIONS, PROOFS = 4, 6
"""How often a plan may run at most: to fill the download cache, then red three times; green twice, and twice with the
change's own version of the exam, and once on the branch alone."""


def commands_of(plan: CheckPlan, times: int) -> int:
    """How many commands that are, each bounded by itself."""
    return times * sum(2 + len(check.before) + len(check.after) for check in plan.checks)


class Proof:
    """Runs the check plan on the sweep's host."""

    def __init__(self, sweep: SweepInput, progress: Progress, calls: Calls) -> None:
        self._settings = sweep.settings
        self._progress = progress
        self._calls = calls

    async def host(self) -> str:
        """The machine this sweep works on, chosen once by whoever takes the question."""
        if self._calls.host is None:
            choice = await self._calls.do(names.CHOOSE_HOST, requests.Nothing())
            self._calls.host = choice.host
            self._progress.note(host=choice.host)
        return self._calls.host

    async def reproduce(self, commit: str | None = None, tested: TestedTree | None = None) -> Reproduction:
        """The checks on the untouched tree that CI built, or on `commit`, or on another `tested` tree."""
        state = self._progress.state
        tested = tested or (state.tested if commit is None else None)
        self._progress.enter(Step.PREPARE)
        prepare = requests.PrepareRequest(
            sweep=workflow.info().workflow_id, facts=known(state.facts), commit=commit, tested=tested
        )
        workspace = await self._calls.do(names.PREPARE, prepare)
        self._progress.enter(Step.REPRODUCE)
        plan = known(state.plan)
        request = requests.ReproduceRequest(
            workspace=workspace,
            plan=plan,
            check_timeout=self._settings.timeouts.check,
            diagnosis=state.diagnosis,
            tested=tested,
        )
        try:
            return await self._calls.do(names.REPRODUCE, request, scale=commands_of(plan, REPRODUCTIONS))
        except ActivityError as error:
            if not is_a(error, HostLost) or self._calls.host == workspace.host:
                raise
        return await self.reproduce(commit, tested)

    async def on_target(self, patch: Patch, target_head: str) -> Verdict:
        """The patch merged with the target as it is now; a verdict that it is fixed is the evidence from now on."""
        state = self._progress.state
        facts, plan = known(state.facts), known(state.plan)
        sweep_id = workflow.info().workflow_id
        verdict = await self._calls.do(
            names.REVALIDATE,
            requests.RevalidateRequest(
                verify=requests.VerifyRequest(
                    sweep=sweep_id,
                    name=f"{sweep_id}.revalidate",
                    repository_id=facts.run.repository_id,
                    commit=patch.commit,
                    patch=patch,
                    plan=plan,
                    limits=state.limits or self._settings.limits,
                    check_timeout=self._settings.timeouts.check,
                    diagnosis=state.diagnosis,
                    reproduction=state.reproduction,
                    protected=state.protected,
                    repository=facts.run.repository,
                ),
                facts=facts,
                target_head=target_head,
            ),
            scale=commands_of(plan, PROOFS),
        )
        if verdict.kind is VerdictKind.FIXED:
            self._progress.proved(verdict, target_head, self._settings.evidence_ttl)
        return verdict
