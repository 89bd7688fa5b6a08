"""PyGithub, the client of the product, finds on the loopback what it finds on GitHub."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from github import Auth, Github
from github.GithubException import GithubException
from github.Repository import Repository

from adapters.loopback.drive.requests import (
    ForkHead,
    NewAnnotation,
    NewJob,
    NewReview,
    NewRun,
    NewStep,
    Rename,
)
from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo
from tests.support.loopback import SHOP, WORKFLOW, open_fix, open_shop, push_fix, rest, running_loopback

pytestmark = pytest.mark.slow
LOG = "2026-01-05T09:00:00.0000000Z ##[error]boom\n"


@dataclass(frozen=True)
class Scene:
    info: LoopbackInfo
    drive: DriveClient
    main_sha: str

    def repository(self) -> Repository:
        return client(self.info).get_repo(SHOP)


def client(info: LoopbackInfo) -> Github:
    return Github(
        auth=Auth.Token(info.token),
        base_url=info.url,
        retry=None,
        lazy=True,
        seconds_between_requests=0,
        seconds_between_writes=0,
    )


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with running_loopback(tmp_path / "github") as (info, drive):
        shop = await open_shop(drive)
        yield Scene(info, drive, shop.head)


def failing(**changes: object) -> NewRun:
    jobs = [
        NewJob(name="lint", conclusion="success", steps=[NewStep(name="ruff", conclusion="success")], log="fine\n"),
        NewJob(
            name="test",
            conclusion="failure",
            steps=[NewStep(name="install", conclusion="success"), NewStep(name="pytest", conclusion="failure")],
            log=LOG,
            annotations=[NewAnnotation(message="The job has exceeded the maximum execution time of 20m0s")],
        ),
    ]
    run = NewRun(repo=SHOP, branch="main", workflow_path=WORKFLOW, event="push", conclusion="failure", jobs=jobs)
    return run.model_copy(update=changes)


async def test_a_run_shows_its_jobs_steps_and_checks(scene: Scene) -> None:
    made = await scene.drive.run(failing())

    def look() -> None:
        run = scene.repository().get_workflow_run(made.run_id)
        assert (run.conclusion, run.head_sha, run.head_branch, run.run_attempt) == (
            "failure",
            scene.main_sha,
            "main",
            1,
        )
        assert (run.path, run.name, run.head_repository.full_name) == (WORKFLOW, "CI", SHOP)
        jobs = {job.name: job for job in run.jobs()}
        assert [(step.number, step.name, step.conclusion) for step in jobs["test"].steps] == [
            (1, "install", "success"),
            (2, "pytest", "failure"),
        ]
        check = scene.repository().get_check_run(jobs["test"].id)
        assert (check.name, check.conclusion, check.head_sha) == ("test", "failure", scene.main_sha)
        assert "maximum execution time" in next(iter(check.get_annotations())).message
        names = {one.name for one in scene.repository().get_commit(scene.main_sha).get_check_runs()}
        assert names == {"lint", "test"}

    await asyncio.to_thread(look)


async def test_a_failed_run_is_found_and_run_again(scene: Scene) -> None:
    made = await scene.drive.run(failing())

    def rerun() -> None:
        found = scene.repository().get_workflow_runs(status="failure", head_sha=scene.main_sha)
        assert [run.id for run in found] == [made.run_id]
        assert found[0].rerun_failed_jobs()
        again = scene.repository().get_workflow_run(made.run_id)
        assert (again.run_attempt, again.status) == (2, "in_progress")

    await asyncio.to_thread(rerun)
    jobs = [NewJob(name="lint", conclusion="success"), NewJob(name="test", conclusion="success")]
    green = await scene.drive.run(failing(run_id=made.run_id, conclusion="success", jobs=jobs))
    assert (green.run_id, green.attempt) == (made.run_id, 2)
    assert (await scene.drive.ledger()).effects == {"run.rerun": 1}
    async with rest(scene.info) as api:
        first = (await api.get(f"/repos/{SHOP}/actions/runs/{made.run_id}/attempts/1")).json()
        latest = (await api.get(f"/repos/{SHOP}/actions/runs/{made.run_id}")).json()
        assert [first["conclusion"], latest["conclusion"]] == ["failure", "success"]
        jobs_of_first = (await api.get(f"/repos/{SHOP}/actions/runs/{made.run_id}/attempts/1/jobs")).json()
        assert [job["conclusion"] for job in jobs_of_first["jobs"]] == ["success", "failure"]
        assert latest["previous_attempt_url"].endswith("/attempts/1")


async def test_a_pull_request_lives_from_opening_to_merge(scene: Scene) -> None:
    head = await push_fix(scene.drive)

    def propose() -> int:
        pull = scene.repository().create_pull(title="Fix", body="why", head="fix", base="main")
        pull.create_issue_comment("first")
        pull.add_to_labels("sweeper")
        pull.create_review_request(reviewers=["ada"])
        pull.edit(title="Fix it")
        return pull.number

    number = await asyncio.to_thread(propose)
    await scene.drive.review(NewReview(repo=SHOP, pr=number, user="ada", state="APPROVED"))

    def merge() -> None:
        repository = scene.repository()
        pull = repository.get_pull(number)
        assert (pull.title, pull.mergeable, pull.head.sha, pull.user.type) == ("Fix it", True, head, "Bot")
        assert (pull.commits, pull.changed_files, pull.additions, pull.deletions) == (1, 1, 1, 1)
        assert [label.name for label in pull.labels] == ["sweeper"]
        assert [review.state for review in pull.get_reviews()] == ["APPROVED"]
        assert [comment.body for comment in pull.get_issue_comments()] == ["first"]
        assert [file.filename for file in pull.get_files()] == ["shop.py"]
        assert repository.get_collaborator_permission("ada") == "admin"
        found = repository.get_pulls(state="open", head="octo:fix", base="main")
        assert [one.number for one in found] == [number]
        answer = pull.merge(sha=head)
        assert answer.merged
        assert repository.get_branch("main").commit.sha == answer.sha
        assert [parent.sha for parent in repository.get_commit(answer.sha).parents] == [scene.main_sha, head]
        assert repository.get_pull(number).merged_by.login == scene.info.bot_login
        branch = repository.get_git_ref("heads/fix")
        assert branch.object.sha == head
        branch.delete()

    await asyncio.to_thread(merge)
    assert (await scene.drive.ledger()).effects == {
        "pull.create": 1,
        "comment.create": 1,
        "label.add": 1,
        "reviewers.request": 1,
        "pull.update": 1,
        "pull.merge": 1,
        "branch.delete": 1,
    }


async def test_a_squash_merge_puts_one_commit_on_the_base(scene: Scene) -> None:
    number = await open_fix(scene.drive)

    def merge() -> None:
        repository = scene.repository()
        merged = repository.get_pull(number).merge(merge_method="squash")
        commit = repository.get_commit(merged.sha)
        assert [parent.sha for parent in commit.parents] == [scene.main_sha]
        assert commit.commit.message.startswith("Fix the shop (#1)")

    await asyncio.to_thread(merge)


async def test_a_check_run_and_a_status_are_made_changed_and_found(scene: Scene) -> None:
    def check() -> None:
        repository = scene.repository()
        made = repository.create_check_run(
            "sweeper", scene.main_sha, external_id="key-1", status="in_progress", output={"title": "t", "summary": "s"}
        )
        made.edit(status="completed", conclusion="neutral")
        found = list(repository.get_commit(scene.main_sha).get_check_runs(check_name="sweeper"))
        assert [(one.external_id, one.conclusion, one.app.id) for one in found] == [
            ("key-1", "neutral", scene.info.app_id)
        ]
        repository.get_commit(scene.main_sha).create_status("pending", context="sweeper/evidence")
        repository.get_commit(scene.main_sha).create_status("success", context="sweeper/evidence")
        combined = repository.get_commit(scene.main_sha).get_combined_status()
        assert (combined.state, combined.total_count) == ("success", 1)

    await asyncio.to_thread(check)
    effects = (await scene.drive.ledger()).effects
    assert effects == {"check.create": 1, "check.update": 1, "status.create": 2}


async def test_files_and_refs_are_read(scene: Scene) -> None:
    def read() -> None:
        repository = scene.repository()
        content = repository.get_contents("shop.py", ref="main")
        assert not isinstance(content, list)
        assert content.decoded_content == b"import os\n"
        assert repository.get_git_ref("heads/main").object.sha == scene.main_sha
        assert [ref.ref for ref in repository.get_git_matching_refs("heads/ma")] == ["refs/heads/main"]
        with pytest.raises(GithubException) as raised:
            repository.get_contents("nowhere.py")
        assert raised.value.status == 404

    await asyncio.to_thread(read)


async def test_a_renamed_repository_answers_301_to_its_address_by_id(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    await scene.drive.rename(Rename(repo=SHOP, name="store"))

    def follow() -> None:
        assert client(scene.info).get_repo(SHOP, lazy=False).full_name == "octo/store"
        assert scene.repository().get_pull(number).title == "Fix the shop"

    await asyncio.to_thread(follow)
    async with rest(scene.info) as api:
        moved = await api.get(f"/repos/{SHOP}/pulls/{number}")
        assert moved.status_code == 301
        assert moved.headers["location"] == f"{scene.info.url}/repositories/{moved.json()['url'].split('/')[4]}/pulls/1"


async def test_a_log_is_behind_a_link_to_another_port_that_lives_a_minute(scene: Scene) -> None:
    made = await scene.drive.run(failing())
    job = next(job for job in made.jobs if job.name == "test")
    async with rest(scene.info) as api, httpx.AsyncClient() as anyone:
        link = (await api.get(f"/repos/{SHOP}/actions/jobs/{job.id}/logs")).headers["location"]
        assert not link.startswith(scene.info.url)
        assert (await anyone.get(link)).text == LOG
        assert (await anyone.get(link, headers={"Authorization": "Bearer x"})).status_code == 403
        assert (await anyone.get(link.replace("sig=", "sig=0"))).status_code == 403
        await scene.drive.advance(61)
        assert (await anyone.get(link)).status_code == 403


@pytest.mark.parametrize(("log_status", "status"), [("404", 404), ("410", 410), ("empty", 302)])
async def test_a_log_may_be_missing(scene: Scene, log_status: str, status: int) -> None:
    job = NewJob.model_validate({"name": "test", "conclusion": "failure", "log_status": log_status})
    made = await scene.drive.run(failing(jobs=[job]))
    async with rest(scene.info) as api:
        answer = await api.get(f"/repos/{SHOP}/actions/jobs/{made.jobs[0].id}/logs")
        assert answer.status_code == status
        if status == 302:
            async with httpx.AsyncClient() as anyone:
                assert (await anyone.get(answer.headers["location"])).content == b""


async def test_a_run_of_a_fork_names_the_fork_and_no_pull_requests(scene: Scene) -> None:
    made = await scene.drive.run(failing(branch=None, fork=ForkHead(repo="eve/shop", branch="main")))

    def look() -> None:
        run = scene.repository().get_workflow_run(made.run_id)
        assert (run.head_repository.full_name, run.pull_requests) == ("eve/shop", [])
        assert run.head_repository.id != run.repository.id

    await asyncio.to_thread(look)


async def test_lists_come_in_pages(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    async with rest(scene.info) as api:
        for at in range(5):
            await api.post(f"/repos/{SHOP}/issues/{number}/comments", json={"body": f"comment {at}"})
        page = await api.get(f"/repos/{SHOP}/issues/{number}/comments?per_page=2&page=2")
        assert [comment["body"] for comment in page.json()] == ["comment 2", "comment 3"]
        assert set(page.links) == {"next", "last", "prev", "first"}
        following = await api.get(page.links["next"]["url"])
        assert [comment["body"] for comment in following.json()] == ["comment 4"]


async def test_an_unchanged_answer_is_304(scene: Scene) -> None:
    async with rest(scene.info) as api:
        first = await api.get(f"/repos/{SHOP}/branches/main")
        again = await api.get(f"/repos/{SHOP}/branches/main", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        await push_fix(scene.drive, "main")
        changed = await api.get(f"/repos/{SHOP}/branches/main", headers={"If-None-Match": first.headers["etag"]})
        assert changed.status_code == 200
        assert int(changed.headers["x-ratelimit-remaining"]) < int(first.headers["x-ratelimit-remaining"])
