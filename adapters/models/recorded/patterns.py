"""Regular expressions in scripts, checked where they are written and not where they are needed."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


def first_match(pattern: str, texts: Iterable[str]) -> str:
    """In the first of the texts that has one: the match's first group, or all of it. Nothing without a match."""
    for text in texts:
        if found := re.search(pattern, text):
            return (found.group(1) if found.re.groups else found.group()) or ""
    return ""
