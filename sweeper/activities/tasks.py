"""What an agent is told."""

from sweeper.activities import requests
from sweeper.activities.checks import with_excerpts
from sweeper.model import JobEvidence, Verdict
from sweeper.model.task import Task
from sweeper.policy.triage import excerpt
from sweeper.ports import Ports


class TaskTeller:
    """Puts together what is known, with the excerpts that the history only has by reference. Only reads."""

    def __init__(self, ports: Ports) -> None:
        self._artifacts = ports.artifacts

    async def task(self, request: requests.AttemptRequest) -> Task:
        """Of that attempt."""
        return Task(
            sweep=request.sweep,
            attempt=request.n,
            repository=request.facts.run.repository,
            failing_sha=request.facts.head_sha,
            diagnosis=request.diagnosis,
            excerpts=await self._excerpts(request),
            check_plan=request.plan,
            previous_verdict=await self._readable(request.previous),
            review_comments=request.review_comments,
            allowance=request.allowance,
        )

    async def _excerpts(self, request: requests.AttemptRequest) -> dict[str, str]:
        return {item.job.name: await self._excerpt(item) for item in request.jobs}

    async def _readable(self, verdict: Verdict | None) -> Verdict | None:
        if verdict is None:
            return None
        return verdict.model_copy(update={"results": await with_excerpts(verdict.results, self._artifacts)})

    async def _excerpt(self, item: JobEvidence) -> str:
        if item.log is None:
            return f"(no log: {item.log_missing})"
        log = await self._artifacts.get(item.log)
        return excerpt(log).decode("utf-8", "replace")
