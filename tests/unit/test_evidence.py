"""Collecting evidence beside everything else that a worker does."""

import threading
from datetime import timedelta

from temporalio.testing import ActivityEnvironment

from sweeper.activities import requests
from sweeper.activities.evidence import EvidenceActivities
from sweeper.policy.redaction import Redactor
from sweeper.ports import Durable, Ports
from tests.support.code_host_contract import FakeScene, JobSpec
from tests.support.journals import FakeJournals
from tests.support.no_spending import NoSpending
from tests.support.sandbox import FakeSandbox
from tests.support.scene_doubles import MemoryArtifacts
from tests.support.sweeps import FakeSweeps
from tests.support.workspaces import FakeWorkspaces
from tests.unit.test_upkeep_activities import NoTargets


class WatchedRedactor(Redactor):
    """Remembers where it worked."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[threading.Thread] = []

    def redact(self, data: bytes) -> bytes:
        self.threads.append(threading.current_thread())
        return super().redact(data)


async def test_a_log_is_redacted_where_it_holds_up_no_heartbeat() -> None:
    scene, redactor = FakeScene(), WatchedRedactor()
    run = await scene.run("main", jobs=[JobSpec(log="a line\n")])
    here = FakeWorkspaces()
    ports = Ports(
        scene.fake,
        here,
        FakeSandbox(),
        {},
        MemoryArtifacts(),
        redactor=redactor,
        journals=FakeJournals(here),
    )
    durable = Durable(FakeSweeps(), NoTargets(), spending=NoSpending())
    request = requests.CollectRequest(facts=await scene.fake.read_run(run), evidence_ttl=timedelta(hours=1))
    found = await ActivityEnvironment().run(EvidenceActivities(ports, durable).collect, request)
    assert found.jobs[0].log is not None
    assert redactor.threads
    assert threading.main_thread() not in redactor.threads
