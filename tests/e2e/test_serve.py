"""`sweeper serve` as an operator runs it, on its own and with parts of it killed."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from sweeper.model import Outcome, Step
from tests.support import payloads
from tests.support.commands import Ended, running_on, sweeper
from tests.support.red_run import AGENT
from tests.support.service import SECRET, Case, Service, free_port, service, until

EFFECTS = ["check.create", "branch.push", "pull.create", "branch.delete", "check.update"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


async def command(served: Service, *words: str) -> Ended:
    """Run a command on the service's state directory, while this process goes on."""
    return await asyncio.to_thread(sweeper, *words, env=served.env)


def temporal_pid(served: Service) -> int:
    """Of the embedded server that runs for this state directory."""
    pid: int = json.loads((served.state_dir / "temporal.json").read_text())["pid"]
    return pid


@pytest.mark.asyncio(loop_scope="class")
@pytest.mark.xdist_group("serve")
class TestServing:
    @pytest_asyncio.fixture(scope="class", loop_scope="class")
    async def served(self, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
        async with service(tmp_path_factory.mktemp("serve")) as made:
            made.starts("serve")
            await made.ready()
            yield made
        assert running_on(made.state_dir) == []

    async def test_its_health_names_the_parts(self, served: Service) -> None:
        told = (await served.http.get(f"{served.url}/healthz")).json()
        assert told.pop("version")
        assert told == {"web": True, "temporal": True, "worker": True}

    async def test_a_red_run_is_handed_over_and_a_humans_merge_ends_it(self, served: Service) -> None:
        case = await served.red_run("handed-over")
        parked = await case.parked()
        assert (parked.outcome, parked.waiting_for and parked.waiting_for.what) == (None, "review")
        await case.reviewed("APPROVED")
        await case.waits_for("a human's merge")
        await case.merged()
        told = await case.ends_as(Outcome.MERGED)
        assert [effect.name for effect in told.effects] == EFFECTS
        assert list((await case.repository()).branches) == ["main"]

    async def test_commands_answer_scripts(self, served: Service) -> None:
        case = await served.red_run("commands")
        await case.parked()
        run = str(case.red.ref.run_id)
        listed = (await command(served, "list", "--json")).document_as(0)
        assert case.sweep_id in json.dumps(listed["sweeps"])
        assert (await command(served, "show", case.sweep_id, "--json")).document_as(0)["current_step"] == "await_review"
        joined = (await command(served, "trigger", case.red.ref.repository, run, "--json")).document_as(0)
        assert (joined["result"], joined["workflow_id"]) == ("joined", case.sweep_id)
        cancelled = (await command(served, "cancel", case.sweep_id, "--json")).document_as(0)
        assert (cancelled["result"], cancelled["workflow_id"]) == ("delivered", case.sweep_id)
        watched = (await command(served, "watch", case.sweep_id, "--json")).document_as(1)
        assert watched["outcome"] == "cancelled"
        again = (await command(served, "retry", case.sweep_id, "--json")).document_as(0)
        assert again["result"] == "started"
        assert str(again["workflow_id"]).startswith(f"{case.sweep_id}-m")

    async def test_requested_changes_become_a_commit_on_the_same_branch(self, served: Service) -> None:
        case = await served.red_run("changes")
        first = await case.parked()
        await case.reviewed("CHANGES_REQUESTED", "say please, too")
        second = await case.until(lambda told: len(told.attempts) == 2 and told.current_step is Step.AWAIT_REVIEW)
        pull = await case.pull()
        assert first.proposal is not None
        assert (pull.number, pull.head) == (first.proposal.number, first.proposal.branch)
        assert pull.head_sha != first.proposal.head_sha
        assert [effect.name for effect in second.effects] == [
            "check.create",
            "branch.push",
            "pull.create",
            "branch.push",
            "pull.update",
            "comment.create",
        ]

    async def test_a_closed_proposal_leaves_no_branch(self, served: Service) -> None:
        case = await served.red_run("closed")
        await case.parked()
        await case.closed()
        await case.ends_as(Outcome.CLOSED)
        assert list((await case.repository()).branches) == ["main"]

    async def test_a_second_one_joins_the_temporal_that_runs(self, served: Service) -> None:
        pid, port = temporal_pid(served), free_port()
        second = served.starts("serve", listen=f"127.0.0.1:{port}", admin_listen=f"127.0.0.1:{free_port()}")
        await until(lambda: served.is_ready(f"http://127.0.0.1:{port}"))
        assert temporal_pid(served) == pid
        assert await second.ends() == 0
        assert await served.is_ready()


@pytest.mark.xdist_group("serve-expiry")
async def test_a_proposal_that_nobody_decides_expires_with_a_reason(tmp_path: Path) -> None:
    async with service(tmp_path, proposal_ttl="5s") as served:
        served.starts("serve")
        await served.ready()
        case = await served.red_run("forgotten")
        told = await case.ends_as(Outcome.EXPIRED)
        pull = await case.pull()
        assert (pull.state, pull.merged) == ("closed", False)
        assert told.reason in pull.comments[-1].body
        assert list((await case.repository()).branches) == ["main"]


@pytest.mark.xdist_group("serve-killed")
class TestKilled:
    async def test_a_dead_worker_is_reported_and_the_next_one_goes_on(self, tmp_path: Path) -> None:
        async with service(tmp_path) as served:
            served.starts("web")
            await served.ready()
            worker = served.starts("worker")
            case = await served.red_run("parked")
            await case.parked()
            assert await worker.ends(signal.SIGKILL) == -signal.SIGKILL

            shown = await command(served, "show", case.sweep_id)
            assert "No worker since" in shown.stdout
            listed = (await command(served, "list", "--json")).document_as(0)
            assert json.loads(json.dumps(listed["worker"]))["alive"] is False

            served.starts("worker")
            await case.reviewed("APPROVED")
            await case.waits_for("a human's merge")
            await case.merged()
            told = await case.ends_as(Outcome.MERGED)
            assert [effect.name for effect in told.effects] == EFFECTS

    async def test_told_to_stop_it_finishes_what_is_under_way(self, tmp_path: Path) -> None:
        async with service(tmp_path, agent_command=f"sleep 2; {AGENT}") as served:
            serving = served.starts("serve")
            await served.ready()
            case = await served.red_run("stopped")
            await case.until(lambda told: told.current_step is Step.FIX)
            assert await serving.ends(signal.SIGTERM) == 0, serving.said()
            assert [line for line in running_on(served.state_dir) if "loopback" not in line] == []

            served.starts("serve")
            await served.ready()
            told = await case.parked()
            assert len(told.attempts) == 1

    async def test_without_temporal_webhooks_are_sent_away_and_it_comes_back(self, tmp_path: Path) -> None:
        async with service(tmp_path, poll_interval="3s") as served:
            served.starts("serve")
            await served.ready()
            parked_before = await served.red_run("before")
            await parked_before.parked()
            pid = temporal_pid(served)

            os.kill(pid, signal.SIGSTOP)
            during = await served.red_run("during")
            await until(lambda: answered(during, [503]))
            await served.drive.redeliver(during.red.delivery)
            await until(lambda: answered(during, [503, 503]))
            assert int((await posted_red_run(served)).headers["Retry-After"]) > 0

            os.kill(pid, signal.SIGKILL)
            await until(lambda: runs_anew(served, pid))
            await served.drive.redeliver(during.red.delivery)
            await during.parked()
            await parked_before.reviewed("APPROVED")
            await parked_before.waits_for("a human's merge")


async def runs_anew(served: Service, former: int) -> bool:
    """Whether another Temporal server than the former one runs, and all is ready."""
    return temporal_pid(served) != former and await served.is_ready()


async def answered(case: Case, statuses: list[int]) -> bool:
    """Whether the webhook of a run was answered so, time after time."""
    return await case.answers() == statuses


async def posted_red_run(served: Service) -> httpx.Response:
    """A signed webhook of our own."""
    body = payloads.encode(payloads.run_body())
    headers = {**payloads.headers("workflow_run"), "X-Hub-Signature-256": payloads.sign(body, SECRET)}
    return await served.http.post(f"{served.url}/webhooks/github", content=body, headers=headers)
