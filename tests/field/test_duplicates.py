"""However often and through however many doors a failing run is told of, it gets one sweep and one agent call, and
every answer names that sweep.

In the words of the field: a replayed delivery ran everything twice, also when two receivers took it at once (C01); a
key for duplicates that held the time never matched (C02); a redelivery after the end began again (C03); a receiver
that was slow lost events (C04).
"""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from adapters.loopback.core.state import HookMode
from adapters.loopback.drive.requests import NewDispatch
from sweeper.intake import Answer, Result
from sweeper.model import Outcome
from tests.support.commands import sweeper
from tests.support.deliveries import Delivery, said
from tests.support.red_run import MAINTAINER
from tests.support.service import Case, Service, free_port, service, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("duplicates"),
]

ONCE = ("branch.push", "pull.create")


class Doors:
    """A service, and a second process that receives for the same state directory."""

    def __init__(self, served: Service, second: str) -> None:
        self.served = served
        self.second = second

    async def untold(self, name: str) -> Case:
        """A red run that GitHub has told nobody of."""
        await self.served.drive.hooks(HookMode.DROP)
        case = await self.served.red_run(name)
        await self.served.drive.hooks(HookMode.NORMAL)
        return case

    async def receive(self, delivery: Delivery, times: int) -> list[Answer]:
        """The same bytes at both doors at once."""
        doors = (self.served.url, self.second)
        sent = (delivery.to(url, self.served.http) for _ in range(times) for url in doors)
        return [said(response) for response in await asyncio.gather(*sent)]

    async def asked(self, case: Case, request_id: str) -> str:
        """Somebody asks for a sweep by repository_dispatch; the delivery's guid."""
        payload = {"run_id": case.red.ref.run_id, "request_id": request_id}
        return await self.served.drive.dispatch(
            NewDispatch(repo=case.red.ref.repository, event_type="ci-sweeper", client_payload=payload, user=MAINTAINER)
        )

    async def sweeps_of(self, case: Case) -> list[str]:
        """All sweeps of that run, by the list that people see."""
        listed = await asyncio.to_thread(sweeper, "list", "--json", env=self.served.env)
        sweeps = json.loads(json.dumps(listed.document_as(0)["sweeps"]))
        return [sweep["id"] for sweep in sweeps if sweep["run_id"] == case.red.ref.run_id]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Doors]:
    async with service(tmp_path_factory.mktemp("duplicates")) as served:
        served.starts("serve")
        await served.ready()
        second = f"127.0.0.1:{free_port()}"
        served.starts("web", listen=second, admin_listen=f"127.0.0.1:{free_port()}")
        await until(lambda: served.is_ready(f"http://{second}"))
        yield Doors(served, f"http://{second}")


async def parked_once(doors: Doors, case: Case) -> None:
    """It comes to one proposal by one agent call, in the only sweep there is."""
    parked = await case.parked()
    assert len(parked.attempts) == 1
    assert sorted(effect.name for effect in parked.effects if effect.name in ONCE) == sorted(ONCE)
    assert await doors.sweeps_of(case) == [case.sweep_id]


async def test_the_same_delivery_at_two_receivers_at_once_starts_one_sweep(doors: Doors) -> None:
    case = await doors.untold("twice")
    answers = await doors.receive(Delivery.of(case), times=5)
    assert Counter(answer.result for answer in answers) == {Result.STARTED: 1, Result.DUPLICATE: 9}
    assert {answer.workflow_id for answer in answers} == {case.sweep_id}
    await parked_once(doors, case)


async def test_the_same_body_under_new_guids_starts_one_sweep(doors: Doors) -> None:
    case = await doors.untold("new-guids")
    delivery = Delivery.of(case)
    answers = [said(await delivery.under(f"guid-{n}").to(doors.second, doors.served.http)) for n in range(3)]
    assert [answer.result for answer in answers] == [Result.STARTED, Result.DUPLICATE, Result.DUPLICATE]
    await parked_once(doors, case)


async def test_a_webhook_a_dispatch_and_a_command_at_once_are_one_sweep(doors: Doors) -> None:
    case = await doors.untold("three-doors")
    run, repository = str(case.red.ref.run_id), case.red.ref.repository
    command = asyncio.to_thread(sweeper, "trigger", repository, run, "--json", env=doors.served.env)
    told, _, commanded = await asyncio.gather(doors.receive(Delivery.of(case), 1), doors.asked(case, "d1"), command)
    answer = Answer.model_validate(commanded.document_as(0))
    assert {answer.workflow_id, *(one.workflow_id for one in told)} == {case.sweep_id}
    await parked_once(doors, case)


async def closed(case: Case) -> None:
    await case.parked()
    await case.closed()
    await case.until(lambda told: told.outcome is not None)


async def test_what_comes_again_after_the_end_is_answered_with_the_sweep_that_was(doors: Doors) -> None:
    case = await doors.untold("afterwards")
    delivery = Delivery.of(case)
    assert said(await delivery.to(doors.second, doors.served.http)).result is Result.STARTED
    await closed(case)
    answers = await doors.receive(delivery, times=1)
    assert {(answer.result, answer.workflow_id) for answer in answers} == {(Result.DUPLICATE, case.sweep_id)}
    assert await doors.sweeps_of(case) == [case.sweep_id]


async def test_a_request_that_joined_starts_nothing_when_it_comes_again_after_the_end(doors: Doors) -> None:
    case = await doors.untold("joined")
    said(await Delivery.of(case).to(doors.second, doors.served.http))
    await case.parked()
    guid = await doors.asked(case, "d2")
    await case.until(lambda told: any(trigger.request_id == "d2" for trigger in told.triggers))
    await closed(case)
    await doors.served.drive.redeliver(guid)
    await until(lambda: both_answered(doors, guid))
    assert await doors.sweeps_of(case) == [case.sweep_id]


async def both_answered(doors: Doors, guid: str) -> bool:
    seen = (await doors.served.drive.world()).deliveries
    return [one.status_code for one in seen if one.guid == guid] == [202, 200]


async def test_after_temporal_was_restarted_a_duplicate_is_still_one(doors: Doors) -> None:
    case = await doors.untold("restarted")
    delivery = Delivery.of(case)
    said(await delivery.to(doors.second, doors.served.http))
    await parked_once(doors, case)
    pid = temporal_pid(doors.served)
    os.kill(pid, signal.SIGKILL)
    await until(lambda: truth(lambda: temporal_pid(doors.served) != pid))
    await until(doors.served.is_ready)
    answers = await doors.receive(delivery, times=2)
    assert {(answer.result, answer.workflow_id) for answer in answers} == {(Result.DUPLICATE, case.sweep_id)}
    await parked_once(doors, case)


async def test_while_temporal_is_stuck_github_hears_in_time_that_it_should_come_again(doors: Doors) -> None:
    """GitHub gives up after 10 s, and so does its stand-in: then the status would be 0."""
    pid = temporal_pid(doors.served)
    os.kill(pid, signal.SIGSTOP)
    try:
        case = await doors.served.red_run("stuck")
        await until(lambda: has_answers(case, [503]))
    finally:
        os.kill(pid, signal.SIGCONT)
    await doors.served.drive.redeliver(case.red.delivery)
    await until(lambda: truth_of_last(case))
    await parked_once(doors, case)
    await closed(case)
    shown = await doors.served.shown(case.sweep_id)
    assert shown is not None
    assert shown.outcome in (Outcome.CLOSED, Outcome.MUTED)


async def has_answers(case: Case, statuses: list[int]) -> bool:
    return await case.answers() == statuses


async def truth_of_last(case: Case) -> bool:
    """The start that nobody waited for may have happened, so both answers are right."""
    return (await case.answers())[1:] in ([202], [200])


async def truth(condition: Callable[[], bool]) -> bool:
    return condition()


def temporal_pid(served: Service) -> int:
    """Of the embedded server; 0 while there is none."""
    try:
        pid: int = json.loads((served.state_dir / "temporal.json").read_text())["pid"]
    except (OSError, ValueError):
        return 0
    return pid
