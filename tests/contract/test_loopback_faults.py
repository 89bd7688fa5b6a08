"""Faults: an answer may be held, lost, cut or false, before or after the effect; the ledger tells the truth."""

import asyncio
import base64
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from adapters.loopback.drive.answers import LedgerView
from adapters.loopback.drive.requests import FaultRule
from adapters.loopback.drive_client import DriveClient, DriveRefused
from adapters.loopback.options import LoopbackInfo
from tests.support.loopback import SHOP, open_shop, push_fix, rest, running_loopback

pytestmark = pytest.mark.slow
PULLS = f"/repos/{SHOP}/pulls"
BODY = {"title": "Fix", "head": "fix", "base": "main"}


@dataclass(frozen=True)
class Scene:
    info: LoopbackInfo
    drive: DriveClient
    api: httpx.AsyncClient
    work: Path

    async def until(self, holds: Callable[[LedgerView], bool]) -> LedgerView:
        """Wait until the ledger says so."""
        while not holds(view := await self.drive.ledger()):
            await asyncio.sleep(0.02)
        return view

    def push(self, branch: str) -> subprocess.CompletedProcess[str]:
        """A new branch by git, from a clone of its own."""
        login = base64.b64encode(f"x-access-token:{self.info.token}".encode()).decode()
        env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
        remote = f"{self.info.git_url}/{SHOP}.git"
        header = f"http.extraheader=Authorization: Basic {login}"
        git = f'git -c "{header}"'
        command = f"{git} clone -q {remote} {branch} && cd {branch} && {git} push origin HEAD:refs/heads/{branch}"
        return subprocess.run(command, shell=True, cwd=self.work, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    (tmp_path / "work").mkdir()
    async with running_loopback(tmp_path / "github") as (info, drive):
        await open_shop(drive)
        await push_fix(drive)
        async with rest(info) as api:
            yield Scene(info, drive, api, tmp_path / "work")


def rule(kind: str, when: str, **more: object) -> FaultRule:
    return FaultRule.model_validate({"method": "POST", "path": r"/pulls$", "kind": kind, "when": when} | more)


async def open_pulls(scene: Scene) -> int:
    return len((await scene.drive.world()).repos[0].pulls)


async def test_an_answer_held_after_its_effect_leaves_the_effect_in_the_ledger(scene: Scene) -> None:
    await scene.drive.faults(rule("hold", "after"))
    waiting = asyncio.create_task(scene.api.post(PULLS, json=BODY))
    view = await scene.until(lambda view: view.effects == {"pull.create": 1})
    assert view.calls[-1].fault == "hold"
    assert not waiting.done()
    assert await open_pulls(scene) == 1
    await scene.drive.faults()
    assert (await waiting).status_code == 201


async def test_a_client_killed_while_its_answer_is_held_changes_nothing(scene: Scene) -> None:
    await scene.drive.faults(rule("hold", "after"))
    waiting = asyncio.create_task(scene.api.post(PULLS, json=BODY))
    await scene.until(lambda view: view.effects == {"pull.create": 1})
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await scene.drive.faults()
    again = await scene.api.post(PULLS, json=BODY)
    assert again.status_code == 422
    assert (await scene.drive.ledger()).effects == {"pull.create": 1}


async def test_a_call_held_before_its_effect_has_none_until_it_is_let_go(scene: Scene) -> None:
    await scene.drive.faults(rule("hold", "before"))
    waiting = asyncio.create_task(scene.api.post(PULLS, json=BODY))
    view = await scene.until(lambda view: bool(view.calls))
    assert (view.calls[-1].fault, view.calls[-1].status, view.effects) == ("hold", 0, {})
    assert await open_pulls(scene) == 0
    await scene.drive.faults()
    assert (await waiting).status_code == 201
    assert (await scene.drive.ledger()).effects == {"pull.create": 1}


@pytest.mark.parametrize(
    ("kind", "status", "message"),
    [
        ("500", 500, "Server Error"),
        ("502", 502, "502 Bad Gateway"),
        ("503", 503, "Service unavailable"),
        ("405", 405, "not mergeable"),
        ("422", 422, "Validation Failed"),
        ("429", 429, "secondary rate limit"),
        ("403_secondary", 403, "secondary rate limit"),
        ("403_resource", 403, "Resource not accessible by integration"),
    ],
)
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_false_answer_comes_before_or_after_the_effect(
    scene: Scene, kind: str, status: int, message: str, when: str
) -> None:
    await scene.drive.faults(rule(kind, when, retry_after=7))
    answer = await scene.api.post(PULLS, json=BODY)
    assert answer.status_code == status
    assert message in answer.text
    assert answer.headers.get("retry-after") == (None if kind == "502" else "7")
    ledger = await scene.drive.ledger()
    assert (ledger.calls[-1].status, ledger.calls[-1].fault) == (status, kind)
    happened = 1 if when == "after" else 0
    assert ledger.effects.get("pull.create", 0) == await open_pulls(scene) == happened


async def test_a_reset_connection_after_the_effect(scene: Scene) -> None:
    await scene.drive.faults(rule("reset", "after"))
    with pytest.raises(httpx.TransportError):
        await scene.api.post(PULLS, json=BODY)
    ledger = await scene.drive.ledger()
    assert (ledger.calls[-1].status, ledger.effects) == (0, {"pull.create": 1})


async def test_a_body_cut_short_after_the_effect(scene: Scene) -> None:
    await scene.drive.faults(rule("truncate", "after"))
    with pytest.raises(httpx.TransportError):
        await scene.api.post(PULLS, json=BODY)
    assert (await scene.drive.ledger()).effects == {"pull.create": 1}


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_slow_answer_comes_in_the_end(scene: Scene, when: str) -> None:
    await scene.drive.faults(rule("slow", when, seconds=0.1))
    assert (await scene.api.post(PULLS, json=BODY)).status_code == 201
    assert (await scene.drive.ledger()).calls[-1].fault == "slow"


async def test_a_rule_hits_the_nth_call_and_so_many_times(scene: Scene) -> None:
    await scene.drive.faults(FaultRule(method="GET", path=r"/branches/main$", kind="503", nth=2, times=2))
    statuses = [(await scene.api.get(f"/repos/{SHOP}/branches/main")).status_code for _ in range(5)]
    assert statuses == [200, 503, 503, 200, 200]


async def test_chance_is_the_same_for_the_same_seed(scene: Scene) -> None:
    async def spoilt() -> list[int]:
        await scene.drive.faults(
            FaultRule(method="GET", path="/branches/", kind="503", probability=0.5, seed=4, times=100)
        )
        return [(await scene.api.get(f"/repos/{SHOP}/branches/main")).status_code for _ in range(20)]

    first = await spoilt()
    assert set(first) == {200, 503}
    assert await spoilt() == first


async def test_a_pattern_that_is_none_is_refused(scene: Scene) -> None:
    with pytest.raises(DriveRefused, match="no regular expression"):
        await scene.drive.faults(FaultRule(path="(", kind="500"))


GIT_KINDS = ["500", "502", "503", "405", "422", "429", "403_secondary", "403_resource", "reset", "truncate"]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_push_that_fails_has_moved_the_branch_or_not_as_the_rule_says(scene: Scene, when: str) -> None:
    for number, kind in enumerate(GIT_KINDS):
        branch = f"pushed-{number}"
        # git sends the request again by itself when an old connection is cut.
        await scene.drive.faults(push_rule(kind, when, times=9))
        assert (await asyncio.to_thread(scene.push, branch)).returncode != 0, kind
        moved = branch in (await scene.drive.world()).repos[0].branches
        assert moved == (when == "after"), kind
        effects = [call for call in (await scene.drive.ledger()).calls if call.key and branch in call.key]
        assert len(effects) == (1 if moved else 0), kind


def push_rule(kind: str, when: str, **more: object) -> FaultRule:
    rule = {"method": "POST", "path": "git-receive-pack", "kind": kind, "when": when, "seconds": 0.1}
    return FaultRule.model_validate(rule | more)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["slow", "stale_read"])
async def test_a_push_that_is_only_late_succeeds(scene: Scene, kind: str, when: str) -> None:
    await scene.drive.faults(push_rule(kind, when))
    assert (await asyncio.to_thread(scene.push, "late")).returncode == 0
    ledger = await scene.drive.ledger()
    assert ledger.effects == {"branch.push": 1}
    assert [call.fault for call in ledger.calls if call.effect == "branch.push"] == [kind]


@pytest.mark.parametrize(("when", "moved"), [("before", False), ("after", True)])
async def test_a_push_can_be_held_before_and_after_its_effect(scene: Scene, when: str, moved: bool) -> None:
    await scene.drive.faults(push_rule("hold", when))
    waiting = asyncio.create_task(asyncio.to_thread(scene.push, "held"))
    await scene.until(lambda view: any(call.fault == "hold" for call in view.calls))
    assert ("held" in (await scene.drive.world()).repos[0].branches) == moved
    await scene.drive.faults()
    assert (await waiting).returncode == 0
    assert (await scene.drive.ledger()).effects == {"branch.push": 1}


async def test_a_read_by_git_can_fail_as_well(scene: Scene) -> None:
    await scene.drive.faults(FaultRule.model_validate({"method": "GET", "path": r"\.git/info/refs", "kind": "503"}))
    assert "503" in (await asyncio.to_thread(scene.push, "unseen")).stderr
    assert (await scene.drive.ledger()).effects == {}


@pytest.mark.parametrize("kind", ["reset", "truncate"])
async def test_a_connection_that_breaks_before_the_effect(scene: Scene, kind: str) -> None:
    await scene.drive.faults(rule(kind, "before"))
    with pytest.raises(httpx.TransportError):
        await scene.api.post(PULLS, json=BODY)
    ledger = await scene.drive.ledger()
    assert (ledger.calls[-1].fault, ledger.effects, await open_pulls(scene)) == (kind, {}, 0)
