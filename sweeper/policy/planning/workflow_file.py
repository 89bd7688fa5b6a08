"""A GitHub Actions workflow file, as far as a check plan needs it.

Names of keys: GitHub's "Workflow syntax for GitHub Actions". What may also be an expression, or is asked for
only if its job failed, is kept as it is.
"""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from sweeper.errors import Unverifiable
from sweeper.policy.planning import hostile_yaml
from sweeper.policy.planning.values import as_value, text

WHOLE = "*"
"""Key of an `env` that is one expression for the whole mapping: kept, so that it is not overlooked."""


def _text(value: object) -> object:
    """A scalar as GitHub writes it out; anything else is left for the model to refuse."""
    return text(as_value(value)) if value is None or isinstance(value, bool | float | int) else value


def _mapping(value: object) -> object:
    return value if isinstance(value, dict) else {WHOLE: value} if value else {}


Text = Annotated[str, BeforeValidator(_text)]
Env = Annotated[dict[Text, Text], BeforeValidator(_mapping)]


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True, frozen=True)


class RunDefaults(_Lenient):
    """What `run` steps take if they say nothing else."""

    shell: Text | None = None
    working_directory: Text | None = Field(default=None, alias="working-directory")


class Defaults(_Lenient):
    """`defaults:` of a workflow or job."""

    run: RunDefaults = RunDefaults()


class WorkflowStep(_Lenient):
    """A step: a script (`run`) or an action (`uses`)."""

    id: Text = ""
    name: Text | None = None
    run: Text | None = None
    uses: Text | None = None
    inputs: Env = Field(default={}, alias="with")
    env: Env = {}
    shell: Text | None = None
    working_directory: Text | None = Field(default=None, alias="working-directory")
    condition: Text = Field(default="", alias="if")
    continue_on_error: Text = Field(default="", alias="continue-on-error")
    timeout_minutes: Text = Field(default="", alias="timeout-minutes")

    @property
    def title(self) -> str:
        """The step's name as the API reports it, expressions not yet worked out."""
        if self.name:
            return self.name
        return "Run " + (self.run.strip().splitlines()[0] if self.run and self.run.strip() else self.uses or "")


class WorkflowJob(_Lenient):
    """A job with its steps; a job that calls another workflow has `uses` and none."""

    name: Text | None = None
    runs_on: object = Field(default=None, alias="runs-on")
    strategy: object = None
    env: Env = {}
    defaults: Defaults = Defaults()
    steps: tuple[WorkflowStep, ...] = ()
    uses: Text | None = None
    container: object = None
    services: object = None


class WorkflowFile(_Lenient):
    """The whole file."""

    env: Env = {}
    defaults: Defaults = Defaults()
    jobs: dict[Text, WorkflowJob] = {}


def read_workflow(data: bytes) -> WorkflowFile:
    """The file as a model. Raises Unverifiable with a reason for a text that is none."""
    try:
        return WorkflowFile.model_validate(hostile_yaml.read(data) or {})
    except ValidationError as error:
        raise Unverifiable("the workflow file is not valid YAML of a workflow") from error
    except (ValueError, RecursionError) as error:
        raise Unverifiable(f"the workflow file {error}".replace("valid YAML", "valid YAML of a workflow")) from error
