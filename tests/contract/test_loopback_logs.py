"""The logs of made up runs: as they were given, or as a job's log would tell how its steps ended."""

from pathlib import Path

import httpx
import pytest

from adapters.loopback.drive.requests import NewJob, NewRepo, NewRun, NewStep
from tests.support.loopback import rest, running_loopback

pytestmark = pytest.mark.slow
WORDS = "2026-01-01T00:00:00.0000000Z these very words\n"


async def log_of(tmp_path: Path, job: NewJob) -> httpx.Response:
    """As GitHub's API gives it, by way of its storage."""
    async with running_loopback(tmp_path) as (info, drive):
        await drive.repo(NewRepo(name="octo/app", files={"a.txt": "a\n"}))
        run = NewRun(
            repo="octo/app", branch="main", workflow_path="ci.yml", event="push", conclusion="failure", jobs=[job]
        )
        (made,) = (await drive.run(run)).jobs
        async with rest(info) as api, httpx.AsyncClient(trust_env=False) as storage:
            asked = await api.get(f"/repos/octo/app/actions/jobs/{made.id}/logs")
            return await storage.get(asked.headers["location"]) if asked.status_code == 302 else asked


async def test_a_job_without_a_log_of_its_own_tells_how_its_steps_ended(tmp_path: Path) -> None:
    steps = [NewStep(name="Set up", conclusion="success"), NewStep(name="Run pytest", conclusion="failure")]
    told = (await log_of(tmp_path, NewJob(name="test", conclusion="failure", steps=steps))).text
    lines = [line.partition("Z ")[2] for line in told.splitlines()]
    assert lines == [
        *("##[group]Run Set up", "##[endgroup]"),
        *("##[group]Run pytest", "##[endgroup]"),
        "##[error]Process completed with exit code 1.",
    ]


async def test_a_log_that_is_given_is_told_as_it_is(tmp_path: Path) -> None:
    assert (await log_of(tmp_path, NewJob(name="test", conclusion="failure", log=WORDS))).text == WORDS


@pytest.mark.parametrize(("status", "code", "text"), [("404", 404, None), ("410", 410, None), ("empty", 200, "")])
async def test_a_log_that_is_missing_is_missing(status: str, code: int, text: str | None, tmp_path: Path) -> None:
    job = NewJob.model_validate({"name": "test", "conclusion": "failure", "log_status": status})
    answer = await log_of(tmp_path, job)
    assert answer.status_code == code
    assert text is None or answer.text == text
