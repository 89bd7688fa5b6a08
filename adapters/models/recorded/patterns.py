"""Regular expressions in scripts, checked where they are written and not where they are needed."""

import re
from typing import Annotated

from pydantic import AfterValidator


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


def first_match(pattern: str, text: str) -> str:
    """The first group of the first match, or all of it; nothing without a match."""
    found = re.search(pattern, text)
    if found is None:
        return ""
    return (found.group(1) if found.re.groups else found.group()) or ""
