"""Doing what a model asks: one activity per use of a tool, in the order they were asked for."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from temporalio import workflow

from adapters.agents.llm.meter import Meter
from sweeper.activities import names
from sweeper.activities.names import Activity, In, Out
from sweeper.activities.toolbox import ANSWER_BYTES, Bench, ToolAnswer
from sweeper.model import Timeouts
from sweeper.model.journal import RecordState
from sweeper.policy.briefing import BAR
from sweeper.workflows.calls import Calls
from sweeper.workflows.waits import Bell

MOST_SUSPICIONS = 50
_CUT = "\n[... cut; ask for less at a time ...]"


class Hands:
    """Keeps where the journal is. Another host can go on from its bundle when the one that has it is lost.

    One use at a time: an edit asked for before a check is made before it, and no two edits start from the same tip.
    """

    def __init__(self, timeouts: Timeouts, host: str, home: str | None, bench: Bench, meter: Meter) -> None:
        self._calls = Calls(timeouts, _waiting, Bell(), host, home or names.TASK_QUEUE)
        self._timeouts = timeouts
        self._meter = meter
        self._turn = asyncio.Lock()
        self.bench = bench
        self.suspicions: tuple[str, ...] = ()
        self.actions = 0

    @property
    def host(self) -> str:
        """The one that has the journal now."""
        return self._calls.host or ""

    async def use(self, act: Activity[In, ToolAnswer], ask: Callable[[Bench], In], scale: int = 1) -> ToolAnswer:
        """The tool's answer. Raises what `Calls.do` raises."""
        async with self._turn:
            began = workflow.now()
            try:
                answer = await self._calls.do(act, ask(self.bench), scale)
            finally:
                self._meter.took(workflow.now() - began, getattr(self._timeouts, act.timing) * scale)
            self._keep(answer)
            return answer

    async def do(self, act: Activity[In, Out], request: In) -> Out:
        """What is no tool of the model's."""
        return await self._calls.do(act, request)

    def _keep(self, answer: ToolAnswer) -> None:
        self.bench = self.bench.model_copy(update={"tip": answer.tip, "bundle": answer.bundle})
        self.suspicions = tuple(dict.fromkeys((*self.suspicions, *answer.suspicions)))[:MOST_SUSPICIONS]
        if answer.state in (RecordState.CREATED, RecordState.DEDUPLICATED):
            self.actions += 1


def as_data(text: str) -> str:
    """A tool's answer as the prompt promises it: every line behind a bar, at most ANSWER_BYTES."""
    data = "\n".join(BAR + line for line in text.splitlines()).encode("utf-8", "replace")
    if len(data) <= ANSWER_BYTES:
        return data.decode()
    return data[: ANSWER_BYTES - len(_CUT)].decode("utf-8", "ignore") + _CUT


def _waiting(what: str, until: datetime) -> None:
    workflow.logger.info("the agent waits for %s until %s", what, until)
