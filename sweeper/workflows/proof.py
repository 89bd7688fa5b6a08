"""Proofs: that a failure shows on a commit, and that a patch mends it there."""

from temporalio import workflow

from sweeper.activities import names, requests
from sweeper.model import Patch, Reproduction, Step, SweepInput, Verdict, VerdictKind
from sweeper.workflows.calls import Calls
from sweeper.workflows.progress import Progress, known


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

    async def reproduce(self, commit: str | None = None) -> Reproduction:
        """The checks on the untouched failing commit, or on `commit`."""
        facts = known(self._progress.state.facts)
        self._progress.enter(Step.PREPARE)
        prepare = requests.PrepareRequest(sweep=workflow.info().workflow_id, facts=facts, commit=commit)
        workspace = await self._calls.do(names.PREPARE, prepare)
        self._progress.enter(Step.REPRODUCE)
        plan = known(self._progress.state.plan)
        return await self._calls.do(
            names.REPRODUCE,
            requests.ReproduceRequest(workspace=workspace, plan=plan, check_timeout=self._settings.timeouts.check),
            scale=len(plan.checks),
        )

    async def on_target(self, patch: Patch, target_head: str) -> Verdict:
        """The patch merged with the target as it is now; a verdict that it is fixed is the evidence from now on."""
        facts = known(self._progress.state.facts)
        plan = known(self._progress.state.plan)
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
                    limits=self._settings.limits,
                    check_timeout=self._settings.timeouts.check,
                ),
                facts=facts,
                target_head=target_head,
            ),
            scale=2 * len(plan.checks),
        )
        if verdict.kind is VerdictKind.FIXED:
            self._progress.proved(verdict, target_head, self._settings.evidence_ttl)
        return verdict
