"""Making foreign text harmless: what it may look like where people read it on GitHub.

Foreign text (logs, names, an agent's words) is data. It appears in code, where mentions, references, HTML, images,
task lists, formulas and diagrams have no effect (GitHub Flavored Markdown 0.29, sections 4.5 and 6.3); in titles and
subjects, where there is no code, only letters, digits and harmless punctuation stay. Two kinds of words act even from
code, because a squash merge may take a proposal's body as its commit message: those that skip CI (GitHub's "Skipping
workflow runs") and those that close an issue. They are broken everywhere.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from sweeper.policy.redaction import redact_text

MAX_ITEMS = 10
"""Of a list, so many are shown; the rest is counted."""

CUT = "[... cut here ...]"

_MAX_NAME = 60
_MAX_CODE = 200
_MAX_LISTED = 120
_ANSI = re.compile(r"\x1b(?:\[[0-9;:?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)?|[()][0-9A-B])")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_UNSEEN_CATEGORIES = ("Cc", "Cf", "Cs", "Cn", "Co")
_VARIATIONS = ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_LINE_ENDS = {"\r": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n"}
_SKIPS = re.compile(
    r"\[[ ]*(?:(?P<first>skip|no)[ -]*(?P<what>ci|actions)|(?P<what2>ci|actions)[ -]*(?P<last>skip))[ ]*\]",
    re.IGNORECASE,
)
_SKIP_TRAILER = re.compile(r"skip-checks\s*:(?=\s*true)", re.IGNORECASE)
_NO_TRAILER = "skip-checks -"
_NO_CI = re.compile(r"\*\*\*[ ]*no_ci[ ]*\*\*\*", re.IGNORECASE)
_CLOSES = re.compile(
    r"\b(?P<word>close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?:[ ]?:)?\s{0,8}"
    r"(?=#\d|GH-\d|[\w.-]{1,64}/[\w.-]{1,100}#\d|https?://)",
    re.IGNORECASE,
)
_UNSAFE_IN_NAMES = re.compile(r"[^\w .,:()/+-]")
_LINKS = re.compile(r"://|(?<=GH)-(?=\d)|(?<=\bwww)\.", re.IGNORECASE)  # references even where no Markdown is read


@lru_cache(maxsize=512)  # a body is written several times until it fits
def visible(text: str) -> str:
    """The same text, redacted, without colours, with nothing in it that a reader cannot see.

    Control characters show as their pictures and bidirectional ones as `[U+202E]`; what has no width is dropped.
    """
    uncoloured = _ANSI.sub("", redact_text(text).replace("\r\n", "\n"))
    seen = uncoloured.translate(_SHOWN)
    return _inert(redact_text(seen))  # again: a token may have been in pieces until now


class _Shown(dict[int, str]):
    """A table for `str.translate`, filled with the characters that are met."""

    def __missing__(self, point: int) -> str:
        self[point] = shown = _shown(chr(point))
        return shown


_SHOWN = _Shown()


def _shown(char: str) -> str:
    if char in "\n\t" or char in _LINE_ENDS:
        return _LINE_ENDS.get(char, char)
    if char in _BIDI:
        return f"[U+{ord(char):04X}]"
    if char < " ":
        return chr(0x2400 + ord(char))
    if unicodedata.category(char) in _UNSEEN_CATEGORIES or char in _UNSEEN:
        return ""
    return "" if any(low <= ord(char) <= high for low, high in _VARIATIONS) else char


def _inert(text: str) -> str:
    """Without words that act from anywhere in a commit message."""
    text = _SKIPS.sub(lambda found: f"[{'-'.join(filter(None, found.groups()))}]", text)
    text = _NO_CI.sub("no_ci", _SKIP_TRAILER.sub(_NO_TRAILER, text))
    return _CLOSES.sub(r"\g<word> -> ", text)


def code(text: str, limit: int = _MAX_CODE) -> str:
    """Foreign text on one line, as inline code."""
    flat = _inert(" ".join(visible(text).split()))[:limit].replace("`", "'")
    return f"`{flat}`" if flat else "`-`"


def cell(text: str, limit: int = _MAX_CODE) -> str:
    """Inline code for a table, where a pipe ends a cell even in code."""
    return code(text.replace("|", "\N{BROKEN BAR}"), limit)


def codes(texts: Sequence[str], count: int | None = None) -> str:
    """Some of them as inline code, and how many more there are."""
    more = (len(texts) if count is None else count) - MAX_ITEMS
    return ", ".join(code(text, _MAX_LISTED) for text in texts[:MAX_ITEMS]) + (f" and {more} more" if more > 0 else "")


def fenced(text: str, limit: int = 4000, near: Sequence[str] = ()) -> str:
    """A foreign text as a code block whose fence it cannot close: its end, or what is around a line of `near`."""
    shown = _window(visible(text).strip("\n").rstrip(), limit, near)
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _window(text: str, limit: int, near: Sequence[str]) -> str:
    """At most `limit` characters of it; both cuts are marked."""
    if len(text) <= limit:
        return text
    places = (text.find(line) for line in (visible(line).strip() for line in near) if line)
    first = next((place for place in places if place >= 0), len(text))
    start = max(0, min(first - limit // 4, len(text) - limit))
    end = start + limit
    parts = (f"{CUT}\n" if start else "", text[start:end], f"\n{CUT}" if end < len(text) else "")
    return "".join(parts)


def folded(summary: str, *content: str) -> str:
    """Content that opens on a click; nothing without any. `summary` is ours or has been through `plain`."""
    inside = "\n\n".join(part for part in content if part)
    return f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>" if inside else ""


def plain(name: str) -> str:
    """Foreign text in a title, a subject or a summary: only letters, digits and harmless punctuation."""
    seen = " ".join(visible("".join(char for char in name if char not in _BIDI)).split())
    flat = _LINKS.sub(" ", " ".join(_UNSAFE_IN_NAMES.sub("", seen).split()))
    return _SKIP_TRAILER.sub(_NO_TRAILER, flat)[:_MAX_NAME].strip() or "without a plain name"
