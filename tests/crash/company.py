"""A service for many sweeps at once: Temporal, GitHub, a worker and a web process, each of which can be killed."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Self

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from adapters.loopback.core.state import HookMode
from adapters.loopback.drive.answers import LedgerCall, RepoSeen
from adapters.loopback.drive.requests import FaultRule
from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo
from adapters.temporal.client import TemporalTarget, connect
from adapters.temporal.embedded import EmbeddedTemporal, Restarts
from adapters.temporal.state import read_address
from sweeper import ids
from sweeper.activities.names import TASK_QUEUE
from sweeper.model import MergeMode, RunRef, SweepInput, SweepResult, SweepSettings, Timeouts, Trigger, TriggerSource
from sweeper.workflows.sweep import SweepWorkflow
from tests.crash.scenarios import WHAT_A_MODEL_SAYS, People, Scenario
from tests.support.dying_worker import Doom, Dooms, Life, ModelLife, Moment
from tests.support.ledger_file import LedgerFile
from tests.support.loopback import running_loopback
from tests.support.recorded_models import RecordedModel, recorded_here
from tests.support.red_run import RedRun, red_again, red_run
from tests.support.service import free_port
from tests.support.tools_on_path import LABEL, ToolsOnPath
from tests.support.web_process import Web

LOOK_EVERY = 0.1
QUICK, CALM = timedelta(seconds=5), timedelta(seconds=20)
"""Heartbeat: quick where a worker dies, calm where nobody may be taken for dead, however busy the machine is."""
SECRET = "the webhook's secret"
_SLOTS = 200
_STEADY_SECONDS = 60.0
_HANDS = 5
"""So many sweeps are brought on their way at once: a workflow's first task is the slowest, and has only so long."""


def sweep_settings(heartbeat: timedelta, write: timedelta | None = None) -> SweepSettings:
    """Everything quick, so that only what is disturbed takes time. `write`: how long one try of a write may take."""
    return SweepSettings(
        agents=("command",),
        merge_mode=MergeMode.MERGE,
        poll_interval=timedelta(seconds=3),
        places=_SLOTS,
        checks_grace=timedelta(0),
        timeouts=Timeouts(
            heartbeat=heartbeat,
            retry_first=timedelta(milliseconds=200),
            read=timedelta(minutes=2),
            model_queue=timedelta(minutes=10),
            write=write or timedelta(minutes=2),
        ),
    )


class Company:
    """Use it as an async context. `sweeps`: how the web process starts them; `with_tools`: programs can be hung."""

    client: Client
    info: LoopbackInfo
    drive: DriveClient
    web: Web
    _ledger: LedgerFile
    _model: RecordedModel

    def __init__(
        self,
        root: Path,
        *,
        with_web: bool = False,
        with_tools: bool = False,
        sandboxed: bool = False,
        sweeps: SweepSettings | None = None,
    ) -> None:
        self.root = root
        self._sweeps = sweeps or sweep_settings(CALM)
        self._with_web = with_web
        self._with_tools = with_tools
        self._sandboxed = sandboxed
        self._number = 0
        self._killed_temporal: int | None = None
        self._rules: list[tuple[FaultRule, int]] = []
        self._quiet = asyncio.Lock()
        self._steady = asyncio.Lock()
        self._waiting: set[asyncio.Task[None]] = set()
        self.hands = asyncio.Semaphore(_HANDS)
        self._temporal = EmbeddedTemporal(root / "temporal", Restarts(most=1000, first_wait=0.1, longest_wait=0.1))
        self._stack = AsyncExitStack()
        self._processes: dict[str, BaseProcess] = {}
        for name in ("state", "dooms"):
            (root / name).mkdir(mode=0o755)
        self.tools = ToolsOnPath(root / "tools")
        self.dooms = Dooms(root / "dooms")

    async def __aenter__(self) -> Self:
        try:
            self.client = await connect(TemporalTarget(address=await self._temporal.start()))
            hook = f"http://127.0.0.1:{(port := free_port())}/webhooks/github" if self._with_web else None
            github = running_loopback(self.root / "github", hook, SECRET if hook else None)
            self.info, self.drive = await self._stack.enter_async_context(github)
            self._ledger = LedgerFile(self.root / "github", "octo")
            self._model = await self._stack.enter_async_context(recorded_here(WHAT_A_MODEL_SAYS, self.root / "model"))
            await self.begin_worker()
            if self._with_web:
                self.web = Web(
                    port=port,
                    temporal=self._temporal.address,
                    secret=SECRET,
                    sweeps=self._sweeps,
                    github=self.info,
                    state_dir=self.life.state_dir,
                )
                await self._begin_web()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        for task in self._waiting:
            task.cancel()
        for process in self._processes.values():
            process.kill()
            process.join()
        await self._stack.aclose()
        await self._temporal.stop()

    @property
    def life(self) -> Life:
        """What its workers work with."""
        return Life(
            temporal=self._temporal.address,
            github=self.info,
            state_dir=self.root / "state",
            task_queue=TASK_QUEUE,
            sandboxed=self._sandboxed,
            tools=self.tools.place if self._with_tools else None,
            dooms=self.root / "dooms",
            activities=_SLOTS,
            model=ModelLife(url=self._model.info.openai_url, key=self._model.info.key),
        )

    async def begin_worker(self) -> None:
        """A worker process."""
        await self._begin("worker", self.life.begin)

    async def _begin(self, name: str, begin: Callable[[], BaseProcess]) -> None:
        self._processes[name] = await asyncio.to_thread(begin)

    async def all_up(self) -> None:
        """Whatever was killed and has no successor yet gets one; a web process has the port it had."""
        if self._with_web and "web" not in self._processes:
            await self._begin_web()
        if self._killed_temporal is not None:
            await self._temporal_is_back(self._killed_temporal)
        if "worker" not in self._processes:
            await self.begin_worker()

    async def _begin_web(self) -> None:
        await self._begin("web", self.web.begin)
        await self.web.ready()

    async def _temporal_is_back(self, killed: int) -> None:
        """Its keeper starts it again."""
        while (now := read_address(self.root / "temporal")) is None or now.pid == killed:
            await asyncio.sleep(LOOK_EVERY)
        self._killed_temporal = None

    def kill_worker(self) -> None:
        """kill -9."""
        self._kill("worker")

    def kill_web(self) -> None:
        """kill -9."""
        self._kill("web")

    def _kill(self, name: str) -> None:
        process = self._processes.pop(name)
        assert process.exitcode is None, f"the {name} process has ended by itself with {process.exitcode}"
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL

    def kill_temporal(self) -> None:
        """kill -9."""
        running = read_address(self.root / "temporal")
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
        self._killed_temporal = running.pid

    async def spoil(self, *rules: FaultRule) -> None:
        """GitHub's faults, added to those there are. GitHub takes them all anew, so that those that have struck are
        left out, and those that wait for the n-th call are told how many came meanwhile.
        """
        async with self._steady:
            await self._spoil(rules)

    async def spoil_and_wait(self, *rules: FaultRule) -> None:
        """Nobody adds others until these have struck: a call that comes in that very moment would not be counted."""
        await self._steady.acquire()
        since = len(self._ledger.look())
        await self._spoil(rules)
        self._waiting.add(asyncio.create_task(self._release(rules, since)))

    async def _release(self, rules: Sequence[FaultRule], since: int) -> None:
        try:
            async with asyncio.timeout(_STEADY_SECONDS):
                while not all(self._has_struck(rule, since) for rule in rules):
                    await asyncio.sleep(LOOK_EVERY)
        except TimeoutError:
            pass  # its sweep has come to grief before; that is for its judge to say
        finally:
            self._steady.release()

    async def _spoil(self, rules: Sequence[FaultRule]) -> None:
        now = len(self._ledger.look())
        self._rules = [(rule, since) for rule, since in self._rules if not self._has_struck(rule, since)]
        self._rules += [(rule, now) for rule in rules]
        await self.drive.faults(*(self._as_of_now(rule, since) for rule, since in self._rules))

    def _has_struck(self, rule: FaultRule, since: int) -> bool:
        return sum(call.fault == rule.kind for call in self._met(rule, since)) >= rule.times

    def _as_of_now(self, rule: FaultRule, since: int) -> FaultRule:
        if rule.nth is None:
            return rule
        return rule.model_copy(update={"nth": max(1, rule.nth - len(self._met(rule, since)))})

    def _met(self, rule: FaultRule, since: int) -> list[LedgerCall]:
        found = self._ledger.look()[since:]
        return [call for call in found if rule.method in ("*", call.method) and _is_for(rule, call)]

    async def let_go(self) -> None:
        """No more faults; what was held, on GitHub or in a program, goes on."""
        self._rules.clear()
        await self.drive.faults()
        self.tools.go()

    @asynccontextmanager
    async def hearing_nothing(self, wanted: bool) -> AsyncIterator[None]:
        """Webhooks are kept back meanwhile, if that is wanted."""
        if not wanted:
            yield
            return
        async with self._quiet:
            await self.drive.hooks(HookMode.HOLD)
            yield
            await self.drive.hooks(HookMode.RELEASE)

    async def trial(self, scenario: Scenario) -> "Trial":
        """The red run of a story; its sweep is not started yet, unless the web process hears of it."""
        self._number += 1
        name = f"trial-{self._number}"
        ledger = LedgerFile(self.root / "github", f"octo/{name}")
        red = await red_run(self.drive, f"octo/{name}", {LABEL: f"/{name}.\n"}, scenario.log)
        return Trial(self, name, red, ids.sweep_id(red.ref, self.info.url), ledger)


@dataclass(frozen=True)
class Trial:
    """One sweep of a company, and `others` of its repository."""

    company: Company
    name: str
    red: RedRun
    sweep_id: str
    ledger: LedgerFile
    others: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What the directories about its repository are named by."""
        return str(self.red.ref.repository_id)

    def doom(self, activity: str, moment: Moment) -> None:
        """What is to happen to it, or to another sweep of its repository."""
        doom = Doom(name=self.name, activity=activity, moment=moment)
        self.company.dooms.tell(doom, self.sweep_id, f"target-{self.key}")

    async def start(self, scenario: Scenario, settings: SweepSettings, *, by_webhook: bool = False) -> None:
        """The trigger, unless a webhook is that, and GitHub's own part in the story."""
        here = f"^/repos/octo/{self.name}/pulls"
        rules = [FaultRule.model_validate({**fault, "path": f"{here}{fault['path']}"}) for fault in scenario.faults]
        if any(rule.nth for rule in rules):
            await self.company.spoil_and_wait(*rules)
        elif rules:
            await self.company.spoil(*rules)
        timeouts = settings.timeouts.model_copy(update={"tries": scenario.tries})
        settings = settings.model_copy(update={"timeouts": timeouts, **scenario.settings})
        if not by_webhook:
            await self._start(self.red.ref, self.sweep_id, settings)

    async def _start(self, run: RunRef, sweep_id: str, settings: SweepSettings) -> None:
        trigger = Trigger(source=TriggerSource.WORKFLOW_RUN)
        await _until_heard(
            lambda: self.company.client.start_workflow(
                SweepWorkflow.run,
                SweepInput(run=run, trigger=trigger, settings=settings),
                id=sweep_id,
                task_queue=TASK_QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            )
        )

    async def fails_again(self, failing: str) -> str:
        """Another run fails; its sweep is started here, or by its webhook if that is quicker."""
        again = await red_again(self.company.drive, self.red, failing)
        other = ids.sweep_id(again.ref, self.company.info.url)
        self.others.append(other)
        self.company.dooms.like(self.sweep_id, other)
        await self._start(again.ref, other, sweep_settings(QUICK))
        return other

    async def ends(self, sweep_id: str) -> None:
        """Wait for another one's end."""
        await self._result_of(sweep_id)

    def people(self) -> People:
        """Those who act on it from outside."""
        return People(
            drive=self.company.drive,
            ledger=self.ledger,
            run=self.red.ref,
            cancel=self.cancel,
            fails_again=self.fails_again,
            ends=self.ends,
        )

    async def repository(self) -> RepoSeen:
        """As GitHub has it now."""
        repos = (await self.company.drive.world()).repos
        return next(repo for repo in repos if repo.id == self.red.ref.repository_id)

    async def cancel(self) -> None:
        """The operator's word, said again until Temporal takes it."""
        await _until_heard(
            lambda: self.company.client.get_workflow_handle(self.sweep_id).signal("cancel", "the operator said so")
        )

    async def result(self) -> SweepResult:
        """How it ended; a Temporal that is away for a while is waited for."""
        return await self._result_of(self.sweep_id)

    async def _result_of(self, sweep_id: str) -> SweepResult:
        handle = self.company.client.get_workflow_handle_for(SweepWorkflow.run, sweep_id)
        while True:
            with suppress(RPCError):
                return await handle.result()
            await asyncio.sleep(LOOK_EVERY)

    @property
    def processes(self) -> str:
        """A pattern for the processes that work on its files."""
        place = re.escape(str(self.company.life.state_dir / "worktrees"))
        return rf"{place}/(trees|mirrors)/{self.key}\b"


def _is_for(rule: FaultRule, call: LedgerCall) -> bool:
    """As GitHub's faults match: with or without the query."""
    return any(re.search(rule.path, target) for target in (call.path, f"{call.path}?{call.query}"))


async def _until_heard(say: Callable[[], Awaitable[object]]) -> None:
    while True:
        with suppress(RPCError):
            await say()
            return
        await asyncio.sleep(LOOK_EVERY)
