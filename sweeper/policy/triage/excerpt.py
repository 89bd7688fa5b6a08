"""Excerpts: what of a log a reader, or an agent, needs to see. What is left out is marked, with its size."""

from collections.abc import Iterable, Sequence

from sweeper.policy.triage.cause import deciding, strongest
from sweeper.policy.triage.joblog import JobLog
from sweeper.policy.triage.pattern import Clue
from sweeper.policy.triage.reader import read_log

EXCERPT_BYTES = 4096
_MARK = b"\n[... %d bytes cut ...]\n"
_LONGEST_MARK = len(_MARK) + 12
_MOST_CUTS = 4
_BEFORE = 200

Place = tuple[int, int]
"""Where something starts and ends, in bytes."""


def excerpt(log: bytes, limit: int = EXCERPT_BYTES) -> bytes:
    """At most `limit` bytes: a little of the head, the lines round the error, a little of the tail.

    Each cut is marked with how many bytes it left out. `log` is redacted already. Never fails.
    """
    if len(log) <= limit:
        return log
    room = limit - _MOST_CUTS * _LONGEST_MARK
    if room < _LONGEST_MARK:
        return log[: max(limit, 0)]
    return _joined(log, _places(log, room))


def _places(log: bytes, room: int) -> list[Place]:
    """In order: an eighth each for head and tail, the rest round the errors, or for the tail if there are none."""
    end, edge = len(log), room // 8
    about = _offsets_of_errors(log)
    if not about:
        return _merged(log, [(0, edge), (end - (room - edge), end)])
    first, last, rest = about[0], about[-1], room - 2 * edge
    lead = rest // 8
    if last - first < rest - 2 * lead:
        middle = [_window(first - lead, rest, end)]
    else:
        half = rest // 2
        middle = [_window(first - lead, half, end), _window(last - half + lead, half, end)]
    return _merged(log, [(0, edge), *middle, (end - edge, end)])


def _window(start: int, size: int, end: int) -> Place:
    start = max(0, min(start, end - size))
    return start, min(end, start + size)


def _offsets_of_errors(log: bytes) -> list[int]:
    """Where the error that decides is told, and where the failing step ends."""
    read = read_log([log])
    clues, last_line = _errors(read)
    if not clues:
        return _offsets_of_lines(log, [last_line]) if last_line is not None else []
    chosen = [strongest(clues), clues[-1]]
    lines = [clue.number for clue in chosen] + ([last_line] if last_line is not None else [])
    starts = dict(zip(sorted(set(lines)), _offsets_of_lines(log, sorted(set(lines))), strict=False))
    told = [_inside(log, starts[clue.number], clue) for clue in chosen if clue.number in starts]
    return sorted([*told, *(starts[line] for line in lines[2:] if line in starts)])


def _errors(read: JobLog) -> tuple[Sequence[Clue], int | None]:
    step = read.failing_step()
    if step is None:
        return deciding(clue for part in read.steps for clue in part.clues), None
    return deciding(step.clues), step.last_line


def _offsets_of_lines(log: bytes, numbers: Sequence[int]) -> list[int]:
    """Where lines start, by ascending numbers."""
    offsets: list[int] = []
    at = line = 0
    for number in numbers:
        while line < number:
            found = log.find(b"\n", at)
            if found < 0:
                return offsets
            at, line = found + 1, line + 1
        offsets.append(at)
    return offsets


def _inside(log: bytes, start: int, clue: Clue) -> int:
    """In a line of hundreds of kilobytes the words that were recognised may be far from its start."""
    end = log.find(b"\n", start)
    words = (clue.message or clue.text)[-40:].encode()
    found = log.rfind(words, start, end if end >= 0 else len(log))
    return max(start, found - _BEFORE) if found >= 0 else start


def _merged(log: bytes, places: Iterable[Place]) -> list[Place]:
    merged: list[Place] = []
    for start, end in sorted(_on_characters(log, place) for place in places):
        if merged and start <= merged[-1][1] + _LONGEST_MARK:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _on_characters(log: bytes, place: Place) -> Place:
    """No place begins or ends within a character."""
    start, end = place
    while start < end and log[start] & 0xC0 == 0x80:
        start += 1
    while start < end < len(log) and log[end] & 0xC0 == 0x80:
        end -= 1
    return start, end


def _joined(log: bytes, places: Sequence[Place]) -> bytes:
    parts, at = [], 0
    for start, end in places:
        if start > at:
            parts.append(_MARK % (start - at))
        parts.append(log[start:end])
        at = end
    if at < len(log):
        parts.append(_MARK % (len(log) - at))
    return b"".join(parts)
