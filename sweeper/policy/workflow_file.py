"""A GitHub Actions workflow file, as far as a check plan needs it.

Whoever may push may write this file, so it is read as hostile: bounded in size, in depth and in what its anchors
unfold to. Scalars follow YAML 1.2 core as GitHub does: `on` and `yes` are words, a date is text, `3.10` is 3.1.
"""

import re
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sweeper.errors import Unverifiable

MAX_BYTES = 128 * 1024
MAX_VALUES = 50_000
_CORE = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """YAML 1.2 core. Every number is read as a float, as GitHub does."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    yaml_constructors = {
        tag: yaml.SafeLoader.yaml_constructors[tag]
        for tag in (None, *(_CORE + kind for kind in ("null", "bool", "float", "str", "seq", "map")))
    }


for _kind, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(_CORE + _kind, re.compile(rf"^(?:{_pattern})$"), _first)


def _text(value: object) -> object:
    """A scalar as GitHub writes it out; anything else is left for the model to refuse."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.15g}"
    return value


def _mapping(value: object) -> object:
    """`env` may also be one expression for the whole mapping; it is kept as a value, so that it is not overlooked."""
    return value if isinstance(value, dict) else {"*": value} if value else {}


Text = Annotated[str, BeforeValidator(_text)]
Env = Annotated[dict[Text, Text], BeforeValidator(_mapping)]


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class RunDefaults(_Lenient):
    """What `run` steps take if they say nothing else."""

    shell: Text | None = None
    working_directory: Text | None = Field(default=None, alias="working-directory")


class Defaults(_Lenient):
    """`defaults:` of a workflow or job."""

    run: RunDefaults = RunDefaults()


class WorkflowStep(_Lenient):
    """A step: a script (`run`) or an action (`uses`)."""

    name: Text | None = None
    run: Text | None = None
    uses: Text | None = None
    env: Env = {}
    shell: Text | None = None
    working_directory: Text | None = Field(default=None, alias="working-directory")

    def shown_as(self) -> str:
        """The step's name as the API reports it."""
        if self.name:
            return self.name
        return "Run " + (self.run.strip().splitlines()[0] if self.run and self.run.strip() else self.uses or "")


class WorkflowJob(_Lenient):
    """A job with its steps; a job that calls another workflow has none."""

    name: Text | None = None
    env: Env = {}
    defaults: Defaults = Defaults()
    steps: list[WorkflowStep] = []


class WorkflowFile(_Lenient):
    """The whole file."""

    env: Env = {}
    defaults: Defaults = Defaults()
    jobs: dict[Text, WorkflowJob] = {}

    def job_called(self, name: str) -> WorkflowJob | None:
        """By key or name; a matrix job is shown as `name (row)`."""
        for key, job in self.jobs.items():
            shown = job.name or key
            if name in (shown, key) or name.startswith(f"{shown} ("):
                return job
        return None


def read_workflow(data: bytes) -> WorkflowFile:
    """The file as a model. Raises Unverifiable with a reason for a text that is none."""
    if len(data) > MAX_BYTES:
        raise Unverifiable(f"the workflow file is larger than {MAX_BYTES // 1024} KiB")
    try:
        value = yaml.load(data, _Loader)  # noqa: S506 - a subclass of SafeLoader with fewer constructors
        _refuse_bombs(value)
        return WorkflowFile.model_validate(value or {})
    except (yaml.YAMLError, ValueError, LookupError, RecursionError) as error:
        raise Unverifiable("the workflow file is not valid YAML of a workflow") from error


def _refuse_bombs(value: Any) -> None:
    """Anchors make a small text a tree of any size; each visit through an alias counts."""
    waiting, visited = [value], 0
    while waiting:
        item = waiting.pop()
        visited += 1
        if visited > MAX_VALUES:
            raise Unverifiable("the workflow file unfolds to too many values")
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
