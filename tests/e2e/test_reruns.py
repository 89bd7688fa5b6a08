"""What is nobody's code to mend, as an operator sees it: real processes, git, sandbox and a GitHub's ledger."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from adapters.loopback.core.state import Permission
from adapters.loopback.drive.requests import Conclusion, NewJob, NewPush, NewRepo, NewRun, NewStep, NewUser, OpenPull
from sweeper import ids
from sweeper.model import Outcome, RunRef
from sweeper.workflows.rerun import WATCHED
from tests.support.commands import running_on
from tests.support.red_run import MAINTAINER, RedRun
from tests.support.scene import job_log
from tests.support.service import Case, Service, service, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PATH = ".github/workflows/ci.yml"
STEP = "Run python3 -m unittest"
TEST = """\
import unittest

from app import answer


class TestApp(unittest.TestCase):
    def test_answer(self):
        self.assertEqual(answer, 42)
"""
FILES = {
    "app.py": "answer = 41\n",
    "test_app.py": TEST,
    PATH: "name: ci\non: push\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: python3 -m unittest}]}}\n",
}
RUNNER_LOST = job_log(
    "python3 -m unittest",
    "##[error]The runner has received a shutdown signal. This can happen when the runner service is stopped, or a"
    " manually started runner is canceled.",
).decode()
TEST_FAILED = job_log(
    "python3 -m unittest",
    "FAIL: test_answer (test_app.TestApp)",
    "AssertionError: 41 != 42",
    "FAILED (failures=1)",
).decode()


@dataclass(frozen=True)
class Project:
    """A repository whose test fails, and its CI."""

    service: Service
    where: RunRef

    async def ci(
        self, conclusion: Conclusion, log: str = "", branch: str = "main", again: RunRef | None = None
    ) -> Case:
        """A run of its only job ends, or the next attempt of an earlier run; the webhook is on its way."""
        steps = [NewStep(name=STEP, conclusion=conclusion)]
        job = NewJob(name="test", conclusion=conclusion, steps=steps, log=log)
        report = NewRun(
            repo=self.where.repository,
            branch=branch,
            workflow_path=PATH,
            event="push",
            conclusion=conclusion,
            jobs=[job],
        )
        if again is not None:
            report = report.model_copy(update={"run_id": again.run_id})
        made = await self.service.drive.run(report)
        ref = self.where.model_copy(update={"run_id": made.run_id, "run_attempt": made.attempt})
        return Case(self.service, RedRun(ref, made.deliveries[-1]), ids.sweep_id(ref, self.service.github.url))

    async def effects(self) -> list[str]:
        """Every write on the repository, in order, by GitHub's own ledger; its check runs are left out."""
        calls = (await self.service.drive.ledger()).calls
        own = [call for call in calls if call.effect and f"/{self.where.repository}" in call.path]
        return [call.effect for call in own if call.effect and not call.effect.startswith("check.")]


async def project(served: Service, name: str) -> Project:
    made = await served.drive.repo(NewRepo(name=f"octo/{name}", files=FILES))
    await served.drive.user(NewUser(login=MAINTAINER, permission=Permission.WRITE))
    return Project(served, RunRef(repository=f"octo/{name}", repository_id=made.id, run_id=0))


async def redelivered(case: Case) -> None:
    """The webhook of a run comes in once more, and is taken."""
    times = len(await case.answers())
    await case.service.drive.redeliver(case.red.delivery)

    async def is_answered() -> bool:
        answers = await case.answers()
        return len(answers) > times and answers[-1] in (200, 202)

    await until(is_answered)


@pytest.mark.asyncio(loop_scope="class")
@pytest.mark.xdist_group("reruns")
class TestServing:
    @pytest_asyncio.fixture(scope="class", loop_scope="class")
    async def served(self, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
        root = tmp_path_factory.mktemp("reruns")
        async with service(root, agent_command="sed -i s/41/42/ app.py") as made:
            made.starts("serve")
            await made.ready()
            yield made
        assert running_on(made.state_dir) == []

    async def test_a_lost_runner_is_run_again_once_however_often_it_is_told_of(self, served: Service) -> None:
        code = await project(served, "lost-runner")
        lost = await code.ci("failure", RUNNER_LOST)
        await lost.waits_for(WATCHED)
        await redelivered(lost)
        assert await code.effects() == ["run.rerun"]
        passed = await code.ci("success", again=lost.red.ref)
        told = await lost.ends_as(Outcome.INFRASTRUCTURE)
        assert told.reason is not None
        assert told.reason.startswith("attempt 2 passed without a change")
        await redelivered(lost)
        assert (passed.red.ref.run_attempt, await served.shown(passed.sweep_id)) == (2, None)
        seen = await lost.repository()
        assert (await code.effects(), list(seen.branches), seen.pulls) == (["run.rerun"], ["main"], [])

    async def test_an_attempt_that_fails_in_earnest_gets_a_sweep_that_mends_it(self, served: Service) -> None:
        code = await project(served, "in-earnest")
        lost = await code.ci("failure", RUNNER_LOST)
        await lost.waits_for(WATCHED)
        again = await code.ci("failure", TEST_FAILED, again=lost.red.ref)
        told = await lost.ends_as(Outcome.SUPERSEDED)
        assert told.reason is not None
        assert "attempt 2 ended as failure as well" in told.reason
        parked = await again.parked()
        assert again.sweep_id != lost.sweep_id
        assert parked.proposal is not None
        assert (await again.pull()).head == parked.proposal.branch
        assert await code.effects() == ["run.rerun", "branch.push", "pull.create"]

    async def test_somebody_elses_fix_is_linked_and_none_is_made(self, served: Service) -> None:
        code = await project(served, "elsewhere")
        name = code.where.repository
        push = NewPush.model_validate(
            {"repo": name, "branch": "by-ada", "from": "main", "files": {"app.py": "answer = 42\n"}, "user": MAINTAINER}
        )
        await served.drive.push(push)
        number = await served.drive.open_pull(
            OpenPull(repo=name, head="by-ada", base="main", title="Mend it", user=MAINTAINER)
        )
        await code.ci("success", branch="by-ada")
        red = await code.ci("failure", TEST_FAILED)
        told = await red.ends_as(Outcome.ALREADY_FIXED_ELSEWHERE)
        assert told.reason is not None
        assert f"/{name}/pull/{number}" in told.reason
        assert "job 'test' passes there" in told.reason
        assert (await code.effects(), [pull.number for pull in (await red.repository()).pulls]) == ([], [number])
        ours = [check for check in (await red.repository()).checks if check.external_id == red.sweep_id]
        assert [check.conclusion for check in ours] == ["neutral"]
