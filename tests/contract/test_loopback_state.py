"""The loopback's memory: what was answered is still so after a stop, and after kill -9."""

import asyncio
import json
import signal
import socket
import sys
from pathlib import Path

import httpx
import pytest

from adapters.loopback.drive.requests import NewReview, NewRun, PullAct
from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo, LoopbackOptions
from adapters.loopback.server import serve
from sweeper.errors import BadInput, MissingTool
from tests.support.loopback import SHOP, WORKFLOW, open_fix, open_shop, push_fix, rest, running_loopback

pytestmark = pytest.mark.slow

_PROGRAM = """
import asyncio, sys
from pathlib import Path
from adapters.loopback.options import LoopbackOptions
from adapters.loopback.server import serve
asyncio.run(serve(LoopbackOptions(state_dir=Path(sys.argv[1])), lambda info: print(info.model_dump_json(), flush=True)))
"""


async def start_process(state: Path) -> tuple[asyncio.subprocess.Process, LoopbackInfo]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PROGRAM, str(state), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    line = await process.stdout.readline()
    return process, LoopbackInfo.model_validate_json(line)


async def build_up(drive: DriveClient) -> int:
    await open_shop(drive)
    number = await open_fix(drive, user="wim")
    await drive.review(NewReview(repo=SHOP, pr=number, user="ada", state="APPROVED"))
    await drive.run(NewRun(repo=SHOP, pr=number, workflow_path=WORKFLOW, event="pull_request", conclusion="success"))
    return number


async def test_everything_is_there_again_after_a_restart(tmp_path: Path) -> None:
    state = tmp_path / "github"
    async with running_loopback(state) as (info, drive):
        number = await build_up(drive)
        async with rest(info) as api:
            await api.post(f"/repos/{SHOP}/issues/{number}/comments", json={"body": "seen"})
        await drive.advance(3600)
        world, ledger, clock = await drive.world(), await drive.ledger(), await drive.advance(1)
    async with running_loopback(state) as (again, drive):
        assert (again.token, again.app_id, again.installation_id) == (info.token, info.app_id, info.installation_id)
        assert again.webhook_secret == info.webhook_secret
        assert await drive.world() == world
        assert await drive.ledger() == ledger
        assert (await drive.advance(1)).now >= clock.now
        async with rest(again) as api:
            assert (await api.put(f"/repos/{SHOP}/pulls/{number}/merge", json={})).status_code == 200
            await api.get("/rate_limit")
        assert [call.n for call in (await drive.ledger()).calls] == [1, 2, 3]


async def test_what_was_answered_survives_kill_9(tmp_path: Path) -> None:
    state = tmp_path / "github"
    process, info = await start_process(state)
    async with DriveClient(info.drive_url) as drive:
        number = await build_up(drive)
        await drive.merge_pull(PullAct(repo=SHOP, pr=number, user="ada"))
        world = await drive.world()
    process.send_signal(signal.SIGKILL)
    await process.wait()
    with (state / "ledger.jsonl").open("a") as ledger:
        ledger.write('{"n": 9, "cut short')
    for starts in (1, 2):
        async with running_loopback(state) as (again, drive):
            assert await drive.world() == world
            async with rest(again) as api:
                await api.get(f"/repos/{SHOP}")
            assert len((await drive.ledger()).calls) == starts


async def test_a_branch_pushed_just_before_a_kill_is_seen_by_its_pull_request(tmp_path: Path) -> None:
    state = tmp_path / "github"
    async with running_loopback(state) as (_, drive):
        await open_shop(drive)
        await open_fix(drive)
        document = (state / "state.json").read_bytes()
        sha = await push_fix(drive, content="total = 9\n")
    (state / "state.json").write_bytes(document)
    async with running_loopback(state) as (_, drive):
        pull = (await drive.world()).repos[0].pulls[0]
    assert pull.head_sha == sha


async def test_a_merge_decided_just_before_a_kill_is_done_at_the_next_start(tmp_path: Path) -> None:
    state = tmp_path / "github"
    async with running_loopback(state) as (_, drive):
        shop = await open_shop(drive)
        number = await open_fix(drive)
        merged = await drive.merge_pull(PullAct(repo=SHOP, pr=number, user="ada"))
    document = json.loads((state / "state.json").read_text())
    update = {"repo_id": shop.id, "ref": "refs/heads/main", "old": shop.head, "new": merged}
    document["pending_refs"] = [update]
    (state / "state.json").write_text(json.dumps(document))
    (state / "git" / f"{shop.id}.git" / "refs" / "heads" / "main").write_text(shop.head + "\n")
    async with running_loopback(state) as (_, drive):
        repo = (await drive.world()).repos[0]
    assert (repo.branches["main"], repo.pulls[0].merged) == (merged, True)


async def test_run_ids_start_at_the_time_of_the_first_start(tmp_path: Path) -> None:
    async with running_loopback(tmp_path / "github") as (_, drive):
        await open_shop(drive)
        new = NewRun(repo=SHOP, branch="main", workflow_path=WORKFLOW, event="push", conclusion="success")
        first, second = await drive.run(new), await drive.run(new)
    started = (tmp_path / "github" / "app.pem").stat().st_mtime * 1000
    assert abs(first.run_id - started) < 60_000
    assert second.run_id == first.run_id + 1


async def test_loopback_json_says_where_it_listens(tmp_path: Path) -> None:
    async with running_loopback(tmp_path / "github") as (info, _):
        told = json.loads((tmp_path / "github" / "loopback.json").read_text())
    assert told == info.model_dump()
    assert set(told) == {
        "url",
        "git_url",
        "drive_url",
        "page_url",
        "token",
        "app_id",
        "app_key_file",
        "installation_id",
        "bot_login",
        "webhook_secret",
    }
    assert told["drive_url"].endswith("/_drive")


async def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"Port {port} cannot be taken"):
            await serve(LoopbackOptions(state_dir=tmp_path / "github", port=port))
    assert not (tmp_path / "github").exists()


@pytest.mark.parametrize("hook", ["somewhere", "ftp://127.0.0.1/hook", "http://"])
async def test_a_hook_that_is_no_web_address_is_refused(tmp_path: Path, hook: str) -> None:
    with pytest.raises(BadInput, match="no web address"):
        await serve(LoopbackOptions(state_dir=tmp_path / "github", hook=hook))
    assert not (tmp_path / "github").exists()


@pytest.mark.parametrize(("program", "said"), [(None, "install git"), ("echo git version 2.30.1", "2.30.1")])
async def test_a_machine_without_a_git_that_can_merge_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None, said: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if program:
        (tmp_path / "git").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "git").chmod(0o755)
    with pytest.raises(MissingTool, match=said):
        await serve(LoopbackOptions(state_dir=tmp_path / "github"))
    assert not (tmp_path / "github").exists()


async def test_a_directory_in_use_or_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "github"
    async with running_loopback(state):
        with pytest.raises(BadInput, match="Another loopback"):
            await serve(LoopbackOptions(state_dir=state))
    (state / "state.json").write_text("something else")
    with pytest.raises(BadInput, match="not a loopback state document"):
        await serve(LoopbackOptions(state_dir=state))
    assert (state / "state.json").read_text() == "something else"


async def test_a_directory_of_somebody_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"holds 'notes.txt'.*empty --state directory"):
        await serve(LoopbackOptions(state_dir=tmp_path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


async def test_calls_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    async with running_loopback(tmp_path / "github") as (info, drive):
        await open_shop(drive)
        number = await open_fix(drive)
        async with rest(info) as api:

            async def comment(at: int) -> httpx.Response:
                return await api.post(f"/repos/{SHOP}/issues/{number}/comments", json={"body": f"comment {at}"})

            answers = await asyncio.gather(*(comment(at) for at in range(20)))
        assert {answer.status_code for answer in answers} == {201}
        ids = [one.id for one in (await drive.world()).repos[0].pulls[0].comments]
        assert len(set(ids)) == 20
        assert (await drive.ledger()).effects == {"comment.create": 20}
