"""An attempt of twelve steps by a model, on a whole service: what it says, and what there is to see of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from adapters.models.recorded.script import Script
from sweeper.activities.names import TASK_QUEUE
from sweeper.model import Allowance, Budgets, Strict, SweepInput, SweepSettings, Timeouts, Trigger, TriggerSource
from sweeper.workflows.sweep import SweepWorkflow
from tests.crash.aftermath import RESTARTS
from tests.support.dying_worker import Execution, ModelLife, Shared, read_diary
from tests.support.household import Case, Household, household
from tests.support.killable import KillableService
from tests.support.recorded_models import RecordedModel, recorded_process, says

STEPS = 12
EFFECTS = {"branch.push": 1, "pull.create": 1}


SCRIPT = Script(
    turns=(
        says("list_files"),
        says("search_files", pattern="bad"),
        says("read_file", path="file.txt"),
        says("run_check", check="check"),
        says("write_file", path="note.txt", content="bad is not good\n"),
        says("edit_file", path="file.txt", old="bad", new="better"),
        says("read_file", path="file.txt"),
        says("edit_file", path="file.txt", old="better", new="good"),
        says("delete_file", path="note.txt"),
        says("search_files", pattern="good"),
        says("run_check", check="check"),
        says("finish", cause="it was bad", change="it is good now", risk="none", confidence="high"),
    )
)
assert len(SCRIPT.turns) == STEPS


class Seen(Strict):
    """What came of it. `edits`: commits of the journal; `calls`: what the model was asked, `distinct` of them."""

    patch_id: str
    files: tuple[str, ...]
    edits: int
    calls: int
    distinct: int
    effects: dict[str, int]
    spent_calls: int


class AgentRun:
    """A service with a red run whose fix a model is to make."""

    def __init__(self, home: Household, service: KillableService, model: RecordedModel, case: Case) -> None:
        self.home = home
        self.service = service
        self.model = model
        self.case = case

    async def start(self, host_queue: timedelta = timedelta(hours=1), model_calls: int | None = None) -> None:
        """Trigger the sweep."""
        timeouts = Timeouts(
            heartbeat=timedelta(seconds=2), retry_first=timedelta(milliseconds=200), host_queue=host_queue
        )
        settings = SweepSettings(
            agents=("llm",),
            poll_interval=timedelta(seconds=2),
            timeouts=timeouts,
            budgets=Budgets(sweep=Allowance(model_calls=model_calls)),
        )
        await self.home.client.start_workflow(
            SweepWorkflow.run,
            SweepInput(run=self.case.run, trigger=Trigger(source=TriggerSource.WORKFLOW_RUN), settings=settings),
            id=self.case.sweep,
            task_queue=TASK_QUEUE,
        )

    @property
    def executions(self) -> list[Execution]:
        """Bodies of the model's workflow that began, by all workers, in order."""
        diary = read_diary(self.service.state_dir / "diary.jsonl")
        return [line for line in diary if line.workflow_id.endswith("-llm")]

    async def seen(self) -> Seen:
        """Once a human is asked."""
        record = await self.case.parked()
        (attempt,) = record.state.attempts
        ledger = await self.model.ledger()
        assert attempt.patch is not None
        return Seen(
            patch_id=attempt.patch.patch_id,
            files=attempt.patch.files,
            edits=attempt.fix.actions,
            calls=ledger.total,
            distinct=ledger.distinct,
            effects=await self.case.effects(),
            spent_calls=attempt.fix.spent.model_calls,
        )


@asynccontextmanager
async def agent_run(root: Path, shared: Shared | None = None, script: Script = SCRIPT) -> AsyncIterator[AgentRun]:
    """Everything is up, and CI has failed. `shared`: the worker's disk is its own, so that it can be lost."""
    async with recorded_process(script, root / "model") as model:
        life = ModelLife(url=model.info.openai_url, key=model.info.key)
        async with household(root, restarts=RESTARTS) as home:
            service = KillableService(home, root, life, shared)
            if shared is not None:
                service.state_dir = root / "host"
            async with service.up():
                yield AgentRun(home, service, model, await home.red_run("agent"))
