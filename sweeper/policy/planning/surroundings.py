"""What a job asks of the machine it runs on, and whether that is to be had here."""

from sweeper.errors import Unverifiable
from sweeper.policy.planning.evaluation import Scope
from sweeper.policy.planning.matrix import resolve
from sweeper.policy.planning.syntax import shortened
from sweeper.policy.planning.values import Value, as_value, text
from sweeper.policy.planning.workflow_file import WorkflowJob

MOST_STEPS = 250
_OTHERS = ("windows", "macos", "mac-", "win-")


def judge_surroundings(job: WorkflowJob, scope: Scope) -> list[str]:
    """Sentences on what is only nearly as there. Raises Unverifiable for what no sandbox here can give."""
    if job.uses is not None:
        raise Unverifiable(f"it calls the workflow {job.uses[:100]!r}, which is not followed")
    if len(job.steps) > MOST_STEPS:
        raise Unverifiable(f"it has more than {MOST_STEPS} steps")
    if job.services:
        raise Unverifiable(f"it needs services ({_names(job.services)}), which are not started here")
    if resolve(as_value(job.container), scope):
        raise Unverifiable("it runs in a container, which is not started here")
    return _judge_runner(resolve(as_value(job.runs_on), scope))


def _names(services: object) -> str:
    return shortened(", ".join(map(str, services)) if isinstance(services, dict) else "by an expression")


def _judge_runner(runs_on: Value) -> list[str]:
    labels = [label.lower() for label in _labels(runs_on)]
    for label in labels:
        if label.startswith(_OTHERS) or label in ("macos", "windows"):
            raise Unverifiable(f"it runs on {label[:40]!r}, and only Linux is to be had here")
    if any(label.endswith(("-arm", "arm64")) for label in labels):
        return ["it ran on ARM in CI; here it runs on this machine's processor"]
    if labels and not any(label.startswith("ubuntu") for label in labels):
        return [f"its runner {shortened(', '.join(labels), 60)!r} is taken for a usual Linux one"]
    return []


def _labels(runs_on: Value) -> list[str]:
    match runs_on:
        case None:
            return []
        case list():
            return [text(label) for label in runs_on]
        case dict():
            return [label for value in runs_on.values() for label in _labels(value)]
    return [text(runs_on)]
