"""Which webhooks begin work and which do not, as people learned the hard way.

The same status told three times over (C07), fixers that fed on failures of their own branches (C09), re-runs that share
a run's id (C13), conclusions nobody had thought of (C14), cancelled runs taken for broken ones (C15), merge-queue
branches that cannot be pushed to (C17), a bot's own merge taken for news (C20), events with fields unknown or missing
(C48).
"""

import json
import logging

import httpx
import pytest
from pydantic import SecretStr

from adapters.web.public import Gate, build_public
from sweeper import events
from sweeper.intake import Answer, Desk, Result, handle
from sweeper.model import SweepSettings
from sweeper.policy.admission import MERGE_QUEUE_PREFIX
from sweeper.reporting import HealthReport
from tests.support import payloads
from tests.support.code_host import FakeCodeHost
from tests.support.payloads import Body
from tests.support.sweeps import FakeSweeps

SECRET = "secret"
REPOSITORY, REPOSITORY_ID = "octo/app", 4711
"""As the bodies in `payloads` have it."""


class Receiver:
    """Intake with everything around it in memory."""

    def __init__(self) -> None:
        self.sweeps = FakeSweeps()
        self.github = FakeCodeHost(REPOSITORY, REPOSITORY_ID)
        self.desk = Desk(
            sweeps=self.sweeps,
            code_host=self.github,
            settings=SweepSettings(),
            api_url="https://api.github.com",
        )

    async def hears(self, event: str, body: Body) -> Answer:
        """One webhook, verified already."""
        return await handle(events.parse(payloads.headers(event), payloads.encode(body)), self.desk)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


class TestC07:
    async def test_of_all_that_is_told_of_one_run_only_its_failing_end_starts(self, receiver: Receiver) -> None:
        told = [
            {**payloads.run_body(None, status="queued"), "action": "requested"},
            {**payloads.run_body(None, status="in_progress"), "action": "in_progress"},
            payloads.run_body("success"),
            payloads.run_body("failure"),
            payloads.run_body("failure"),
        ]
        results = [(await receiver.hears("workflow_run", body)).result for body in told]
        assert results == [Result.IGNORED, Result.IGNORED, Result.IGNORED, Result.STARTED, Result.DUPLICATE]
        assert list(receiver.sweeps.sweeps) == ["sweep-77-1"]


class TestC09:
    @pytest.mark.parametrize("branch", ["sweeper/77-1", "sweeper/fix-the-fix", "sweeper/77-1/sweeper/78-1"])
    async def test_a_failure_on_a_branch_of_ours_never_starts_anything(self, receiver: Receiver, branch: str) -> None:
        answer = await receiver.hears("workflow_run", payloads.run_body("failure", branch, id=78))
        assert (answer.result, answer.workflow_id) == (Result.IGNORED, None)
        assert receiver.sweeps.sweeps == {}

    async def test_with_a_live_sweep_it_is_a_ring_for_that_one(self, receiver: Receiver) -> None:
        await receiver.hears("workflow_run", payloads.run_body("failure"))
        answer = await receiver.hears("workflow_run", payloads.run_body("failure", "sweeper/77-1", id=78))
        assert (answer.result, answer.workflow_id) == (Result.DELIVERED, "sweep-77-1")
        assert (list(receiver.sweeps.sweeps), receiver.sweeps.rings("sweep-77-1")) == (["sweep-77-1"], 1)

    async def test_a_green_main_starts_nothing(self, receiver: Receiver) -> None:
        assert (await receiver.hears("workflow_run", payloads.run_body("success"))).result is Result.IGNORED


class TestC13:
    async def test_attempts_of_one_run_are_told_apart(self, receiver: Receiver) -> None:
        first = await receiver.hears("workflow_run", payloads.run_body("failure", run_attempt=1))
        second = await receiver.hears("workflow_run", payloads.run_body("failure", run_attempt=2))
        assert (first.result, second.result) == (Result.STARTED, Result.STARTED)
        attempts = [sweep.input.run.run_attempt for sweep in receiver.sweeps.sweeps.values()]
        assert attempts == [1, 2]


class TestC14:
    @pytest.mark.parametrize(
        ("conclusion", "result"),
        [
            ("failure", Result.STARTED),
            ("timed_out", Result.STARTED),
            ("startup_failure", Result.STARTED),
            ("success", Result.IGNORED),
            ("cancelled", Result.IGNORED),  # C15: mostly replaced by a newer push
            ("action_required", Result.IGNORED),
            ("neutral", Result.IGNORED),
            ("skipped", Result.IGNORED),
            ("stale", Result.IGNORED),
            (None, Result.IGNORED),
            ("a_conclusion_of_the_future", Result.IGNORED),
        ],
    )
    async def test_each_conclusion_has_its_answer(
        self, receiver: Receiver, conclusion: str | None, result: Result
    ) -> None:
        answer = await receiver.hears("workflow_run", payloads.run_body(conclusion))
        assert (answer.result, bool(answer.reason)) == (result, True)

    @pytest.mark.parametrize("conclusion", ["cancelled", "a_conclusion_of_the_future", None])
    async def test_what_does_not_say_success_calls_no_open_sweep_to_look(
        self, receiver: Receiver, conclusion: str | None
    ) -> None:
        await receiver.hears("workflow_run", payloads.run_body("failure"))
        receiver.sweeps.for_target("sweep-77-1", REPOSITORY_ID, "main")
        await receiver.hears("workflow_run", payloads.run_body(conclusion, id=78))
        assert receiver.sweeps.rings("sweep-77-1") == 0


class TestC17:
    async def test_a_merge_queues_branch_is_left_alone_and_the_reason_told(self, receiver: Receiver) -> None:
        branch = f"{MERGE_QUEUE_PREFIX}main/pr-7-{payloads.SHA}"
        answer = await receiver.hears("workflow_run", payloads.run_body("failure", branch))
        assert answer.result is Result.IGNORED
        assert answer.reason.startswith("merge_queue")
        assert receiver.sweeps.sweeps == {}


class TestC20:
    async def test_the_push_of_a_merge_of_ours_is_news_for_waiting_sweeps_and_no_new_failure(
        self, receiver: Receiver
    ) -> None:
        await receiver.hears("workflow_run", payloads.run_body("failure"))
        receiver.sweeps.for_target("sweep-77-1", REPOSITORY_ID, "main")
        pushed = {**payloads.push_body("refs/heads/main"), "sender": {"login": "ci-sweeper[bot]", "type": "Bot"}}
        for _ in range(13):
            await receiver.hears("push", pushed)
        assert list(receiver.sweeps.sweeps) == ["sweep-77-1"]
        receiver.sweeps.finish("sweep-77-1")
        assert (await receiver.hears("push", pushed)).result is Result.IGNORED


class TestC48:
    async def test_fields_nobody_has_heard_of_are_no_obstacle(self, receiver: Receiver) -> None:
        body = payloads.run_body("failure", novelty={"deep": [1, 2]})
        body |= {"enterprise": {"id": 1}, "novelty": None}
        assert (await receiver.hears("workflow_run", body)).result is Result.STARTED

    async def test_an_event_nobody_can_read_is_refused_in_sight_and_the_next_one_works(
        self, receiver: Receiver, caplog: pytest.LogCaptureFixture
    ) -> None:
        """GitHub keeps what was refused among its deliveries; our log says which one and answers why."""
        async with self.web(receiver) as http:
            broken = await self.post(http, {"action": "completed", "workflow_run": "gone"}, "broken-1")
            works = await self.post(http, payloads.run_body("failure"), "works-1")
        assert (broken.status_code, works.status_code) == (400, 202)
        assert "workflow_run" in json.loads(broken.content)["error"]
        assert "delivery=broken-1 event=workflow_run status=400 result=refused" in caplog.text

    @pytest.fixture(autouse=True)
    def _hear_everything(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "sweeper.web")

    def web(self, receiver: Receiver) -> httpx.AsyncClient:
        async def health() -> HealthReport:
            return HealthReport(temporal=True, worker=True, version="1", ready=True)

        app = build_public(Gate(desk=receiver.desk, secrets=[SecretStr(SECRET)], health=health))
        return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sweeper")

    async def post(self, http: httpx.AsyncClient, body: Body, guid: str) -> httpx.Response:
        content = payloads.encode(body)
        signed = {"X-Hub-Signature-256": payloads.sign(content, SECRET)}
        headers = {**payloads.headers("workflow_run", guid), **signed}
        return await http.post("/webhooks/github", content=content, headers=headers)
