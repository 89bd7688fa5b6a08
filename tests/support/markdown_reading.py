"""A strict reading of what we write: names all that acts on GitHub, in code or outside of it.

It knows GitHub's rules and nothing of the renderer: CommonMark with tables, and over the text that is left outside of
code the forms GitHub links, closes, formats or notifies for. Whoever writes must not rely on GitHub being lenient.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

from markdown_it import MarkdownIt
from markdown_it.token import Token

_REFERENCE = r"(?:#\d|gh-\d|[\w-]+/[\w.-]+#\d|https?://)"
_ANYWHERE = {
    "skips CI": r"\[\s*(?:skip[ ]ci|ci[ ]skip|no[ ]ci|skip[ ]actions|actions[ ]skip)\s*\]|skip-checks:\s*true",
    "closes": r"\b(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):?\s*" + _REFERENCE,
}
_IN_PROSE = {
    "mentions": r"@\w",
    "refers": r"#\d|\bgh-\d|/[\w.-]+@[0-9a-f]{7}",
    "links": r"\w://|\bwww\.|\bmailto:|\bxmpp:",
    "is a formula": r"\$",
    "is a task": r"\[[ x]\]",
    "is a footnote or an alert": r"\[[\^!]",
    "is a tag": r"<[a-z!/?]",
}
_TAG = re.compile(r"</details>|<details><summary>(?P<said>[^<>]*)</summary>")
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe0f"


def tokens(markdown: str) -> list[Token]:
    """Blocks and what is in them, in order."""
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    return list(chain.from_iterable([block, *(block.children or [])] for block in blocks))


def acts(markdown: str, *links: str) -> set[str]:
    """What there is in a text that acts; `links` are the addresses it may link to."""
    found = {name for token in tokens(markdown) for name in _of(token, links)}
    return found | _matching(_ANYWHERE, markdown) | _unseen(markdown)


def acts_without_markdown(text: str) -> set[str]:
    """The same where no Markdown is read: all of it is prose."""
    return _matching(_ANYWHERE | _IN_PROSE, text) | _unseen(text)


def _of(token: Token, links: tuple[str, ...]) -> Iterator[str]:
    if token.type == "image":
        yield "is an image"
    elif token.type == "link_open" and token.attrs["href"] not in links:
        yield "links"
    elif token.type == "fence" and token.info.strip() != "text":
        yield f"is a block of {token.info}"
    elif token.type == "code_block":
        yield "is a block nobody meant"
    elif token.type == "html_block":
        yield from _tags(token.content.strip())
    elif token.type == "html_inline":
        yield "is a tag"
    elif token.type == "inline":
        prose = "\0".join(child.content for child in token.children or () if child.type == "text")
        yield from _matching(_IN_PROSE, prose)


def _tags(html: str) -> Iterator[str]:
    tag = _TAG.fullmatch(html)
    if tag is None:
        yield "is a tag"
    else:
        yield from _matching(_IN_PROSE, tag["said"] or "")


def _matching(patterns: dict[str, str], text: str) -> set[str]:
    return {name for name, pattern in patterns.items() if re.search(pattern, text, re.IGNORECASE)}


def _unseen(text: str) -> set[str]:
    hidden = {c for c in text if c in _FILLERS or (c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Co"))}
    return {"cannot be seen"} if hidden else set()
