"""The `llm` agent on a real server with tools that keep their files in memory and a model that follows a script."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage
from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from adapters.agents.llm.agent import ModelFor
from adapters.agents.llm.folding import turns_left_out
from adapters.agents.llm.guard import GuardedModel
from adapters.agents.llm.worker import WorkerKit, build_llm_worker
from sweeper.activities import names, requests, toolbox
from sweeper.activities.names import TASK_QUEUE, host_queue
from sweeper.activities.toolbox import ANSWER_BYTES, Bench, ToolAnswer
from sweeper.errors import NotFound
from sweeper.model import Allowance, Check, CheckPlan, Limits, Patch, Reproduction, Timeouts
from sweeper.model.journal import RecordState
from sweeper.policy.model_access import ModelAccess
from sweeper.worker import EdgeInterceptor, workflow_runner
from tests.support.values import FAILING_SHA, diagnosis, run_facts

HOST = "here"
MODEL = "openai:stand-in"
ACCESS = ModelAccess(name=MODEL, url="http://127.0.0.1:1/v1")
FINISH = {"cause": "a typo", "change": "mended it", "risk": "none", "confidence": "high"}
CHECK = Check(name="pytest", command="pytest -q")


def attempt_request(**changes: object) -> requests.AttemptRequest:
    """An attempt of the `llm` agent with a plan of one check."""
    request = requests.AttemptRequest(
        sweep="1001-1",
        n=1,
        agent="llm",
        base=FAILING_SHA,
        facts=run_facts(),
        diagnosis=diagnosis(),
        plan=CheckPlan(checks=(CHECK,)),
        reproduction=Reproduction(),
        limits=Limits(),
        agent_timeout=timedelta(minutes=30),
        allowance=Allowance(),
    )
    return request.model_copy(update=changes)


@dataclass
class MemoryTools:
    """The tools' activities over one file tree per tip. Look at `used`, `edits` and `reports`. `is_lost`: the end of an
    attempt cannot be recorded; `journal_is_lost`: nor can anything be searched.
    """

    files: dict[str, str] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    edits: dict[str, int] = field(default_factory=dict)
    reports: list[toolbox.FinishRequest] = field(default_factory=list)
    trees: dict[str, dict[str, str]] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)
    briefing: str = "The check pytest fails in app.py."
    suspicions: tuple[str, ...] = ()
    is_lost: bool = False
    journal_is_lost: bool = False

    def tree(self, tip: str) -> dict[str, str]:
        return self.trees.setdefault(tip, dict(self.files)) if tip == FAILING_SHA else self.trees[tip]

    def at_the_end(self) -> dict[str, str]:
        return self.tree(self.reports[-1].bench.tip)

    def _answer(self, bench: Bench, text: str, is_error: bool = False) -> ToolAnswer:
        self.used.append(activity.info().activity_type)
        return ToolAnswer(text=text[:ANSWER_BYTES], is_error=is_error, tip=bench.tip, suspicions=self.suspicions)

    def _change(self, bench: Bench, path: str, content: str | None) -> ToolAnswer:
        info = activity.info()
        key = f"{info.workflow_id}/{info.workflow_run_id}/{info.activity_id}"
        self.used.append(info.activity_type)
        state = RecordState.DEDUPLICATED
        if key not in self.done:
            tree = {name: text for name, text in self.tree(bench.tip).items() if name != path}
            if content is not None:
                tree[path] = content
            self.done[key] = hashlib.sha1(f"{bench.tip} {sorted(tree.items())}".encode()).hexdigest()
            self.trees[self.done[key]] = tree
            self.edits[key] = self.edits.get(key, 0) + 1
            state = RecordState.CREATED
        return ToolAnswer(text=f"{path}: done.", tip=self.done[key], state=state)

    @activity.defn(name=names.BRIEF_AGENT.name)
    async def brief_agent(self, request: requests.AttemptRequest) -> toolbox.Briefing:
        return toolbox.Briefing(text=self.briefing)

    @activity.defn(name=names.LIST_FILES.name)
    async def list_files(self, request: toolbox.ListFiles) -> ToolAnswer:
        return self._answer(request.bench, "\n".join(self.tree(request.bench.tip)))

    @activity.defn(name=names.READ_FILE.name)
    async def read_file(self, request: toolbox.ReadFile) -> ToolAnswer:
        found = self.tree(request.bench.tip).get(request.path)
        return self._answer(request.bench, "There is no such file." if found is None else found, found is None)

    @activity.defn(name=names.SEARCH_FILES.name)
    async def search_files(self, request: toolbox.SearchFiles) -> ToolAnswer:
        if self.journal_is_lost:
            raise NotFound("The journal is gone; let a new attempt begin.")
        found = [path for path, text in self.tree(request.bench.tip).items() if request.pattern in text]
        return self._answer(request.bench, "\n".join(found))

    @activity.defn(name=names.EDIT_FILE.name)
    async def edit_file(self, request: toolbox.EditFile) -> ToolAnswer:
        content = self.tree(request.bench.tip).get(request.path, "")
        if content.count(request.old) != 1:
            return self._answer(request.bench, "The text to replace is not in the file once.", is_error=True)
        return self._change(request.bench, request.path, content.replace(request.old, request.new))

    @activity.defn(name=names.WRITE_FILE.name)
    async def write_file(self, request: toolbox.WriteFile) -> ToolAnswer:
        return self._change(request.bench, request.path, request.content)

    @activity.defn(name=names.DELETE_FILE.name)
    async def delete_file(self, request: toolbox.DeleteFile) -> ToolAnswer:
        return self._change(request.bench, request.path, None)

    @activity.defn(name=names.RUN_CHECK.name)
    async def run_check(self, request: toolbox.RunCheck) -> ToolAnswer:
        green = "broken" not in "".join(self.tree(request.bench.tip).values())
        return self._answer(request.bench, "the check passed" if green else "the check failed")

    @activity.defn(name=names.FINISH_ATTEMPT.name)
    async def finish_attempt(self, request: toolbox.FinishRequest) -> requests.FixAnswer:
        self.reports.append(request)
        if self.is_lost:
            raise NotFound("The journal is gone; let a new attempt begin.")
        tip = request.bench.tip
        patch = Patch(commit=tip, tree=tip, parent=FAILING_SHA, patch_id=tip) if tip != FAILING_SHA else None
        return requests.FixAnswer(report=request.report, patch=patch)

    @activity.defn(name=names.CHOOSE_HOST.name)
    async def choose_host(self, request: requests.Nothing) -> requests.HostChoice:
        return requests.HostChoice(host=HOST)

    def workers(self, client: Client) -> list[Worker]:
        """Of any host and of this one."""
        anywhere: list[Callable[..., Any]] = [self.brief_agent, self.choose_host]
        here: list[Callable[..., Any]] = [
            self.list_files,
            self.read_file,
            self.search_files,
            self.edit_file,
            self.write_file,
            self.delete_file,
            self.run_check,
            self.finish_attempt,
        ]
        kinds: list[tuple[str, Sequence[Callable[..., Any]]]] = [(TASK_QUEUE, anywhere), (host_queue(HOST), here)]
        return [
            Worker(client, task_queue=queue, activities=activities, interceptors=[EdgeInterceptor()])
            for queue, activities in kinds
        ]


Turn = ModelResponse | Sequence[tuple[str, dict[str, Any]]] | Exception
Says = Callable[[int], Turn]


def turn(*calls: tuple[str, dict[str, Any]], ids: Sequence[str] | None = None) -> ModelResponse:
    """An answer that asks for tools."""
    parts = [
        ToolCallPart(tool_name=name, args=args, tool_call_id=ids[index] if ids else f"call_{index}")
        for index, (name, args) in enumerate(calls)
    ]
    return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=100, output_tokens=10))


@dataclass
class ScriptedModel:
    """Answers by how many answers the conversation already has, so a repeated question gets the same one.

    Look at `asked`: for each question the number of its turn, and at `seen`: the messages it came with. `holds`: the
    turn at which it thinks for ever.
    """

    says: Says
    holds: int | None = None
    asked: list[int] = field(default_factory=list)
    seen: list[list[ModelMessage]] = field(default_factory=list)
    infos: list[AgentInfo] = field(default_factory=list)

    def __call__(self, name: str) -> Model:
        return GuardedModel(FunctionModel(self._answer, model_name=name))

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        number = turns_left_out(messages) + sum(isinstance(message, ModelResponse) for message in messages)
        self.asked.append(number)
        self.seen.append(messages)
        self.infos.append(info)
        if number == self.holds:
            await asyncio.Event().wait()
        said = self.says(number)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, ModelResponse) else turn(*said)


def script(*turns: Turn) -> ScriptedModel:
    """One turn after the other; the last one for ever."""
    return ScriptedModel(lambda number: turns[min(number, len(turns) - 1)])


@asynccontextmanager
async def working(
    client: Client, tools: MemoryTools, model_for: ModelFor, access: ModelAccess = ACCESS
) -> AsyncIterator[None]:
    """All workers an attempt needs, while this lasts."""
    async with AsyncExitStack() as stack:
        for worker in [*tools.workers(client), llm_worker(client, model_for, access)]:
            await stack.enter_async_context(worker)
        yield


def llm_worker(client: Client, model_for: ModelFor, access: ModelAccess = ACCESS) -> Worker:
    """The agent's own."""
    kit = WorkerKit(runner=workflow_runner(), interceptors=[EdgeInterceptor()], grace=timedelta(seconds=1))
    return build_llm_worker(client, access, model_for, kit)


async def start(
    client: Client, request: requests.AttemptRequest | None = None, timeouts: Timeouts | None = None
) -> WorkflowHandle[Any, requests.FixAnswer]:
    """An attempt that goes on by itself."""
    return await client.start_workflow(
        names.MODEL_WORKFLOW,
        toolbox.ModelTask(attempt=request or attempt_request(), host=HOST, timeouts=timeouts or Timeouts()),
        id="attempt-1001-1-1-llm",
        task_queue=names.MODEL_QUEUE,
        result_type=requests.FixAnswer,
    )
