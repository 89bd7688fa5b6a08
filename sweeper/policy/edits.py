"""Edits of single files as agents ask for them: on bytes, so that what is not meant stays as it is."""

from sweeper.errors import BadInput

_LONGEST_LINE = 2000


def replaced(content: bytes, old: str, new: str) -> bytes:
    """`content` with the one place where `old` stands holding `new`; all other bytes are the same.

    In a file whose lines end with CR LF, both texts may be written with LF alone. Raises BadInput if `old` is empty,
    is nowhere, or in more than one place.
    """
    if not old:
        raise BadInput("The text to replace is empty; give the lines as they are in the file.")
    before, after = old.encode(), new.encode()
    if before not in content and b"\r\n" in content:
        before, after = (text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for text in (before, after))
    places = content.count(before)
    if places == 0:
        raise BadInput("The text to replace is not in the file as given; read the file and copy the lines exactly.")
    if places > 1:
        raise BadInput(f"The text to replace is in the file {places} times; give more lines around it.")
    return content.replace(before, after)


def numbered_lines(content: bytes, first: int, last: int | None) -> str:
    """Lines `first` to `last` (counted from 1, both included), each behind its number. Raises BadInput if there are
    none, or the file is no text.
    """
    if b"\0" in content[:8000]:
        raise BadInput("This file is no text; read another one.")
    lines = content.decode("utf-8", "replace").splitlines()
    if first < 1 or (last is not None and last < first):
        raise BadInput("Lines are counted from 1, and the last one comes after the first; ask again.")
    shown = lines[first - 1 : last]
    if not shown and (lines or first > 1):
        raise BadInput(f"The file has {len(lines)} lines; ask for some of them.")
    return "\n".join(f"{number}: {line[:_LONGEST_LINE]}" for number, line in enumerate(shown, start=first))
