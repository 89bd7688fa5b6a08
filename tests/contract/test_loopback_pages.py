"""The pages: what a person reads before the review, and that the forms do what they say."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from adapters.loopback.drive.requests import EditPull, LineComment, NewComment, NewJob, NewReview, NewRun
from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo
from tests.support.loopback import SHOP, WORKFLOW, open_fix, open_shop, running_loopback

pytestmark = pytest.mark.slow
PAGE = f"/{SHOP}/pull/1"


@dataclass(frozen=True)
class Scene:
    info: LoopbackInfo
    drive: DriveClient
    browser: httpx.AsyncClient

    async def send(self, user: str, action: str, text: str = "") -> httpx.Response:
        """Press a button of the form."""
        return await self.browser.post(PAGE, data={"user": user, "action": action, "text": text})

    async def text(self) -> str:
        answer = await self.browser.get(PAGE)
        assert answer.status_code == 200
        return answer.text


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with running_loopback(tmp_path / "github") as (info, drive):
        await open_shop(drive)
        await open_fix(drive, user=info.bot_login)
        async with httpx.AsyncClient(base_url=info.page_url, trust_env=False) as browser:
            yield Scene(info, drive, browser)


async def test_the_page_shows_what_a_reviewer_needs(scene: Scene) -> None:
    await scene.drive.run(
        NewRun(
            repo=SHOP,
            pr=1,
            workflow_path=WORKFLOW,
            event="pull_request",
            conclusion="success",
            jobs=[NewJob(name="unit tests", conclusion="success")],
        )
    )
    lines = [LineComment(path="shop.py", line=1, body="why?")]
    await scene.drive.review(
        NewReview(repo=SHOP, pr=1, user="ada", state="CHANGES_REQUESTED", body="Not *yet*.", comments=lines)
    )
    await scene.drive.comment(NewComment(repo=SHOP, pr=1, user="rea", body="I agree."))
    text = await scene.text()
    for part in (
        "Fix the shop",
        ">Open<",
        "unit tests",
        "Change shop.py",
        "-import os",
        "+total = 0",
        "Not <em>yet</em>.",
        "requested changes",
        "shop.py:1",
        "I agree.",
        "ada (admin)",
    ):
        assert part in text, part


async def test_an_approval_by_form_is_a_review_and_a_merge_is_a_merge(scene: Scene) -> None:
    approved = await scene.send("ada", "approve")
    assert (approved.status_code, approved.headers["location"]) == (303, f"/web{PAGE}")
    assert (await scene.send("ada", "merge")).status_code == 303
    pull = (await scene.drive.world()).repos[0].pulls[0]
    assert [(one.user, one.state) for one in pull.reviews] == [("ada", "APPROVED")]
    assert (pull.merged, pull.merged_by) == (True, "ada")
    assert ">Merged<" in await scene.text()
    assert (await scene.drive.ledger()).calls == []


async def test_changes_requested_comment_close_and_reopen_by_form(scene: Scene) -> None:
    assert (await scene.send("ada", "request_changes", "Please add a test.")).status_code == 303
    assert (await scene.send("rea", "comment", "Me too.")).status_code == 303
    assert (await scene.send("ada", "close")).status_code == 303
    assert ">Closed<" in await scene.text()
    assert (await scene.send("ada", "reopen")).status_code == 303
    pull = (await scene.drive.world()).repos[0].pulls[0]
    assert (pull.state, pull.reviews[0].body, pull.comments[0].body) == ("open", "Please add a test.", "Me too.")


@pytest.mark.parametrize(
    ("user", "action", "status", "message"),
    [
        ("rea", "merge", 403, "rea has no write access"),
        ("rea", "close", 403, "rea has no write access"),
        ("nobody", "approve", 422, "Choose who you are"),
        ("ada", "request_changes", 422, "Body can&#39;t be blank"),
        ("ada", "comment", 422, "Validation Failed"),
        ("ada", "dance", 422, "not filled in"),
    ],
)
async def test_what_cannot_be_done_is_said_on_the_page(
    scene: Scene, user: str, action: str, status: int, message: str
) -> None:
    answer = await scene.send(user, action)
    assert answer.status_code == status
    assert message in answer.text


async def test_the_author_cannot_approve_by_form(scene: Scene) -> None:
    await scene.drive.edit_pull(EditPull(repo=SHOP, pr=1, user="ada", title="Mine"))
    answer = await scene.send(scene.info.bot_login, "approve", "fine by me")
    assert answer.status_code == 422
    assert "Can not approve your own pull request" in answer.text
    assert "fine by me" in answer.text


async def test_texts_of_others_cannot_harm_the_page(scene: Scene) -> None:
    body = (
        "<script>alert(1)</script>\n\n"
        "Hm <b>bold</b> <!-- marker --> [x](javascript:alert(1)) ![i](http://evil.example/i.png)\n\n"
        "<details open><summary>Log <img src=x onerror=alert(1)></summary>\n\n```\n</main>\n```\n\nnot closed\n"
    )
    title = "<b>bold</b>"
    await scene.drive.edit_pull(EditPull(repo=SHOP, pr=1, user="ada", title=title, body=body))
    answer = await scene.browser.get(PAGE)
    for evil in ("<script", "<img", 'href="javascript', "<!-- marker", "<b>"):
        assert evil not in answer.text, evil
    assert answer.text.count("</main>") == 1
    assert "<details open><summary>" in answer.text
    assert answer.text.count("<details") == answer.text.count("</details>")
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_a_table_in_a_body_is_a_table(scene: Scene) -> None:
    body = "| check | now |\n|---|---|\n| ruff | green |\n"
    await scene.drive.edit_pull(EditPull(repo=SHOP, pr=1, user="ada", body=body))
    assert "<td>green</td>" in await scene.text()


async def test_a_form_sent_from_another_site_does_nothing(scene: Scene) -> None:
    answer = await scene.browser.post(
        PAGE, data={"user": "ada", "action": "approve"}, headers={"Origin": "http://evil.example"}
    )
    assert answer.status_code == 403
    assert (await scene.drive.world()).repos[0].pulls[0].reviews == []


async def test_lists_lead_to_the_pages_and_a_run_has_one(scene: Scene) -> None:
    job = NewJob(name="unit tests", conclusion="failure", log="assert 1 == 2\n")
    made = await scene.drive.run(
        NewRun(repo=SHOP, branch="main", workflow_path=WORKFLOW, event="push", conclusion="failure", jobs=[job])
    )
    assert f"/web/{SHOP}" in (await scene.browser.get("")).text
    repository = (await scene.browser.get(f"/{SHOP}")).text
    assert f"/web{PAGE}" in repository
    assert f"/web/{SHOP}/actions/runs/{made.run_id}" in repository
    run = (await scene.browser.get(f"/{SHOP}/actions/runs/{made.run_id}")).text
    assert "assert 1 == 2" in run
    assert (await scene.browser.get(f"{PAGE}.diff")).text.startswith("diff --git a/shop.py b/shop.py")
    assert (await scene.browser.get(f"/{SHOP}/pull/99")).status_code == 404
