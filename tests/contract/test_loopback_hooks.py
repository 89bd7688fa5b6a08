"""Webhooks of the loopback: signed as GitHub signs, in GitHub's shapes, and spoilt on demand."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.loopback.core.state import HookMode
from adapters.loopback.drive.requests import (
    ChangeLabels,
    DeleteBranch,
    DismissReview,
    EditPull,
    NewComment,
    NewDispatch,
    NewJob,
    NewPush,
    NewReview,
    NewRun,
    PullAct,
)
from adapters.loopback.drive_client import DriveClient, DriveRefused
from adapters.loopback.options import LoopbackInfo
from tests.support.hook_receiver import HookReceiver, receiving_hooks
from tests.support.loopback import SHOP, WORKFLOW, open_fix, open_shop, push_fix, rest, running_loopback

pytestmark = pytest.mark.slow
SECRET = "a shared secret"  # not a real one


@dataclass(frozen=True)
class Scene:
    info: LoopbackInfo
    drive: DriveClient
    hooks: HookReceiver


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with (
        receiving_hooks() as hooks,
        running_loopback(tmp_path / "github", hook=hooks.url, secret=SECRET) as (info, drive),
    ):
        await open_shop(drive)
        await hooks.count("ping")
        hooks.received.clear()
        yield Scene(info, drive, hooks)


def signature(raw: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()


def failing_run() -> NewRun:
    jobs = [NewJob(name="test", conclusion="failure", log="boom\n")]
    return NewRun(repo=SHOP, branch="main", workflow_path=WORKFLOW, event="push", conclusion="failure", jobs=jobs)


def comment(number: int, body: str = "hello") -> NewComment:
    return NewComment(repo=SHOP, pr=number, user="ada", body=body)


async def test_a_run_sends_what_github_sends_signed_and_in_order(scene: Scene) -> None:
    made = await scene.drive.run(failing_run())
    received = await scene.hooks.until(lambda received: len(received) == 4)
    assert scene.hooks.names() == [
        "workflow_run.requested",
        "workflow_job.completed",
        "check_run.completed",
        "workflow_run.completed",
    ]
    assert [one.guid for one in received] == made.deliveries
    for one in received:
        assert one.headers["x-hub-signature-256"] == signature(one.raw)
        assert one.headers["user-agent"].startswith("GitHub-Hookshot/")
        assert one.headers["content-type"] == "application/json"
    run = received[-1].body["workflow_run"]
    assert isinstance(run, dict)
    assert (run["id"], run["run_attempt"], run["conclusion"], run["head_sha"]) == (
        made.run_id,
        1,
        "failure",
        made.sha,
    )


async def test_jobs_that_run_again_are_the_next_attempt_and_it_is_told(scene: Scene) -> None:
    passed = NewJob(name="lint", conclusion="success", log="fine\n")
    failed = failing_run()
    made = await scene.drive.run(failed.model_copy(update={"jobs": [passed, *failed.jobs]}))
    async with rest(scene.info) as api:
        again = await api.post(f"/repos/{SHOP}/actions/runs/{made.run_id}/rerun-failed-jobs")
        assert again.status_code == 201
        await scene.hooks.count("workflow_run.requested", 2)
        scene.hooks.received.clear()

        green = NewJob(name="test", conclusion="success")
        ended = failed.model_copy(
            update={"run_id": made.run_id, "attempt": 2, "conclusion": "success", "jobs": [green]}
        )
        assert (await scene.drive.run(ended)).attempt == 2
        told = await scene.hooks.until(lambda received: any(one.name == "workflow_run.completed" for one in received))
        jobs = (await api.get(f"/repos/{SHOP}/actions/runs/{made.run_id}/attempts/2/jobs")).json()["jobs"]

    run = told[-1].body["workflow_run"]
    assert isinstance(run, dict)
    assert (run["id"], run["run_attempt"], run["conclusion"]) == (made.run_id, 2, "success")
    assert [(job["name"], job["conclusion"]) for job in jobs] == [("lint", "success"), ("test", "success")]
    assert (await scene.drive.ledger()).effects == {"run.rerun": 1}


async def test_a_pull_requests_life_is_told(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    on = {"repo": SHOP, "pr": number, "user": "ada"}
    await push_fix(scene.drive, content="total = 2\n")
    review = await scene.drive.review(NewReview.model_validate(on | {"state": "APPROVED"}))
    await scene.drive.dismiss_review(DismissReview.model_validate(on | {"review_id": review, "message": "no"}))
    await scene.drive.comment(comment(number))
    await scene.drive.labels(ChangeLabels.model_validate(on | {"add": ["bug"]}))
    await scene.drive.labels(ChangeLabels.model_validate(on | {"remove": ["bug"]}))
    await scene.drive.edit_pull(EditPull.model_validate(on | {"title": "Better", "draft": True}))
    await scene.drive.edit_pull(EditPull.model_validate(on | {"draft": False}))
    await scene.drive.close_pull(PullAct.model_validate(on))
    await scene.drive.reopen_pull(PullAct.model_validate(on))
    await scene.drive.merge_pull(PullAct.model_validate(on))
    await scene.drive.delete_branch(DeleteBranch(repo=SHOP, branch="fix", user="ada"))
    await scene.hooks.count("delete")
    await scene.hooks.count("push", 4)
    assert scene.hooks.names() == [
        "create",
        "push",
        "pull_request.opened",
        "push",
        "pull_request.synchronize",
        "pull_request_review.submitted",
        "pull_request_review.dismissed",
        "issue_comment.created",
        "pull_request.labeled",
        "pull_request.unlabeled",
        "pull_request.edited",
        "pull_request.converted_to_draft",
        "pull_request.ready_for_review",
        "pull_request.closed",
        "pull_request.reopened",
        "pull_request.closed",
        "push",
        "delete",
        "push",
    ]
    states = [one.body["review"]["state"] for one in scene.hooks.received if one.event == "pull_request_review"]  # type: ignore[index,call-overload]
    assert states == ["approved", "dismissed"]


async def test_a_closed_pull_request_says_whether_it_was_merged(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    await scene.drive.merge_pull(PullAct(repo=SHOP, pr=number, user="ada"))
    (closed,) = await scene.hooks.count("pull_request.closed")
    pull = closed.body["pull_request"]
    assert isinstance(pull, dict)
    assert (pull["merged"], pull["state"], pull["merged_by"]["login"]) == (True, "closed", "ada")  # type: ignore[index,call-overload]


async def test_a_dispatch_by_rest_and_by_drive_carries_its_payload(scene: Scene) -> None:
    guid = await scene.drive.dispatch(
        NewDispatch(repo=SHOP, event_type="ci-sweeper", client_payload={"run_id": 7}, user="ada")
    )
    async with rest(scene.info) as api:
        body = {"event_type": "ci-sweeper", "client_payload": {"run_id": 8}}
        assert (await api.post(f"/repos/{SHOP}/dispatches", json=body)).status_code == 204
    first, second = await scene.hooks.count("repository_dispatch.ci-sweeper", 2)
    assert first.guid == guid
    assert [first.body["client_payload"], second.body["client_payload"]] == [{"run_id": 7}, {"run_id": 8}]
    assert first.body["branch"] == "main"


async def test_duplicates_have_the_same_guid_or_on_demand_a_new_one(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    await scene.drive.hooks(HookMode.DUPLICATE)
    await scene.drive.comment(comment(number))
    await scene.drive.hooks(HookMode.DUPLICATE_NEW_GUID)
    await scene.drive.comment(comment(number))
    received = await scene.hooks.count("issue_comment.created", 4)
    guids = [one.guid for one in received]
    assert guids[0] == guids[1]
    assert len(set(guids)) == 3
    assert received[2].raw == received[3].raw


async def test_held_deliveries_wait_for_their_release_in_order(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    await scene.hooks.count("pull_request.opened")
    await scene.drive.hooks(HookMode.HOLD)
    for text in ("one", "two"):
        await scene.drive.comment(comment(number, text))
    held = [one for one in (await scene.drive.world()).deliveries if one.state == "held"]
    assert [one.status_code for one in held] == [0, 0]
    assert "issue_comment.created" not in scene.hooks.names()
    await scene.drive.hooks(HookMode.RELEASE)
    received = await scene.hooks.count("issue_comment.created", 2)
    assert [one.guid for one in received] == [one.guid for one in held]


async def test_reordered_deliveries_come_the_other_way_round(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    await scene.hooks.count("pull_request.opened")
    await scene.drive.hooks(HookMode.REORDER)
    await scene.drive.run(failing_run())
    await scene.hooks.count("workflow_run.requested")
    assert scene.hooks.names()[-4:] == [
        "workflow_run.completed",
        "check_run.completed",
        "workflow_job.completed",
        "workflow_run.requested",
    ]
    assert number == 1


async def test_a_dropped_delivery_can_be_sent_again_with_its_guid(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    await scene.drive.hooks(HookMode.DROP)
    await scene.drive.comment(comment(number))
    await scene.drive.hooks(HookMode.NORMAL)
    (dropped,) = [one for one in (await scene.drive.world()).deliveries if one.state == "dropped"]
    await scene.drive.redeliver(dropped.guid)
    (received,) = await scene.hooks.count("issue_comment.created")
    assert received.guid == dropped.guid
    assert received.headers["x-hub-signature-256"] == signature(received.raw)
    with pytest.raises(DriveRefused):
        await scene.drive.redeliver("no-such-guid")


async def test_a_bad_signature_is_bad(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    await scene.drive.hooks(HookMode.BAD_SIGNATURE)
    await scene.drive.comment(comment(number))
    (received,) = await scene.hooks.count("issue_comment.created")
    assert received.headers["x-hub-signature-256"] != signature(received.raw)


async def test_the_answer_is_recorded_and_nothing_is_tried_again(scene: Scene) -> None:
    scene.hooks.status = 503
    guid = await scene.drive.dispatch(NewDispatch(repo=SHOP, event_type="x", user="ada"))
    await scene.hooks.count("repository_dispatch.x")
    scene.hooks.status = 202
    await scene.drive.dispatch(NewDispatch(repo=SHOP, event_type="y", user="ada"))
    await scene.hooks.count("repository_dispatch.y")
    seen = [one for one in (await scene.drive.world()).deliveries if one.guid == guid]
    assert [(one.event, one.status_code, one.state) for one in seen] == [("repository_dispatch", 503, "sent")]
    assert scene.hooks.names().count("repository_dispatch.x") == 1


async def test_without_a_hook_deliveries_are_recorded_as_undeliverable(tmp_path: Path) -> None:
    async with running_loopback(tmp_path / "github") as (_, drive):
        await open_shop(drive)
        await drive.run(failing_run())
        states = {one.state for one in (await drive.world()).deliveries}
    assert states == {"undeliverable"}


async def test_what_was_not_sent_before_a_stop_is_sent_after_the_next_start(tmp_path: Path) -> None:
    state = tmp_path / "github"
    async with receiving_hooks() as hooks:
        async with running_loopback(state, hook=hooks.url, secret=SECRET) as (_, drive):
            await open_shop(drive)
            await drive.hooks(HookMode.HOLD)
            made = await drive.run(failing_run())
        async with running_loopback(state, hook=hooks.url) as (info, drive):
            assert info.webhook_secret == SECRET
            await drive.hooks(HookMode.RELEASE)
            received = await hooks.count("workflow_run.completed")
            assert received[0].guid == made.deliveries[-1]
            assert json.loads(received[0].raw)["workflow_run"]["id"] == made.run_id


async def test_a_push_to_a_tag_or_branch_says_which(scene: Scene) -> None:
    sha = await scene.drive.push(NewPush(repo=SHOP, branch="topic", files={"a.py": "1\n"}, user="wim"))
    (pushed,) = await scene.hooks.count("push")
    body = pushed.body
    assert (body["ref"], body["after"], body["created"], body["forced"]) == ("refs/heads/topic", sha, True, False)
    assert body["head_commit"]["id"] == sha  # type: ignore[index,call-overload]
    assert isinstance(body["repository"]["pushed_at"], int)  # type: ignore[index,call-overload]
