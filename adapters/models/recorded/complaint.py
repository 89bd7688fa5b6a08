"""What is wrong with something written by others, in one sentence."""

from pydantic import ValidationError


def complaint(error: ValidationError) -> str:
    """The first thing that is wrong, and where. What was written there is not repeated."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
