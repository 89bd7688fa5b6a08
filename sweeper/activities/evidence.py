"""Activities that read: what GitHub says about the run, what failed and where else, the world around a proposal.

Calling them twice is safe because they write nothing but artefacts, which are named by their content.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from temporalio import activity

from sweeper.activities import names, requests
from sweeper.errors import NotFound, PolicyDenied
from sweeper.model import (
    Annotation,
    Background,
    Evidence,
    JobEvidence,
    JobFacts,
    OtherFix,
    RunFacts,
    RunRef,
    World,
)
from sweeper.policy.elsewhere import other_fix
from sweeper.policy.repository_config import CONFIG_PATH, tightened
from sweeper.policy.understanding import RunFiles, background_of, has_failed, understand
from sweeper.ports import Durable, Ports, PullRef

MOST_ANNOTATED = 5
"""Jobs whose annotations are read: they say why a job has no log, which is seldom another reason for each."""


MOST_LOG_BYTES = 256 << 20
"""All logs of a run that are read at once; with many failing jobs each gets a part of it."""

CUT = b"\n[... cut here ...]\n"

MOST_NOTES = 10
"""Annotations that are kept of a job."""


def started_at() -> datetime:
    """When this try began, by the server's clock."""
    return activity.info().started_time


class EvidenceActivities:
    """Reads through the CodeHost port; big texts go to the artefact store, redacted."""

    def __init__(self, ports: Ports, durable: Durable) -> None:
        self._code_host = ports.code_host
        self._artifacts = ports.artifacts
        self._redactor = ports.redactor
        self._host = ports.workspaces.host
        self._sweeps = durable.sweeps

    @activity.defn(name=names.ADMIT.name)
    async def admit(self, run: RunRef) -> RunFacts:
        """The run as it is now."""
        return await self._code_host.read_run(run)

    @activity.defn(name=names.NEWEST_ATTEMPT.name)
    async def newest_attempt(self, run: RunRef) -> RunFacts:
        """The run in its newest attempt, whichever was asked about."""
        return await self._code_host.find_run(run.repository, run.run_id)

    @activity.defn(name=names.CHOOSE_HOST.name)
    async def choose_host(self, _nothing: requests.Nothing) -> requests.HostChoice:
        """Whoever takes this task offers its disk."""
        return requests.HostChoice(host=self._host)

    @activity.defn(name=names.COLLECT.name)
    async def collect(self, request: requests.CollectRequest) -> requests.Collected:
        """The failing jobs with their logs. A missing log is an answer, not an error."""
        run = request.facts.run
        jobs = [job for job in await self._code_host.read_jobs(run) if has_failed(job, request.facts)]
        collected = [await self._job(run, job, may_ask=n < MOST_ANNOTATED) for n, job in enumerate(jobs)]
        evidence = [_evidence(item, request.evidence_ttl) for item in collected]
        history = await self._code_host.read_history(request.facts)
        commits = tuple(map(self._redactor.text, history.commits_since))
        background = background_of(history.model_copy(update={"commits_since": commits}), jobs)
        return requests.Collected(jobs=tuple(collected), evidence=tuple(evidence), background=background)

    async def _job(self, run: RunRef, job: JobFacts, *, may_ask: bool) -> JobEvidence:
        """Of its steps only the failing one is kept: a matrix of long jobs must not fill the history."""
        answer = await self._code_host.read_log(run, job.id)
        failing = job.failing_step()
        says_why = answer.text and failing and job.conclusion == "failure"
        noted = await self._annotations(run, job) if may_ask and not says_why else ()
        job = job.model_copy(update={"steps": (failing,) if failing else ()})
        if not answer.text:
            return JobEvidence(job=job, log_missing=answer.missing or "empty", annotations=noted)
        redacted = await asyncio.to_thread(self._redactor.redact, answer.text)  # of a hostile log it takes many seconds
        log = await self._artifacts.put(redacted)
        return JobEvidence(job=job, log=log, annotations=noted)

    async def _annotations(self, run: RunRef, job: JobFacts) -> tuple[Annotation, ...]:
        noted = await self._code_host.read_annotations(run, job.id)
        return tuple(
            note.model_copy(
                update={name: self._redactor.text(getattr(note, name)) for name in ("message", "path", "title")}
            )
            for note in noted[:MOST_NOTES]
        )

    @activity.defn(name=names.DIAGNOSE.name)
    async def diagnose(self, request: requests.DiagnoseRequest) -> requests.Diagnosed:
        """What failed, and the commands of the workflow file at the failing commit that show it."""
        facts, repository = request.facts, request.facts.run.repository
        logs = [await self._log(item, MOST_LOG_BYTES // len(request.jobs)) for item in request.jobs]
        workflow = None
        if facts.workflow_path:
            workflow = await self._code_host.read_file(repository, facts.workflow_path, facts.head_sha)
        config = await self._code_host.default_branch_file(repository, CONFIG_PATH)
        return await asyncio.to_thread(_diagnosed, request, logs, RunFiles(workflow=workflow, config=config))

    async def _log(self, item: JobEvidence, share: int) -> bytes | None:
        """Of a log above its share of memory both ends, most of them its own end: failures are told there."""
        if item.log is None:
            return None
        log = await self._artifacts.get(item.log)
        if len(log) <= share:
            return log
        head = share // 4
        return log[:head] + CUT + log[len(log) - (share - head) :]

    @activity.defn(name=names.LOOK_ABOUT.name)
    async def look_about(self, request: requests.LookAboutRequest) -> Background:
        """Whether the failure is known from earlier sweeps, and whether somebody is already fixing it."""
        facts, found = request.facts, request.diagnosis
        seen = await self._sweeps.with_signature(facts.run.repository, found.signature, request.sweep)
        return found.background.model_copy(update={"seen_in": seen, "other_fix": await self._other_fix(request)})

    async def _other_fix(self, request: requests.LookAboutRequest) -> OtherFix | None:
        """What may not be listed is no fix that is known of."""
        facts, background = request.facts, request.diagnosis.background
        if facts.head_branch is None:
            return None
        try:
            pulls = await self._code_host.open_pulls(facts.run.repository, facts.head_branch, background.red_since)
        except (NotFound, PolicyDenied):
            return None
        return other_fix(request.diagnosis, pulls)

    @activity.defn(name=names.READ_WORLD.name)
    async def read_world(self, pull: PullRef) -> World:
        """The proposal, its reviews, its checks and both branches, now."""
        return await self._code_host.read_world(pull)


def _diagnosed(request: requests.DiagnoseRequest, logs: Sequence[bytes | None], files: RunFiles) -> requests.Diagnosed:
    """In a thread of its own: reading the largest log takes seconds."""
    found = understand(request.facts, request.jobs, logs, files, request.background, request.checks)
    return requests.Diagnosed(
        diagnosis=found.diagnosis,
        plan=found.plan,
        tested=found.tested,
        protected=found.config.protected,
        limits=tightened(request.limits, found.config),
    )


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
