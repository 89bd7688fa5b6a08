"""Every activity is implemented once, registered where it is asked for, and says why calling it twice is safe."""

import inspect
import re
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr
from temporalio.worker import Worker

from adapters.agents.llm.activities import ModelActivities
from sweeper.activities import evidence, names, proposal, spending, targets, tools, upkeep, workbench
from sweeper.activities.names import TASK_QUEUE
from sweeper.model import Checkpoint, SweepInput, SweepResult
from sweeper.worker import build_workers
from sweeper.workflows.attempt import AttemptInput
from tests.support.scene import Scene
from tests.support.temporal import time_skipping_env

BODIES = (
    evidence.EvidenceActivities,
    proposal.ProposalActivities,
    workbench.WorkbenchActivities,
    tools.ToolActivities,
    ModelActivities,
    targets.TargetActivities,
    spending.SpendingActivities,
    upkeep.UpkeepActivities,
)
SAFE_TWICE = re.compile(r"\btwice\b|\brepeat", re.IGNORECASE)


def _implementations() -> list[tuple[str, Callable[..., Any]]]:
    """Activity name to method, of all classes."""
    found = []
    for body in BODIES:
        for method in vars(body).values():
            definition = getattr(method, "__temporal_activity_definition", None)
            if definition is not None:
                found.append((definition.name, method))
    return found


def test_every_activity_is_implemented_exactly_once() -> None:
    assert sorted(name for name, _ in _implementations()) == sorted(act.name for act in names.ALL)


def test_every_contract_is_listed() -> None:
    contracts = [value for value in vars(names).values() if isinstance(value, names.Activity)]
    assert sorted(act.name for act in contracts) == sorted(act.name for act in names.ALL)


@pytest.mark.parametrize("act", names.ALL, ids=lambda act: act.name)
def test_an_implementation_takes_and_gives_what_its_contract_says(act: names.Activity[Any, Any]) -> None:
    (method,) = (method for name, method in _implementations() if name == act.name)
    hints = typing.get_type_hints(method)
    assert hints.pop("return") is act.gives
    assert list(hints.values()) == [act.takes]


async def test_every_activity_is_registered_on_the_queue_it_is_asked_on() -> None:
    async with time_skipping_env() as env:
        scene = Scene(env)
        workers = build_workers(env.client, scene.ports, scene.durable)
        registered = {worker.task_queue: sorted(_registered(worker)) for worker in workers}
    assert registered == {
        TASK_QUEUE: sorted(act.name for act in names.ALL if not act.on_host and act is not names.MODEL_READY),
        "host-here": sorted(act.name for act in names.ALL if act.on_host),
    }


def _registered(worker: Worker) -> Iterator[str]:
    for method in worker.config()["activities"]:
        yield getattr(method, "__temporal_activity_definition").name


@pytest.mark.parametrize(
    ("name", "method"), _implementations(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_activity_says_why_calling_it_twice_is_safe(name: str, method: Callable[..., Any]) -> None:
    said = f"{inspect.getdoc(method)} {inspect.getmodule(method).__doc__}"
    assert SAFE_TWICE.search(said), f"{name} does not say so, and its module neither"


def _reachable(annotation: Any, seen: dict[type[BaseModel], None]) -> Iterator[tuple[str, Any]]:
    """Every field type below a model: where it stands, and what it is."""
    for argument in typing.get_args(annotation):
        yield from _reachable(argument, seen)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in seen:
        seen[annotation] = None
        for name, field in annotation.model_fields.items():
            yield f"{annotation.__name__}.{name}", field.annotation
            yield from _reachable(field.annotation, seen)


def _mentions(annotation: Any, kinds: tuple[type, ...]) -> bool:
    if isinstance(annotation, type):
        return issubclass(annotation, kinds)
    return any(_mentions(argument, kinds) for argument in typing.get_args(annotation))


def test_no_secret_and_no_raw_bytes_can_enter_a_history() -> None:
    roots = [SweepInput, SweepResult, Checkpoint, AttemptInput]
    roots += [model for act in names.ALL for model in (act.takes, act.gives)]
    seen: dict[type[BaseModel], None] = {}
    fields = [field for root in roots for field in _reachable(root, seen)]
    assert len(seen) > 30
    assert [name for name, kind in fields if _mentions(kind, (SecretStr, bytes, bytearray))] == []
