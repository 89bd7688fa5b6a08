"""The signature of a failure: the same for the same cause, wherever and whenever it shows.

What differs from run to run is taken out of a tool's words first: times, durations, ids, addresses, ports, places in
files, directories of one machine.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence

from sweeper.model import Strict
from sweeper.policy.triage.paths import base_name, in_repository, is_absolute, without_checkouts
from sweeper.policy.triage.pattern import Clue

MOST_PARTS = 50
MOST_OF_A_MESSAGE = 160
_TEMPORARY = re.compile(
    r"(?:/private)?(?:/tmp|/var/tmp|/var/folders|/home/runner/work/_temp|/__w/_temp|/runner/_work/_temp)"
    r"(?:/[\w.@+~-]*)*|[A-Za-z]:[\\/][^\s'\"]{0,120}?[\\/](?:Temp|_temp)(?:[\\/][\w.@+~-]*)*|\btmp[a-z0-9_]{6,12}\b"
)
_ABSOLUTE = re.compile(r"(?<![\w.:/\\])(?:[A-Za-z]:)?(?:[\\/][\w.@+~-]+){2,}")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_HEX = re.compile(
    r"\b0x[0-9a-fA-F]+|\b(?:[0-9A-Fa-f]{4,16}:){2,8}[0-9A-Fa-f]{1,16}\b|"
    r"\b(?=[0-9a-f]{0,63}[0-9])(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{7,64}\b"
)
_DURATION = re.compile(r"\b\d+(?:\.\d+)?\s?(?:ms|us|ns|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b")
_MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?")
_NUMBER = re.compile(r"(?<![A-Za-z_\d])[-+]?\d+")
_ROW_OF_NUMBERS = re.compile(r"#(?:[-:.,/ T_+]{0,2}#)+Z?")
_METHOD_TWICE = re.compile(r"(\w{1,200}) \(([\w.]{1,400})\.\1\)")
"""A test by `str(TestCase)` since Python 3.11; before, only the class stood in the brackets."""
_SPACE = re.compile(r"\s+")
_KIND = re.compile(r"\b(?:[A-Z]\w{0,60})?(?:Error|Exception|Failure)\b|\bpanicked\b")


class Symptoms(Strict):
    """What a failure shows, freed of what differs from run to run, each sorted. `tests` and `files`: of the repository.

    `kinds`: the exceptions that messages name.
    """

    tool: str = ""
    codes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


def normalised(text: str) -> str:
    """A tool's words without what differs from run to run. Linear time."""
    text = without_checkouts(text[:2000])
    text = _TEMPORARY.sub("<tmp>", text)
    text = _UUID.sub("<id>", text)
    text = _HEX.sub("<id>", text)
    text = _ABSOLUTE.sub(lambda found: base_name(found[0]), text)
    text = _DURATION.sub("#", _MOMENT.sub("#", text))
    text = _NUMBER.sub("#", text)
    text = _ROW_OF_NUMBERS.sub("#", text)
    return _SPACE.sub(" ", text).strip()[:MOST_OF_A_MESSAGE]


def normal_file(name: str) -> str:
    """The name in the repository; outside of it only its last part, because the rest is a machine's."""
    name = in_repository(name)
    return base_name(name) if is_absolute(name) else name


def normal_test(name: str) -> str:
    """The tool's id without what differs from run to run. Numbers stay: they tell one case from another."""
    name = _HEX.sub("<id>", _UUID.sub("<id>", _TEMPORARY.sub("<tmp>", in_repository(name))))
    if twice := _METHOD_TWICE.fullmatch(name):
        return f"{twice[1]} ({twice[2]})"
    path, sign, rest = name.partition("::")
    return normal_file(path) + sign + rest if is_absolute(path) else name


def symptoms_of(clues: Sequence[Clue]) -> Symptoms:
    """What clues of one cause show."""
    return Symptoms(
        tool=clues[-1].tool if clues else "",
        codes=_distinct(clue.code for clue in clues),
        files=_distinct(normal_file(clue.file) for clue in clues),
        tests=_distinct(normal_test(clue.test) for clue in clues),
        messages=_distinct(normalised(clue.message) for clue in clues),
        kinds=_distinct(kind for clue in clues for kind in _KIND.findall(clue.message or clue.text)),
    )


def cause_signature(clues: Sequence[Clue], fallback: Iterable[str]) -> str:
    """16 hexadecimal digits. What identifies best is taken: tests, else rules and files, else messages, else lines.

    `fallback`: what stands for a cause of which nothing is known.
    """
    telling = _telling(clues)
    if not telling:
        return _digest(["unknown", *fallback])
    shown = symptoms_of(telling)
    lines = () if _has_fields(telling) else _distinct(normalised(clue.text) for clue in telling)
    kinds = symptoms_of(clues).kinds if shown.tests else ()
    files = () if shown.tests else shown.files
    tools = _distinct(clue.tool for clue in telling)
    return _digest(["cause", *_marked(tools, shown.codes, files, shown.tests, shown.messages, kinds, lines)])


def joint_signature(signatures: Iterable[str]) -> str:
    """That of a failure with several causes; of one cause its own, however many jobs show it."""
    distinct = sorted(set(signatures))
    return distinct[0] if len(distinct) == 1 else _digest(["several", *distinct])


def _telling(clues: Sequence[Clue]) -> Sequence[Clue]:
    levels = (
        [clue for clue in clues if clue.test],
        [clue for clue in clues if clue.code or clue.file],
        [clue for clue in clues if clue.message],
    )
    return next((level for level in levels if level), clues)


def _has_fields(clues: Sequence[Clue]) -> bool:
    return any(clue.test or clue.code or clue.file or clue.message for clue in clues)


def _marked(*groups: tuple[str, ...]) -> list[str]:
    return [f"{n}:{text}" for n, group in enumerate(groups) for text in group]


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({text for text in texts if text})[:MOST_PARTS])


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
