"""The lines of a log: cut out of chunks of bytes in bounded memory, and freed of what only the display needs.

Format as observed on GitHub's runners: a timestamp with seven decimals before each line, a byte order mark before the
first, colours left in, progress bars that redraw a line after a carriage return, lines of any length. Lines without a
timestamp continue a multi-line value.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sweeper.policy.triage.pattern import LONGEST_LINE

KEPT_OF_AN_END = 4096
"""Bytes of each end of a line that are kept; what lies between is not looked at."""

GAP = " [...] "
_PIECE = 1 << 16
_TIMESTAMP = re.compile(r"\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z ?")
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_GH_COLUMNS = re.compile(r"([^\t\n]{1,300})\t([^\t\n]{1,300})\t(?=\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)")
_HEAD = LONGEST_LINE * 2 // 3
_TAIL = LONGEST_LINE - _HEAD - len(GAP)


class RawLine(NamedTuple):
    """A line as it stands in the log, without its timestamp; of one that was redrawn, the last state.

    `job` and `step` are the columns that `gh run view --log` puts first.
    """

    text: str
    has_timestamp: bool
    job: str = ""
    step: str = ""


class LineReader:
    """Tells lines of a log one by one. Knows once a log has the columns of `gh` that all its lines have them."""

    def __init__(self) -> None:
        self._has_columns = False

    def read(self, raw: bytes) -> RawLine:
        """Never fails: bytes that are no text are replaced."""
        text = raw.decode("utf-8", "replace")
        job = step = ""
        if "\t" in text and not _TIMESTAMP.match(text):
            job, step, text = self._without_columns(text)
        stamped = _TIMESTAMP.match(text)
        text = text[stamped.end() :] if stamped else text.removeprefix("\ufeff")
        return RawLine(_last_state(text), stamped is not None, job, step)

    def _without_columns(self, text: str) -> tuple[str, str, str]:
        if columns := _GH_COLUMNS.match(text.removeprefix("\ufeff")):
            self._has_columns = True
            return columns[1], _known(columns[2]), text.removeprefix("\ufeff")[columns.end() :]
        parts = text.split("\t", 2)
        if self._has_columns and len(parts) > 2:
            return parts[0], _known(parts[1]), parts[2]
        return "", "", text


def plain(text: str) -> str:
    """Without colours and other sequences of a terminal, and no longer than `LONGEST_LINE`: both ends stay."""
    if "\x1b" in text:
        text = _SEQUENCE.sub("", text)
    return text if len(text) <= LONGEST_LINE else text[:_HEAD] + GAP + text[-_TAIL:]


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of the chunks put together; of one that is very long, both ends. Where chunks end makes no difference.

    Holds at most one line's two ends and 64 KiB more.
    """
    line = _LongLine()
    for chunk in chunks:
        for start in range(0, len(chunk), _PIECE):
            first, *more = chunk[start : start + _PIECE].split(b"\n")
            line.add(first)
            for part in more:
                yield line.take()
                line.add(part)
    if not line.is_empty:
        yield line.take()


class _LongLine:
    """A line in the making."""

    def __init__(self) -> None:
        self._start = b""
        self._end: bytearray | None = None

    @property
    def is_empty(self) -> bool:
        return not self._start

    def add(self, part: bytes) -> None:
        if self._end is None:
            self._start += part
            if len(self._start) > 2 * KEPT_OF_AN_END:
                self._end = bytearray(self._start[-KEPT_OF_AN_END:])
                self._start = self._start[:KEPT_OF_AN_END]
        else:
            self._end += part
            del self._end[:-KEPT_OF_AN_END]

    def take(self) -> bytes:
        line = self._start if self._end is None else self._start + GAP.encode() + bytes(self._end)
        self._start, self._end = b"", None
        return line


def _known(step: str) -> str:
    """Where `gh` cannot tell which step a line is of, the log's own marks have to."""
    return "" if step == "UNKNOWN STEP" else step


def _last_state(text: str) -> str:
    if "\r" not in text:
        return text
    return text.rstrip("\r").rsplit("\r", 1)[-1]
