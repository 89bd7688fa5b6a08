"""What cannot go on by itself is named, told once, and goes on after the cause is mended."""

import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from adapters.loopback.drive.requests import PullAct
from adapters.temporal.client import address_of
from adapters.temporal.stuck import find_stuck
from adapters.temporal.sweeps import TemporalSweeps
from sweeper.activities.names import TASK_QUEUE
from sweeper.model import Budget, Checkpoint, Outcome, Step, SweepInput, Trigger, TriggerSource, WaitingFor
from sweeper.model.target import TargetMemo, Waiting
from sweeper.model.upkeep import StuckCase, StuckKind
from sweeper.policy.stuck import CREDENTIALS
from sweeper.workflows.progress import MEMO
from sweeper.workflows.target import MEMO as TARGET_MEMO
from tests.support import values
from tests.support.commands import environment, sweeper
from tests.support.hook_receiver import receiving_hooks
from tests.support.household import AT_ONCE, Household, household, until
from tests.support.red_run import MAINTAINER
from tests.support.temporal import dev_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

NOWHERE = "a-queue-that-nobody-polls"


@workflow.defn(name="sweep")
class WithoutItsSteps:
    """A wrong deploy: the steps that running sweeps have behind them are not in the code any more."""

    @workflow.run
    async def run(self, sweep: SweepInput) -> None:
        await workflow.wait_condition(lambda: False)

    @workflow.signal
    def look(self) -> None:
        """A ring."""


@workflow.defn(name="sweep")
class AsksNobody:
    """A sweep that needs a host which is gone for good."""

    @workflow.run
    async def run(self, sweep: SweepInput) -> None:
        await workflow.execute_activity("fix", task_queue=NOWHERE, start_to_close_timeout=timedelta(hours=1))


def checkpoint(waiting: WaitingFor | None) -> Checkpoint:
    """What a sweep shows while it waits for that."""
    return Checkpoint(
        run=values.run_ref(),
        workflow_version=1,
        current_step=Step.AWAIT_REVIEW,
        goal="a fix",
        budget=Budget(attempts_remaining=1),
        waiting_for=waiting,
        updated_at=datetime.now(UTC),
    )


def waiting(what: str, ends_in: timedelta) -> WaitingFor:
    now = datetime.now(UTC)
    return WaitingFor(what=what, since=now - timedelta(days=1), until=now + ends_in)


async def shown_as(client: Client, workflow_id: str, memo: Mapping[str, object], kind: str = "sweep") -> None:
    """A workflow that says this of itself; nobody works on it."""
    await client.start_workflow(kind, id=workflow_id, task_queue=NOWHERE, memo=memo)


async def cases(client: Client, *workflows: str) -> list[tuple[str, StuckKind]]:
    """Which of these are stuck, and why."""
    found = await TemporalSweeps(client).stuck()
    return sorted((case.workflow, case.kind) for case in found if case.workflow in workflows)


@pytest.mark.asyncio(loop_scope="class")
@pytest.mark.xdist_group("stuck")
class TestNaming:
    @pytest_asyncio.fixture(scope="class", loop_scope="class")
    async def client(self, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
        async with dev_server(tmp_path_factory.mktemp("stuck")) as connected:
            yield connected

    async def test_a_wait_that_should_be_over_is_named_and_a_good_one_is_not(self, client: Client) -> None:
        await shown_as(client, "sweep-1-1", {MEMO: checkpoint(waiting("review", -timedelta(hours=2)))})
        await shown_as(client, "sweep-2-1", {MEMO: checkpoint(waiting("review", timedelta(hours=2)))})
        await shown_as(client, "sweep-3-1", {MEMO: checkpoint(None)})
        await until(lambda: self.lists(client, 3), "all are listed")
        assert await cases(client, "sweep-1-1", "sweep-2-1", "sweep-3-1") == [("sweep-1-1", StuckKind.OVERDUE)]

    async def lists(self, client: Client, many: int) -> bool:
        return len(await TemporalSweeps(client).list()) >= many

    async def test_credentials_that_github_refuses_are_named(self, client: Client) -> None:
        await shown_as(client, "sweep-4-1", {MEMO: checkpoint(waiting(CREDENTIALS, timedelta(hours=2)))})
        await until(lambda: self.names(client, ("sweep-4-1", StuckKind.CREDENTIALS)), "it is named")

    async def names(self, client: Client, case: tuple[str, StuckKind]) -> bool:
        return await cases(client, case[0]) == [case]

    async def test_a_turn_that_never_comes_is_named_with_who_has_it(self, client: Client) -> None:
        now = datetime.now(UTC)
        queue = (Waiting(sweep="sweep-6-1", since=now - timedelta(hours=5)),)
        memo = TargetMemo(holder="sweep-5-1", since=now - timedelta(hours=6), queue=queue, waiting=1)
        await shown_as(client, "target-7-abc", {TARGET_MEMO: memo}, kind="target")
        await shown_as(client, "target-8-abc", {}, kind="target")
        await until(lambda: self.names(client, ("target-7-abc", StuckKind.OLD_QUEUE)), "it is named")
        (case,) = [case for case in await TemporalSweeps(client).stuck() if case.workflow == "target-7-abc"]
        assert "`sweeper show sweep-5-1`" in case.sentence
        assert await cases(client, "target-8-abc") == []

    async def test_an_activity_that_nobody_takes_is_named_with_its_queue(self, client: Client) -> None:
        async with Worker(
            client, task_queue="asking", workflows=[AsksNobody], workflow_runner=UnsandboxedWorkflowRunner()
        ):
            await client.start_workflow(
                "sweep",
                SweepInput(run=values.run_ref(), trigger=Trigger(source=TriggerSource.CLI)),
                id="sweep-9-1",
                task_queue="asking",
            )

            async def is_named() -> bool:
                found = {case.workflow: case for case in await find_stuck(client, untaken=timedelta(0))}
                return "sweep-9-1" in found and found["sweep-9-1"].kind is StuckKind.NOBODY_WORKS

            await until(is_named, "it is named")
        assert await cases(client, "sweep-9-1") == [], "a minute is given"
        (case,) = [case for case in await find_stuck(client, untaken=timedelta(0)) if case.workflow == "sweep-9-1"]
        assert "fix" in case.sentence
        assert NOWHERE in case.sentence

    async def test_commands_name_it_with_what_to_do(self, client: Client, tmp_path: Path) -> None:
        await shown_as(client, "sweep-10-1", {MEMO: checkpoint(waiting("review", -timedelta(hours=2)))})
        await until(lambda: self.names(client, ("sweep-10-1", StuckKind.OVERDUE)), "it is named")
        env = environment(tmp_path / "state", temporal_address=address_of(client))
        listed = sweeper("list", "--stuck", "--json", env=env).document_as(0)
        stuck = {case["workflow"]: case for case in json.loads(json.dumps(listed["stuck"]))}
        assert "`sweeper cancel sweep-10-1`" in stuck["sweep-10-1"]["sentence"]
        lines = {line["id"]: line for line in json.loads(json.dumps(listed["sweeps"]))}
        assert lines["sweep-10-1"]["stuck"] == stuck["sweep-10-1"]["sentence"]
        shown = sweeper("list", "--stuck", env=env).stdout
        assert "sweep-10-1" in shown
        found = json.loads(json.dumps(sweeper("doctor", "--json", env=env).document["findings"]))
        assert any("sweep-10-1" in finding["detail"] for finding in found if finding["name"] == "stuck")


@pytest.mark.xdist_group("stuck-deploy")
async def test_a_wrong_deploy_is_named_and_the_right_one_goes_on(tmp_path: Path) -> None:
    async with household(tmp_path) as home, home.temporal():
        async with home.worker():
            case = await home.red_run("deployed")
            await home.passes()
            await case.parked()
        named: list[StuckCase] = []

        async def is_named() -> bool:
            named[:] = [found for found in await home.sweeps.stuck() if found.workflow == case.sweep]
            return bool(named)

        async with Worker(
            home.client,
            task_queue=TASK_QUEUE,
            workflows=[WithoutItsSteps],
            workflow_runner=UnsandboxedWorkflowRunner(),
        ):
            await home.sweeps.ring(case.sweep)
            await until(is_named, "the wrong deploy is named")
        assert named[0].kind is StuckKind.TASK_FAILS
        assert "start a worker of the right version" in named[0].sentence
        async with home.worker():
            await home.drive.close_pull(PullAct(repo=case.run.repository, pr=1, user=MAINTAINER))
            await home.sweeps.ring(case.sweep)
            ended = await case.until(lambda record: not record.view.is_open)
            assert ended.view.checkpoint.outcome is Outcome.CLOSED
            assert case.sweep not in [found.workflow for found in await home.sweeps.stuck()]


@pytest.mark.xdist_group("stuck-alerts")
class TestAlerts:
    async def test_the_operator_is_told_once_by_each_way(self, tmp_path: Path) -> None:
        told = tmp_path / "told"
        async with receiving_hooks() as hook:
            command = f"cat >> {told}; echo >> {told}"
            async with household(tmp_path, alert_command=command, alert_url=hook.url) as home, home.service():
                await self.overdue(home)
                both = AT_ONCE.model_copy(update={"channels": ("command", "url")})
                await home.passes(both)
                await home.passes(both)
                (line,) = told.read_text().splitlines()
                (posted,) = hook.received
                assert posted.body == json.loads(line)
                assert posted.body["id"] == json.loads(line)["id"]
                assert json.loads(line)["case"]["workflow"] == "sweep-1-1"

    async def test_a_way_that_fails_is_tried_again_by_the_next_pass_under_the_same_id(self, tmp_path: Path) -> None:
        async with receiving_hooks() as hook:
            hook.status = 500
            async with household(tmp_path, alert_url=hook.url) as home, home.service():
                await self.overdue(home)
                by_url = AT_ONCE.model_copy(update={"channels": ("url",)})
                first = await home.passes(by_url)
                assert any("answered 500" in problem for problem in first.problems)
                tries = len(hook.received)
                assert tries > 1
                hook.status = 200
                second = await home.passes(by_url)
                assert second.problems == ()
                assert len(hook.received) == tries + 1
                assert len({str(received.body["id"]) for received in hook.received}) == 1

    async def overdue(self, home: Household) -> None:
        """Something is stuck."""
        await shown_as(home.client, "sweep-1-1", {MEMO: checkpoint(waiting("review", -timedelta(hours=2)))})

        async def is_listed() -> bool:
            return len(await home.sweeps.list()) == 1

        await until(is_listed, "it is listed")
