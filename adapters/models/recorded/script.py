"""The script: what the model says, turn by turn, in words of no protocol."""

from pathlib import Path
from typing import Self

import yaml
from pydantic import Field, JsonValue, ValidationError, field_validator

from adapters.models.recorded.complaint import complaint
from adapters.models.recorded.faults import FaultRule
from adapters.models.recorded.patterns import Pattern
from sweeper.errors import BadInput
from sweeper.model import Strict


class ToolCall(Strict):
    """A call of a tool by the name it has in the request.

    `take`: name to regular expression, searched in the newest tool result that matches; wherever a text in `arguments`
    holds `{{name}}`, the first group of the match (or all of it) stands there instead. No match: nothing does.
    """

    name: str
    arguments: dict[str, JsonValue] = {}
    take: dict[str, Pattern] = {}


class Usage(Strict):
    """Tokens that a turn claims to have cost. `cached` are those of `input` that were read from a cache."""

    input: int = Field(ge=0)
    output: int = Field(ge=0)
    cached: int = Field(default=0, ge=0)


class Turn(Strict):
    """What is said once: a text, tool calls, or both. Without `usage` it is estimated from the lengths.

    Turns with the same `when` are a conversation of their own, in the order of the script. A request belongs to the
    first conversation whose `when` stands in its system prompt or in what the user says, else to the one without.
    """

    when: str | None = None
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None


class Script(Strict):
    """All turns, and what is said when none of them fits: past the end, or calls where no tool was offered."""

    turns: tuple[Turn, ...] = ()
    fallback: Turn = Turn(text="There is nothing to do.")
    faults: tuple[FaultRule, ...] = ()
    models: tuple[str, ...] = ("recorded",)

    @field_validator("fallback")
    @classmethod
    def _fallback_fits_always(cls, fallback: Turn) -> Turn:
        if fallback.calls or fallback.when is not None:
            raise ValueError("the fallback answers whatever is asked, so it is a text without calls and `when`")
        return fallback

    @classmethod
    def load(cls, file: Path) -> Self:
        """From YAML or JSON. Raises BadInput when it cannot be read or is no script."""
        try:
            return cls.model_validate(yaml.safe_load(file.read_text()))
        except OSError as error:
            raise BadInput(f"The script {file} cannot be read ({error.strerror}); give the path of a file.") from error
        except ValidationError as error:
            raise BadInput(f"{file} is no script; mend {complaint(error)}.") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise BadInput(f"{file} is no script; write it as YAML or JSON.") from error
