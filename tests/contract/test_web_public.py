"""The public face over HTTP: sizes, signatures and shapes in that order, then what intake says."""

import asyncio
import dataclasses
import logging
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from fastapi.routing import APIRoute
from pydantic import SecretStr

from adapters.web.listener import Listener, bind_tcp
from adapters.web.public import MAX_BODY_BYTES, Gate, build_public
from sweeper.errors import OutOfReach, RateLimited
from sweeper.intake import Desk
from sweeper.model import SweepSettings
from sweeper.reporting import HealthReport
from tests.support.code_host import FakeCodeHost
from tests.support.payloads import Body, dispatch_body, encode, headers, pull_body, run_body, sign
from tests.support.sweeps import START, FakeSweeps

SECRET, OLD_SECRET = "current-secret", "secret-before"


class Probe:
    """Health as the test sets it."""

    def __init__(self) -> None:
        self.report = HealthReport(temporal=True, worker=True, version="1.2.3", ready=True)
        self.error: Exception | None = None

    async def __call__(self) -> HealthReport:
        if self.error:
            raise self.error
        return self.report


@pytest.fixture
def sweeps() -> FakeSweeps:
    return FakeSweeps()


@pytest.fixture
def github() -> FakeCodeHost:
    return FakeCodeHost()


@pytest.fixture
def probe() -> Probe:
    return Probe()


@pytest.fixture
def gate(sweeps: FakeSweeps, github: FakeCodeHost, probe: Probe) -> Gate:
    desk = Desk(sweeps=sweeps, code_host=github, settings=SweepSettings(), api_url="https://api.github.com")
    return Gate(
        desk=desk,
        secrets=[SecretStr(SECRET), SecretStr(OLD_SECRET)],
        health=probe,
        patience=30,
        reading_patience=30,
    )


def client_of(gate: Gate) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=build_public(gate)), base_url="http://sweeper")


@pytest.fixture
async def web(gate: Gate) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(gate) as client:
        yield client


@pytest.fixture
async def impatient_web(gate: Gate) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(dataclasses.replace(gate, patience=0.05, reading_patience=0.05)) as client:
        yield client


async def deliver(
    web: httpx.AsyncClient, event: str, body: Body | bytes, *, secret: str = SECRET, delivery: str = "guid-1"
) -> httpx.Response:
    content = body if isinstance(body, bytes) else encode(body)
    signed = {**headers(event, delivery), "X-Hub-Signature-256": sign(content, secret)}
    return await web.post("/webhooks/github", content=content, headers=signed)


def test_exactly_the_documented_routes_are_public(gate: Gate) -> None:
    routes = build_public(gate).routes
    assert all(isinstance(route, APIRoute) for route in routes)
    assert {
        (route.path, *sorted(route.methods)) for route in routes if isinstance(route, APIRoute) and route.methods
    } == {
        ("/webhooks/github", "POST"),
        ("/healthz", "GET"),
    }


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/api/sweeps", "/metrics", "/webhooks/github/"])
async def test_anything_else_is_unknown(web: httpx.AsyncClient, path: str) -> None:
    assert (await web.get(path)).status_code == 404


async def test_a_failing_run_is_202_started_and_the_same_delivery_200_duplicate(
    web: httpx.AsyncClient, sweeps: FakeSweeps
) -> None:
    first = await deliver(web, "workflow_run", run_body())
    again = await deliver(web, "workflow_run", run_body())
    assert (first.status_code, first.json()["result"], first.json()["workflow_id"]) == (202, "started", "sweep-77-1")
    assert (again.status_code, again.json()["result"], again.json()["workflow_id"]) == (200, "duplicate", "sweep-77-1")
    assert set(first.json()) == {"result", "reason", "workflow_id"}
    sweeps.finish("sweep-77-1")
    assert (await deliver(web, "workflow_run", run_body())).json()["result"] == "duplicate"
    assert len(sweeps.sweeps) == 1


async def test_the_same_delivery_many_times_at_once_starts_once(web: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(deliver(web, "workflow_run", run_body()) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [200] * 9 + [202]


async def test_a_review_of_a_proposal_is_202_delivered(web: httpx.AsyncClient, sweeps: FakeSweeps) -> None:
    await deliver(web, "workflow_run", run_body())
    answer = await deliver(web, "pull_request_review", pull_body("submitted", "sweeper/77-1"))
    assert (answer.status_code, answer.json()["result"]) == (202, "delivered")
    assert sweeps.rings("sweep-77-1") == 1


async def test_a_dispatch_for_a_running_sweep_is_202_joined(web: httpx.AsyncClient, github: FakeCodeHost) -> None:
    run = github.add_run()
    ask = dispatch_body({"run_id": run.run_id})
    first, second = [await deliver(web, "repository_dispatch", ask, delivery=guid) for guid in ("g1", "g2")]
    assert (first.status_code, first.json()["result"]) == (202, "started")
    assert (second.status_code, second.json()["result"]) == (202, "joined")


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("ping", {"zen": "x"}),
        ("sponsorship", {}),
        ("workflow_run", run_body("success")),
        ("workflow_run", run_body(branch="gh-readonly-queue/main/pr-7-abc")),
        ("repository_dispatch", dispatch_body({"run_id": 1})),
    ],
)
async def test_what_starts_nothing_is_200_ignored_with_a_reason(web: httpx.AsyncClient, event: str, body: Body) -> None:
    answer = await deliver(web, event, body)
    assert (answer.status_code, answer.json()["result"]) == (200, "ignored")
    assert answer.json()["reason"]
    assert answer.json()["workflow_id"] is None


@pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
async def test_every_secret_in_rotation_is_accepted(web: httpx.AsyncClient, secret: str) -> None:
    assert (await deliver(web, "ping", {}, secret=secret)).status_code == 200


async def test_a_wrong_or_missing_signature_is_401_and_starts_nothing(
    web: httpx.AsyncClient, sweeps: FakeSweeps
) -> None:
    assert (await deliver(web, "workflow_run", run_body(), secret="other")).status_code == 401
    unsigned = await web.post("/webhooks/github", content=encode(run_body()), headers=headers("workflow_run"))
    assert unsigned.status_code == 401
    assert "secret" in unsigned.json()["error"]
    assert not sweeps.sweeps


async def test_the_signature_is_checked_before_anything_is_parsed(web: httpx.AsyncClient) -> None:
    assert (await deliver(web, "workflow_run", b"{", secret="other")).status_code == 401
    assert (await deliver(web, "workflow_run", b"{")).status_code == 400


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("ping", b""),
        ("ping", b"[]"),
        ("workflow_run", {"action": "completed"}),
        ("repository_dispatch", dispatch_body({"run_id": "77"})),
        ("repository_dispatch", dispatch_body({"run_id": 77, **{f"k{n}": n for n in range(10)}})),
    ],
)
async def test_what_cannot_be_used_is_400_with_a_sentence(
    web: httpx.AsyncClient, sweeps: FakeSweeps, event: str, body: Body | bytes
) -> None:
    answer = await deliver(web, event, body)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")
    assert not sweeps.sweeps


async def test_a_body_announced_much_too_large_is_413_unread(web: httpx.AsyncClient) -> None:
    chunks_read = 0

    async def counted() -> AsyncIterator[bytes]:
        nonlocal chunks_read
        chunks_read += 1
        yield b"x"

    announced = {**headers("ping"), "Content-Length": str(2 * MAX_BODY_BYTES + 1)}
    assert (await web.post("/webhooks/github", content=counted(), headers=announced)).status_code == 413
    assert chunks_read == 0


async def test_a_body_that_grows_too_large_is_413(web: httpx.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * (1 << 20)

    answer = await web.post("/webhooks/github", content=endless(), headers=headers("ping"))
    assert answer.status_code == 413


async def test_a_body_of_exactly_the_limit_is_read(web: httpx.AsyncClient) -> None:
    body = b'{"zen": "' + b"x" * (MAX_BODY_BYTES - 11) + b'"}'
    assert len(body) == MAX_BODY_BYTES
    assert (await deliver(web, "ping", body)).status_code == 200


async def test_a_body_that_does_not_come_is_408(impatient_web: httpx.AsyncClient) -> None:
    async def stalls() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    answer = await impatient_web.post("/webhooks/github", content=stalls(), headers=headers("ping"))
    assert answer.status_code == 408


async def test_without_temporal_it_is_503_with_retry_after_and_nothing_is_lost(
    web: httpx.AsyncClient, sweeps: FakeSweeps
) -> None:
    sweeps.away = True
    answer = await deliver(web, "workflow_run", run_body())
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert "Temporal" in answer.json()["error"]
    sweeps.away = False
    assert (await deliver(web, "workflow_run", run_body())).json()["result"] == "started"


def test_reading_and_acting_together_stay_below_the_ten_seconds_github_waits(gate: Gate) -> None:
    product = Gate(desk=gate.desk, secrets=gate.secrets, health=gate.health)
    assert product.reading_patience + product.patience < 10


async def test_a_slow_temporal_is_503_in_bounded_time(impatient_web: httpx.AsyncClient, sweeps: FakeSweeps) -> None:
    sweeps.held = asyncio.Event()
    answer = await deliver(impatient_web, "workflow_run", run_body())
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")


async def test_a_github_that_asks_us_to_wait_is_503(web: httpx.AsyncClient, github: FakeCodeHost) -> None:
    run = github.add_run()
    github.fail_next("find_run", RateLimited("GitHub asks us to wait.", START))
    answer = await deliver(web, "repository_dispatch", dispatch_body({"run_id": run.run_id}))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")


async def test_health_is_200_when_ready_and_503_before(web: httpx.AsyncClient, probe: Probe) -> None:
    ready = await web.get("/healthz")
    assert ready.status_code == 200
    assert ready.json() == {"web": True, "temporal": True, "worker": True, "version": "1.2.3"}
    probe.report = probe.report.model_copy(update={"worker": False, "ready": False})
    assert (await web.get("/healthz")).status_code == 503
    probe.error = OutOfReach("Temporal does not answer.")
    away = await web.get("/healthz")
    assert (away.status_code, away.json()["temporal"]) == (503, False)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


async def test_the_log_names_the_delivery_and_nothing_of_its_body(
    web: httpx.AsyncClient, log: pytest.LogCaptureFixture
) -> None:
    body = {**run_body(), "hidden": "hunter2-in-the-body"}
    await deliver(web, "workflow_run", body, delivery="guid-9")
    await deliver(web, "workflow_run", body, delivery="guid-10 result=started", secret="hunter2-secret")
    lines = [record.getMessage() for record in log.records if record.name == "sweeper.web"]
    assert "delivery=guid-9 event=workflow_run status=202 result=started workflow=sweep-77-1" in lines[0]
    assert "delivery=guid-10resultstarted event=workflow_run status=401 result=refused" in lines[1]
    signatures = [sign(encode(body), secret) for secret in (SECRET, "hunter2-secret")]
    assert not any(hidden in log.text for hidden in ("hunter2", SECRET, *signatures))


@pytest.mark.slow
async def test_a_client_that_sends_before_it_listens_hears_413_from_the_real_server(gate: Gate) -> None:
    async with Listener(build_public(gate), bind_tcp("127.0.0.1", 0, "SWEEPER_LISTEN")) as listener:
        url = f"{listener.url}/webhooks/github"
        assert await asyncio.to_thread(_post_blocking, url, b"x" * (MAX_BODY_BYTES + 1)) == 413
        async with httpx.AsyncClient(base_url=listener.url) as web:
            assert (await deliver(web, "workflow_run", run_body())).status_code == 202
            assert "server" not in (await web.get("/healthz")).headers


def _post_blocking(url: str, body: bytes) -> int:
    """urllib reads no answer before all is sent."""
    try:
        with urllib.request.urlopen(url, data=body) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
