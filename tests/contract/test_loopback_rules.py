"""Branch protection, the merge queue, drafts by GraphQL, and reads that lag behind."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from adapters.loopback.drive.requests import EndQueue, FaultRule, NewJob, NewPush, NewReview, NewRun, Protect
from adapters.loopback.drive_client import DriveClient, DriveRefused
from adapters.loopback.options import LoopbackInfo
from tests.support.loopback import SHOP, WORKFLOW, open_fix, open_shop, push_fix, rest, running_loopback

pytestmark = pytest.mark.slow
READY = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
DRAFT = "mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
ENQUEUE = "mutation M($input: EnqueuePullRequestInput!) { enqueuePullRequest(input: $input) { clientMutationId } }"


@dataclass(frozen=True)
class Scene:
    info: LoopbackInfo
    drive: DriveClient
    api: httpx.AsyncClient

    async def merge(self) -> httpx.Response:
        return await self.api.put(f"/repos/{SHOP}/pulls/1/merge", json={})

    async def checks(self, conclusion: str) -> None:
        job = NewJob.model_validate({"name": "test", "conclusion": conclusion})
        await self.drive.run(
            NewRun.model_validate(
                {
                    "repo": SHOP,
                    "pr": 1,
                    "workflow_path": WORKFLOW,
                    "event": "pull_request",
                    "conclusion": conclusion,
                    "jobs": [job.model_dump()],
                }
            )
        )

    async def node(self) -> str:
        return str((await self.api.get(f"/repos/{SHOP}/pulls/1")).json()["node_id"])

    async def graphql(self, query: str, variables: dict[str, object]) -> httpx.Response:
        return await self.api.post("/graphql", json={"query": query, "variables": variables})


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with running_loopback(tmp_path / "github") as (info, drive):
        await open_shop(drive)
        await open_fix(drive)
        async with rest(info) as api:
            yield Scene(info, drive, api)


async def test_a_required_check_must_be_green(scene: Scene) -> None:
    await scene.drive.protect(Protect(repo=SHOP, branch="main", required_checks=["test"]))
    missing = await scene.merge()
    assert (missing.status_code, missing.json()["message"]) == (405, 'Required status check "test" is expected.')
    await scene.checks("failure")
    assert (await scene.merge()).status_code == 405
    await scene.checks("success")
    assert (await scene.merge()).status_code == 200


async def test_required_reviews_count_the_latest_word_of_each_person(scene: Scene) -> None:
    await scene.drive.protect(Protect(repo=SHOP, branch="main", required_reviews=1))
    assert (await scene.merge()).status_code == 405
    await scene.drive.review(NewReview(repo=SHOP, pr=1, user="ada", state="APPROVED"))
    await scene.drive.review(NewReview(repo=SHOP, pr=1, user="ada", state="CHANGES_REQUESTED", body="no"))
    assert (await scene.merge()).status_code == 405
    await scene.drive.review(NewReview(repo=SHOP, pr=1, user="ada", state="APPROVED"))
    await scene.drive.review(NewReview(repo=SHOP, pr=1, user="ada", state="COMMENTED", body="nice"))
    assert (await scene.merge()).status_code == 200


async def test_a_strict_branch_wants_the_head_up_to_date(scene: Scene) -> None:
    await scene.drive.protect(Protect(repo=SHOP, branch="main", strict=True))
    await scene.drive.push(_aside())
    behind = await scene.merge()
    assert behind.status_code == 405
    assert "out of date" in behind.json()["message"]


def _aside() -> NewPush:
    return NewPush(repo=SHOP, branch="main", files={"other.py": "1\n"}, user="ada")


async def test_protection_shows_and_can_be_lifted(scene: Scene) -> None:
    path = f"/repos/{SHOP}/branches/main"
    await scene.drive.protect(Protect(repo=SHOP, branch="main", required_checks=["test"], strict=True))
    assert (await scene.api.get(path)).json()["protected"] is True
    assert (await scene.api.get(f"{path}/protection")).json()["required_status_checks"]["strict"] is True
    await scene.drive.protect(Protect(repo=SHOP, branch="main"))
    assert (await scene.api.get(f"{path}/protection")).status_code == 404
    assert (await scene.merge()).status_code == 200


@pytest.mark.parametrize(("result", "merged"), [("merged", True), ("failed", False)])
async def test_a_queued_merge_ends_as_the_queue_says(scene: Scene, result: str, merged: bool) -> None:
    await scene.drive.protect(Protect(repo=SHOP, branch="main", queue=True))
    refused = await scene.merge()
    assert (refused.status_code, refused.json()["message"]) == (405, "Changes must be made through the merge queue")
    variables: dict[str, object] = {"input": {"pullRequestId": await scene.node()}}
    assert "errors" not in (await scene.graphql(ENQUEUE, variables)).json()
    again = (await scene.graphql(ENQUEUE, variables)).json()
    assert again["errors"][0]["message"] == "Pull request is already in the queue"
    assert (await scene.drive.world()).repos[0].pulls[0].queued
    await scene.drive.end_queue(EndQueue.model_validate({"repo": SHOP, "pr": 1, "result": result}))
    pull = (await scene.drive.world()).repos[0].pulls[0]
    assert (pull.merged, pull.queued) == (merged, False)
    with pytest.raises(DriveRefused, match="not in the queue"):
        await scene.drive.end_queue(EndQueue(repo=SHOP, pr=1, result="merged"))


async def test_a_draft_is_made_and_made_ready_once(scene: Scene) -> None:
    variables: dict[str, object] = {"id": await scene.node()}
    for query, draft in ((DRAFT, True), (DRAFT, True), (READY, False), (READY, False)):
        answer = (await scene.graphql(query, variables)).json()
        assert next(iter(answer["data"].values()))["pullRequest"]["isDraft"] is draft
    assert (await scene.drive.ledger()).effects == {"pull.draft": 1, "pull.ready": 1}


async def test_other_graphql_is_unknown(scene: Scene) -> None:
    assert (await scene.graphql("query { viewer { login } }", {})).status_code == 404
    assert (await scene.drive.ledger()).unknown == ["POST /graphql"]
    wrong = (await scene.graphql(READY, {"id": "PR_nothing"})).json()
    assert "Could not resolve" in wrong["errors"][0]["message"]


async def test_a_stale_read_does_not_see_the_last_write(scene: Scene) -> None:
    await push_fix(scene.drive, "second")
    made = await scene.api.post(f"/repos/{SHOP}/pulls", json={"title": "x", "head": "second", "base": "main"})
    assert made.status_code == 201
    path = f"/repos/{SHOP}/pulls?head=octo:second&state=all"
    await scene.drive.faults(FaultRule(method="GET", path="/pulls", kind="stale_read", times=2))
    seen = [len((await scene.api.get(path)).json()) for _ in range(3)]
    assert seen == [0, 0, 1]
