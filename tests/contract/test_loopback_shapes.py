"""What the loopback answers to a diagnosis is shaped as GitHub describes it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue

from adapters.loopback.drive.requests import ForkHead, NewAnnotation, NewJob, NewRun, NewStep
from adapters.loopback.drive_client import DriveClient
from tests.support.github_shapes import misfits
from tests.support.loopback import SHOP, WORKFLOW, open_fix, open_shop, push_fix, rest, running_loopback

pytestmark = pytest.mark.slow
REPO = "/repos/{owner}/{repo}"


@dataclass(frozen=True)
class Scene:
    """A shop with a pull request, and a run of it that failed twice."""

    api: httpx.AsyncClient
    drive: DriveClient
    run_id: int
    job_id: int
    sha: str

    async def ask(self, path: str) -> JsonValue:
        answer = await self.api.get(f"/repos/{SHOP}{path}")
        assert answer.status_code == 200
        found: JsonValue = answer.json()
        return found


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with running_loopback(tmp_path / "github") as (info, drive):
        await open_shop(drive)
        number = await open_fix(drive)
        note = NewAnnotation(path="shop.py", start_line=1, end_line=1, message="boom", title="pytest")
        jobs = [
            NewJob(name="lint", conclusion="success"),
            NewJob(
                name="test",
                conclusion="failure",
                steps=[NewStep(name="Run tests", conclusion="failure")],
                log="boom\n",
                annotations=[note],
            ),
        ]
        new = NewRun(
            repo=SHOP, pr=number, workflow_path=WORKFLOW, event="pull_request", conclusion="failure", jobs=jobs
        )
        first = await drive.run(new)
        made = await drive.run(new.model_copy(update={"run_id": first.run_id}))
        async with rest(info) as api:
            yield Scene(api, drive, made.run_id, made.jobs[1].id, made.sha)


@pytest.mark.parametrize(
    ("described", "asked"),
    [
        ("/actions/runs", "/actions/runs?branch=fix&status=failure"),
        ("/actions/runs", "/actions/workflows/ci.yml/runs?branch=fix&status=failure&exclude_pull_requests=true"),
        ("/actions/runs/{run_id}", "/actions/runs/{run}"),
        ("/actions/runs/{run_id}/attempts/{attempt_number}", "/actions/runs/{run}/attempts/1"),
        ("/actions/runs/{run_id}/attempts/{attempt_number}/jobs", "/actions/runs/{run}/attempts/2/jobs"),
        ("/actions/runs/{run_id}/jobs", "/actions/runs/{run}/jobs?filter=all"),
        ("/check-runs/{check_run_id}", "/check-runs/{job}"),
        ("/check-runs/{check_run_id}/annotations", "/check-runs/{job}/annotations"),
        ("/commits/{ref}/check-runs", "/commits/{sha}/check-runs"),
        ("/compare/{basehead}", "/compare/main...{sha}"),
        ("/compare/{basehead}", "/compare/{sha}...main"),
        ("/pulls", "/pulls?state=open&base=main&sort=created&direction=desc"),
        ("/pulls/{pull_number}/files", "/pulls/1/files"),
        ("/commits/{commit_sha}/pulls", "/commits/{sha}/pulls"),
        ("", ""),
    ],
)
async def test_an_answer_is_shaped_as_described(scene: Scene, described: str, asked: str) -> None:
    answer = await scene.ask(asked.format(run=scene.run_id, job=scene.job_id, sha=scene.sha))

    assert misfits(REPO + described, answer) == []
    found = answer if isinstance(answer, list) else next(iter(v for v in dict_of(answer).values() if v), None)
    assert found, "an empty list fits any shape"


def dict_of(answer: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ({"run_attempt": "2"}, "answer.run_attempt: is no integer"),
        ({"created_at": None}, "answer.created_at: is null"),
    ],
)
async def test_a_wrong_shape_would_be_seen(scene: Scene, spoil: dict[str, JsonValue], said: str) -> None:
    answer = dict_of(await scene.ask(f"/actions/runs/{scene.run_id}"))
    path = f"{REPO}/actions/runs/{{run_id}}"

    assert misfits(path, answer | spoil) == [said]
    assert misfits(path, {name: value for name, value in answer.items() if name != "jobs_url"}) == [
        "answer: lacks jobs_url"
    ]


async def test_runs_of_a_workflow_are_its_own(scene: Scene) -> None:
    other = ".github/workflows/nightly.yml"
    await scene.drive.run(NewRun(repo=SHOP, branch="fix", workflow_path=other, event="schedule", conclusion="success"))
    fork = ForkHead(repo="eve/shop", branch="main")
    await scene.drive.run(
        NewRun(repo=SHOP, fork=fork, workflow_path=WORKFLOW, event="pull_request", conclusion="success")
    )

    runs = dict_of(await scene.ask("/actions/workflows/ci.yml/runs?branch=fix"))

    assert runs["total_count"] == 1
    assert (await scene.api.get(f"/repos/{SHOP}/actions/workflows/absent.yml/runs")).status_code == 404


async def test_a_commit_that_is_not_there_cannot_be_compared(scene: Scene) -> None:
    await push_fix(scene.drive, "more")

    assert (await scene.api.get(f"/repos/{SHOP}/compare/{'0' * 40}...main")).status_code == 404
