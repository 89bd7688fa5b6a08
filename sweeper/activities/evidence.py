"""Activities that read: what GitHub says about the run, what failed, the world around a proposal.

Calling them twice is safe because they write nothing but artefacts, which are named by their content.
"""

from datetime import datetime, timedelta

from temporalio import activity

from sweeper.activities import names, requests
from sweeper.model import Evidence, JobEvidence, JobFacts, RunFacts, RunRef, World
from sweeper.model.run import FAILING_CONCLUSIONS
from sweeper.policy.diagnosis import diagnose
from sweeper.policy.plan import check_plan
from sweeper.policy.redaction import redact
from sweeper.ports import Ports, PullRef


def started_at() -> datetime:
    """When this try began, by the server's clock."""
    return activity.info().started_time


class EvidenceActivities:
    """Reads through the CodeHost port; big texts go to the artefact store, redacted."""

    def __init__(self, ports: Ports) -> None:
        self._code_host = ports.code_host
        self._artifacts = ports.artifacts
        self._host = ports.workspaces.host

    @activity.defn(name=names.ADMIT.name)
    async def admit(self, run: RunRef) -> RunFacts:
        """The run as it is now."""
        return await self._code_host.read_run(run)

    @activity.defn(name=names.CHOOSE_HOST.name)
    async def choose_host(self, _nothing: requests.Nothing) -> requests.HostChoice:
        """Whoever takes this task offers its disk."""
        return requests.HostChoice(host=self._host)

    @activity.defn(name=names.COLLECT.name)
    async def collect(self, request: requests.CollectRequest) -> requests.Collected:
        """The failing jobs with their logs. A missing log is an answer, not an error."""
        run = request.facts.run
        jobs = [job for job in await self._code_host.read_jobs(run) if job.conclusion in FAILING_CONCLUSIONS]
        collected = [await self._job(run, job) for job in jobs]
        evidence = [_evidence(item, request.evidence_ttl) for item in collected]
        return requests.Collected(jobs=tuple(collected), evidence=tuple(evidence))

    async def _job(self, run: RunRef, job: JobFacts) -> JobEvidence:
        """Of its steps only the failing one is kept: a matrix of long jobs must not fill the history."""
        answer = await self._code_host.read_log(run, job.id)
        failing = job.failing_step()
        job = job.model_copy(update={"steps": (failing,) if failing else ()})
        if not answer.text:
            return JobEvidence(job=job, log_missing=answer.missing or "empty")
        return JobEvidence(job=job, log=await self._artifacts.put(redact(answer.text)))

    @activity.defn(name=names.DIAGNOSE.name)
    async def diagnose(self, request: requests.DiagnoseRequest) -> requests.Diagnosed:
        """What failed, and the commands of the workflow file at the failing commit that show it."""
        facts = request.facts
        logs = [await self._artifacts.get(item.log) if item.log else None for item in request.jobs]
        workflow = None
        if facts.workflow_path:
            workflow = await self._code_host.read_file(facts.run.repository, facts.workflow_path, facts.head_sha)
        plan = check_plan(request.jobs, logs, workflow, request.checks)
        return requests.Diagnosed(diagnosis=diagnose(facts, request.jobs, logs, plan), plan=plan)

    @activity.defn(name=names.READ_WORLD.name)
    async def read_world(self, pull: PullRef) -> World:
        """The proposal, its reviews, its checks and both branches, now."""
        return await self._code_host.read_world(pull)


def _evidence(item: JobEvidence, ttl: timedelta) -> Evidence:
    now = started_at()
    return Evidence(
        kind="job_log",
        subject=f"job {item.job.id}",
        digest=item.log.digest if item.log else "",
        version=1,
        captured_at=now,
        expires_at=now + ttl,
    )
