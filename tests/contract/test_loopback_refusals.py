"""The loopback refuses what GitHub refuses, with GitHub's status and words."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx
import pytest

from adapters.loopback.core.state import Permission
from adapters.loopback.drive.requests import EditPull, NewJob, NewPush, NewRun, NewUser, PullAct
from adapters.loopback.drive_client import DriveClient, DriveRefused
from adapters.loopback.options import LoopbackInfo
from tests.support.loopback import SHOP, WORKFLOW, open_fix, open_shop, push_fix, rest, running_loopback

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Scene:
    info: LoopbackInfo
    drive: DriveClient
    api: httpx.AsyncClient


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with running_loopback(tmp_path / "github") as (info, drive):
        await open_shop(drive)
        async with rest(info) as api:
            yield Scene(info, drive, api)


def repo(path: str = "") -> str:
    return f"/repos/{SHOP}{path}"


async def test_a_second_open_pull_request_for_a_head_is_refused(scene: Scene) -> None:
    await push_fix(scene.drive)
    body = {"title": "One", "head": "fix", "base": "main"}
    assert (await scene.api.post(repo("/pulls"), json=body)).status_code == 201
    second = await scene.api.post(repo("/pulls"), json=body)
    assert second.status_code == 422
    assert second.json()["errors"][0]["message"] == "A pull request already exists for octo:fix."


@pytest.mark.parametrize(
    ("head", "base", "error"),
    [
        ("same", "main", {"message": "No commits between main and same"}),
        ("nowhere", "main", {"field": "head", "code": "invalid"}),
        ("stranger:fix", "main", {"field": "head", "code": "invalid"}),
        ("fix", "nowhere", {"field": "base", "code": "invalid"}),
    ],
)
async def test_a_pull_request_needs_two_branches_that_differ(
    scene: Scene, head: str, base: str, error: dict[str, str]
) -> None:
    await push_fix(scene.drive)
    await scene.drive.push(NewPush(repo=SHOP, branch="same", files={}, user="wim"))
    answer = await scene.api.post(repo("/pulls"), json={"title": "One", "head": head, "base": base})
    assert answer.status_code == 422
    assert error.items() <= answer.json()["errors"][0].items()


async def test_a_merge_of_another_head_than_meant_is_refused(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    answer = await scene.api.put(repo(f"/pulls/{number}/merge"), json={"sha": "0" * 40})
    assert answer.status_code == 409
    assert answer.json()["message"] == "Head branch was modified. Review and try the merge again."


async def make_draft(scene: Scene, number: int) -> None:
    await scene.drive.edit_pull(EditPull(repo=SHOP, pr=number, user="wim", draft=True))


async def make_closed(scene: Scene, number: int) -> None:
    await scene.drive.close_pull(PullAct(repo=SHOP, pr=number, user="wim"))


async def make_merged(scene: Scene, number: int) -> None:
    await scene.drive.merge_pull(PullAct(repo=SHOP, pr=number, user="wim"))


async def make_conflict(scene: Scene, number: int) -> None:
    await push_fix(scene.drive, "main", "something else\n")


@pytest.mark.parametrize("happens", [make_draft, make_closed, make_merged, make_conflict])
async def test_what_cannot_be_merged_is_refused(scene: Scene, happens: Callable[[Scene, int], Awaitable[None]]) -> None:
    number = await open_fix(scene.drive)
    await happens(scene, number)
    answer = await scene.api.put(repo(f"/pulls/{number}/merge"), json={})
    assert answer.status_code == 405
    assert (await scene.drive.ledger()).effects == {}


@pytest.mark.parametrize(("event", "word"), [("APPROVE", "approve"), ("REQUEST_CHANGES", "request changes on")])
async def test_an_author_has_no_word_on_his_own_pull_request(scene: Scene, event: str, word: str) -> None:
    number = await open_fix(scene.drive, user=scene.info.bot_login)
    answer = await scene.api.post(repo(f"/pulls/{number}/reviews"), json={"event": event, "body": "fine"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [f"Can not {word} your own pull request"]


@pytest.mark.parametrize("token", ["nothing", "ghs_nobody", "a.b.c"])
async def test_a_bad_token_is_refused(scene: Scene, token: str) -> None:
    for path in ("/user", repo(), repo("/pulls")):
        assert (await scene.api.get(path, headers={"Authorization": f"Bearer {token}"})).status_code == 401


async def test_a_reader_may_look_and_not_write(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    reader = await scene.drive.user(NewUser(login="rea", permission=Permission.READ))
    async with rest(scene.info, reader.token) as api:
        assert (await api.get(repo(f"/pulls/{number}"))).status_code == 200
        assert (await api.put(repo(f"/pulls/{number}/merge"), json={})).status_code == 403
        assert (await api.post(repo("/pulls"), json={"title": "x", "head": "fix", "base": "main"})).status_code == 403


async def test_a_stranger_does_not_see_the_repository(scene: Scene) -> None:
    stranger = await scene.drive.user(NewUser(login="eve", permission=Permission.NONE))
    async with rest(scene.info, stranger.token) as api:
        assert (await api.get(repo())).status_code == 404


async def test_deleting_a_ref_that_is_gone_is_422(scene: Scene) -> None:
    await push_fix(scene.drive)
    assert (await scene.api.delete(repo("/git/refs/heads/fix"))).status_code == 204
    again = await scene.api.delete(repo("/git/refs/heads/fix"))
    assert (again.status_code, again.json()["message"]) == (422, "Reference does not exist")


async def test_only_a_failed_run_that_ended_can_be_run_again(scene: Scene) -> None:
    def run(conclusion: Literal["failure", "success"] | None) -> NewRun:
        jobs = [NewJob(name="test", conclusion=conclusion)]
        return NewRun(repo=SHOP, branch="main", workflow_path=WORKFLOW, event="push", conclusion=conclusion, jobs=jobs)

    answers = []
    for conclusion in ("failure", "success", None):
        made = await scene.drive.run(run(conclusion))
        again = await scene.api.post(repo(f"/actions/runs/{made.run_id}/rerun-failed-jobs"))
        answers.append(again.status_code)
    assert answers == [201, 403, 403]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/pulls/99", 404),
        ("GET", "/actions/runs/99", 404),
        ("GET", "/branches/nowhere", 404),
        ("GET", "/git/ref/heads/nowhere", 404),
        ("GET", "/contents/nowhere.py", 404),
        ("GET", "/commits/nowhere", 422),
        ("GET", "/collaborators/nobody/permission", 404),
        ("GET", "/pulls/no-number", 404),
        ("PATCH", "/issues/comments/99", 404),
        ("DELETE", "/issues/comments/99", 404),
        ("PATCH", "/check-runs/99", 404),
    ],
)
async def test_what_is_not_there_is_not_found(scene: Scene, method: str, path: str, status: int) -> None:
    body = {"body": "x"} if method == "PATCH" else None
    assert (await scene.api.request(method, repo(path), json=body)).status_code == status


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/pulls", {"title": "no head"}),
        ("POST", "/check-runs", {"name": "no sha"}),
        ("POST", "/check-runs", {"name": "x", "head_sha": "0" * 40}),
        ("POST", "/statuses/" + "0" * 40, {"state": "success"}),
        ("POST", "/dispatches", {"event_type": "x" * 101}),
        ("POST", "/dispatches", {"event_type": "x", "client_payload": {str(at): at for at in range(11)}}),
    ],
)
async def test_a_body_github_would_not_take_is_422(
    scene: Scene, method: str, path: str, body: dict[str, object]
) -> None:
    answer = await scene.api.request(method, repo(path), json=body)
    assert answer.status_code == 422
    assert answer.json()["message"]


async def test_a_body_that_is_no_json_is_400(scene: Scene) -> None:
    answer = await scene.api.post(repo("/pulls"), content=b"{")
    assert (answer.status_code, answer.json()["message"]) == (400, "Problems parsing JSON")


async def test_an_unknown_call_is_404_and_reported(scene: Scene) -> None:
    assert (await scene.api.get(repo("/milestones"))).status_code == 404
    assert (await scene.api.delete(repo("/pulls"))).status_code == 404
    assert (await scene.drive.ledger()).unknown == [f"GET {repo('/milestones')}", f"DELETE {repo('/pulls')}"]


async def test_the_drive_api_refuses_a_field_it_does_not_know(scene: Scene) -> None:
    async with httpx.AsyncClient(base_url=scene.info.drive_url) as drive:
        answer = await drive.post("/comments", json={"repo": SHOP, "pr": 1, "user": "ada", "body": "x", "bdoy": "y"})
    assert answer.status_code == 422
    assert "bdoy" in answer.json()["error"]


async def test_a_refused_call_leaves_no_trace(scene: Scene) -> None:
    number = await open_fix(scene.drive, user="ada")
    before = await scene.drive.world()
    half_right = EditPull(repo=SHOP, pr=number, user="ada", title="Better", base="nowhere")
    with pytest.raises(DriveRefused, match="base"):
        await scene.drive.edit_pull(half_right)
    answer = await scene.api.patch(repo(f"/pulls/{number}"), json={"title": "Better", "base": "nowhere"})
    assert answer.status_code == 422
    assert await scene.drive.world() == before
    assert (await scene.drive.ledger()).effects == {}


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", ""])
async def test_a_host_that_is_not_loopback_is_refused(scene: Scene, host: str) -> None:
    assert (await scene.api.get("/rate_limit", headers={"Host": host})).status_code in (400, 403)


async def test_a_form_of_another_site_is_refused(scene: Scene) -> None:
    answer = await scene.api.post("/_drive/clock", json={"advance_s": 5}, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403
