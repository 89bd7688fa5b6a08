"""The two bases every value of ours has."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


def _require_timezone(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a time without a time zone is ambiguous")
    return value


Instant = Annotated[datetime, AfterValidator(_require_timezone)]
"""A point in time with its zone; ours are UTC."""


class Wire(BaseModel):
    """Lives in workflow history, so it must be readable by older and newer code.

    Unknown fields are ignored. A new field has a default; a field is never retyped.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


class Strict(BaseModel):
    """Written by people (configuration, commands): an unknown field is a mistake and is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
