"""The admin face: only the operator, only from this machine, only from its own pages; then what it tells."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi.routing import APIRoute
from pydantic import SecretStr

from adapters.web.admin import Office, build_admin
from adapters.web.guard import COOKIE
from sweeper.model import Outcome, RunRef, SweepInput, Trigger, TriggerSource
from sweeper.ports import WorkerLife
from sweeper.reporting import HealthReport, list_report, show_report
from tests.support.stories import STORY, tell_story
from tests.support.sweeps import START, FakeSweeps

TOKEN = "the-admin-token"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
PATHS = ["/", "/sweeps/sweep-77-1", "/api/sweeps", "/api/sweeps/sweep-77-1", "/api/health", "/metrics"]


async def healthy() -> HealthReport:
    return HealthReport(temporal=True, worker=True, version="1.2.3", ready=True)


@pytest.fixture
async def sweeps() -> FakeSweeps:
    sweeps = FakeSweeps()
    run = RunRef(repository="octo/app", repository_id=4711, run_id=77)
    trigger = Trigger(source=TriggerSource.WORKFLOW_RUN, reason="<script>alert(1)</script>")
    await sweeps.start("sweep-77-1", SweepInput(run=run, trigger=trigger))
    await sweeps.start("sweep-78-1", SweepInput(run=run.model_copy(update={"run_id": 78}), trigger=trigger))
    sweeps.for_target("sweep-77-1", 4711, "<b>main</b>")
    sweeps.finish("sweep-78-1", Outcome.MERGED, "approved by ann")
    return sweeps


@pytest.fixture
def office(sweeps: FakeSweeps) -> Office:
    return Office(sweeps=sweeps, health=healthy, token=SecretStr(TOKEN))


@pytest.fixture
async def admin(office: Office) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=build_admin(office))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8471") as client:
        yield client


def test_exactly_the_documented_routes_are_there_and_all_only_read(office: Office) -> None:
    routes = [route for route in build_admin(office).routes if isinstance(route, APIRoute)]
    assert {route.path for route in routes} == {
        "/",
        "/sweeps/{workflow_id}",
        "/api/sweeps",
        "/api/sweeps/{workflow_id}",
        "/api/health",
        "/metrics",
    }
    assert {method for route in routes for method in route.methods or ()} == {"GET"}


@pytest.mark.parametrize("path", [*PATHS, "/unknown"])
@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Cookie": f"{COOKIE}={TOKEN}"},
        {"Cookie": f"{COOKIE}="},
    ],
)
async def test_without_the_token_nothing_is_told(admin: httpx.AsyncClient, path: str, sent: dict[str, str]) -> None:
    answer = await admin.get(path, headers=sent)
    assert answer.status_code == 401
    assert "admin-token" in answer.json()["error"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8471", "127.0.0.1.evil.example", "10.0.0.1:8471", "0.0.0.0", "", "[::1"]
)
async def test_a_foreign_host_name_is_403_even_with_the_token(admin: httpx.AsyncClient, path: str, host: str) -> None:
    assert (await admin.get(path, headers={**BEARER, "Host": host})).status_code == 403


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "http://127.0.0.1", "http://localhost:8471"]
)
async def test_a_foreign_origin_is_403_even_with_the_token(admin: httpx.AsyncClient, origin: str) -> None:
    assert (await admin.get("/api/sweeps", headers={**BEARER, "Origin": origin})).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8471", "localhost:8471", "[::1]:8471", "LOCALHOST"])
async def test_loopback_names_and_its_own_origin_are_welcome(admin: httpx.AsyncClient, host: str) -> None:
    own = {**BEARER, "Host": host, "Origin": f"http://{host}"}
    assert (await admin.get("/api/sweeps", headers=own)).status_code == 200


async def test_a_browser_logs_in_by_address_once(admin: httpx.AsyncClient) -> None:
    login = await admin.get("/", params={"token": TOKEN})
    assert (login.status_code, login.headers["Location"]) == (303, "/")
    cookie = login.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    page = await admin.get("/")
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(("path", "token"), [("/", "wrong"), ("/", ""), ("/", "\u00e4"), ("/api/sweeps", TOKEN)])
async def test_a_wrong_token_or_place_does_not_log_in(admin: httpx.AsyncClient, path: str, token: str) -> None:
    answer = await admin.get(path, params={"token": token})
    assert answer.status_code == 401
    assert "Set-Cookie" not in answer.headers


async def test_the_api_tells_what_the_commands_tell(admin: httpx.AsyncClient, sweeps: FakeSweeps) -> None:
    listed = await admin.get("/api/sweeps", headers=BEARER)
    shown = await admin.get("/api/sweeps/sweep-77-1", headers=BEARER)
    expected = list_report(await sweeps.list(), await sweeps.worker_life())
    assert listed.json() == expected.model_dump(mode="json")
    assert [sweep["id"] for sweep in listed.json()["sweeps"]] == ["sweep-78-1", "sweep-77-1"]
    assert shown.json() == show_report(await sweeps.show("sweep-77-1")).model_dump(mode="json")
    assert len((await admin.get("/api/sweeps?limit=1", headers=BEARER)).json()["sweeps"]) == 1


async def test_health_is_told(admin: httpx.AsyncClient) -> None:
    answer = await admin.get("/api/health", headers=BEARER)
    assert answer.json() == {"web": True, "temporal": True, "worker": True, "version": "1.2.3"}


@pytest.mark.parametrize("path", ["/api/sweeps/sweep-1-1", "/sweeps/sweep-1-1"])
async def test_an_unknown_sweep_is_404_with_a_sentence(admin: httpx.AsyncClient, path: str) -> None:
    answer = await admin.get(path, headers=BEARER)
    assert answer.status_code == 404
    assert "no sweep sweep-1-1" in answer.text


@pytest.mark.parametrize("path", ["/api/sweeps", "/metrics", "/", "/sweeps/sweep-77-1"])
async def test_without_temporal_it_is_503_with_a_sentence(
    admin: httpx.AsyncClient, sweeps: FakeSweeps, path: str
) -> None:
    sweeps.away = True
    answer = await admin.get(path, headers=BEARER)
    assert answer.status_code == 503
    assert "Temporal does not answer" in answer.text


async def test_metrics_count_by_step_and_outcome(admin: httpx.AsyncClient, sweeps: FakeSweeps) -> None:
    sweeps.worker = WorkerLife(alive=False, since=START)
    answer = await admin.get("/metrics", headers=BEARER)
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'sweeper_sweeps_open{step="admit"} 1' in lines
    assert 'sweeper_sweeps_ended{outcome="merged"} 1' in lines
    assert 'sweeper_sweeps_ended{outcome="closed"} 0' in lines
    assert "sweeper_worker_alive 0" in lines


async def test_pages_tell_the_story_and_run_nothing_of_strangers(admin: httpx.AsyncClient) -> None:
    front = await admin.get("/", headers=BEARER)
    story = await admin.get("/sweeps/sweep-77-1", headers=BEARER)
    assert "approved by ann" in front.text
    assert "&lt;b&gt;main&lt;/b&gt;" in front.text
    assert "Make run 77 green" in story.text
    for page in (front, story):
        assert "<script" not in page.text
        assert "<b>main" not in page.text
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        assert page.headers["Cache-Control"] == "no-store"


async def test_a_story_tells_cause_attempts_effects_and_proposal(admin: httpx.AsyncClient, sweeps: FakeSweeps) -> None:
    await tell_story(sweeps)
    page = (await admin.get(f"/sweeps/{STORY}", headers=BEARER)).text
    for told in (
        "E   assert 1 == 2",
        "not fixed",
        "checker config touched",
        "deduplicated",
        'href="https://github.com/octo/app/pull/7"',
        "by ann: still &lt;red&gt;",
    ):
        assert told in page


async def test_only_web_addresses_become_links(admin: httpx.AsyncClient, sweeps: FakeSweeps) -> None:
    await tell_story(sweeps)
    sweep = sweeps.sweeps[STORY]
    assert sweep.state.proposal
    proposal = sweep.state.proposal.model_copy(update={"url": "javascript:alert(1)"})
    sweep.state = sweep.state.model_copy(update={"proposal": proposal})
    for path in ("/", f"/sweeps/{STORY}"):
        page = (await admin.get(path, headers=BEARER)).text
        assert "#7" in page
        assert "javascript:" not in page


async def test_a_dead_worker_and_an_empty_list_are_said_plainly(admin: httpx.AsyncClient, sweeps: FakeSweeps) -> None:
    sweeps.sweeps.clear()
    sweeps.worker = WorkerLife(alive=False, since=START)
    page = (await admin.get("/", headers=BEARER)).text
    assert "No worker is alive since 2026-11-29 12:00:00 UTC" in page
    assert "None yet" in page
