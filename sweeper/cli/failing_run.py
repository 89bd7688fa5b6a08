"""A failing run on GitHub as a sweep would understand it, for commands that only tell. Reads only."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import typer

from sweeper.config import load_settings, prepare_state_dir
from sweeper.errors import BadInput
from sweeper.model import JobEvidence, JobFacts, RunFacts, Strict

if TYPE_CHECKING:  # loaded by the command that needs it
    from sweeper.policy.redaction import Redactor
    from sweeper.policy.understanding import Understood
    from sweeper.ports import CodeHost

T = TypeVar("T")


class FailingRun(Strict):
    """The run, its failing jobs, and their logs."""

    facts: RunFacts
    jobs: tuple[JobEvidence, ...]
    logs: tuple[bytes | None, ...]


def require_repository(source: str) -> None:
    """Raises BadParameter for what is no OWNER/REPO."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", source):
        raise typer.BadParameter(f"{source!r} is no repository; write OWNER/REPO", param_hint="OWNER/REPO")


def harmless(text: str) -> str:
    """Foreign text without what would steer a terminal."""
    return "".join(char for char in text if char.isprintable() or char == "\n")


class RunReader:
    """Reads runs as a sweep would. `checks`: the operator's own; they win over the workflow file."""

    def __init__(self, host: "CodeHost", redactor: "Redactor | None" = None, checks: tuple[str, ...] = ()) -> None:
        from sweeper.policy.redaction import Redactor

        self._host = host
        self._redactor = redactor or Redactor()
        self._checks = checks

    async def failing(self, repository: str, run_id: int, job: str | None = None) -> FailingRun:
        """The run's failing jobs (or the one called `job`) with their logs and annotations.

        Raises BadInput if the run has not ended, or has no failing job of that name, and what the host raises.
        """
        from sweeper.policy.planning.assumed import chosen
        from sweeper.policy.understanding import has_failed

        facts = await self._host.find_run(repository, run_id)
        if facts.conclusion is None:
            raise BadInput(f"Run {run_id} of {repository} has not ended; try again when it has.")
        failing = [JobEvidence(job=each) for each in await self._host.read_jobs(facts.run) if has_failed(each, facts)]
        wanted = chosen(failing, job) if job is not None else failing
        read = [await self._read(facts, each.job) for each in wanted]
        return FailingRun(facts=facts, jobs=tuple(each for each, _ in read), logs=tuple(log for _, log in read))

    async def _read(self, facts: RunFacts, job: JobFacts) -> tuple[JobEvidence, bytes | None]:
        said = await self._host.read_log(facts.run, job.id)
        notes = await self._host.read_annotations(facts.run, job.id)
        if not said.text:
            return JobEvidence(job=job, log_missing=said.missing or "empty", annotations=notes), None
        return JobEvidence(job=job, annotations=notes), self._redactor.redact(said.text)

    async def understood(self, failing: FailingRun) -> "Understood":
        """The diagnosis and plan that a sweep would begin with."""
        from sweeper.policy.repository_config import CONFIG_PATH
        from sweeper.policy.understanding import RunFiles, background_of, understand

        facts, repository = failing.facts, failing.facts.run.repository
        workflow = None
        if facts.workflow_path:
            workflow = await self._host.read_file(repository, facts.workflow_path, facts.head_sha)
        files = RunFiles(workflow=workflow, config=await self._host.default_branch_file(repository, CONFIG_PATH))
        background = background_of(await self._host.read_history(facts), [each.job for each in failing.jobs])
        return await asyncio.to_thread(understand, facts, failing.jobs, failing.logs, files, background, self._checks)


async def with_reader(ask: Callable[[RunReader], Awaitable[T]]) -> T:
    """Ask GitHub by the settings. Raises BadInput for unusable ones."""
    from sweeper.cli.composition import code_host
    from sweeper.policy.redaction import Redactor

    settings = load_settings()
    redactor = Redactor([value.get_secret_value() for value in settings.redact])
    host = code_host(settings, prepare_state_dir(settings))
    try:
        return await ask(RunReader(host, redactor, settings.checks))
    finally:
        host.close()
