"""Markdown of bodies and comments to HTML that cannot harm the page.

Texts come from anybody. All HTML in them is escaped, but for <details> and <summary>, which are balanced so that
nothing outside the text is swallowed; comments (hidden markers) vanish, as on GitHub. Images become links: the page
loads nothing from elsewhere.
"""

import html
import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ALLOWED = re.compile(r"(</?(?:details|summary)\s*>|<details\s+open\s*>)", re.IGNORECASE)
_OPENING = {"details": "<details>", "summary": "<summary>"}


class _Renderer(RendererHTML):
    def html_block(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType) -> str:
        return _cleaned(tokens[idx].content, env)

    def html_inline(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType) -> str:
        return _cleaned(tokens[idx].content, env)

    def image(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        token = tokens[idx]
        address = html.escape(str(token.attrGet("src") or ""), quote=True)
        return f'<a href="{address}" rel="nofollow noopener">{html.escape(token.content or "image")}</a>'


def _cleaned(text: str, env: EnvType) -> str:
    still_open: list[str] = env.setdefault("open", [])
    parts = []
    for part in _ALLOWED.split(_COMMENT.sub("", text)):
        if not _ALLOWED.fullmatch(part):
            parts.append(html.escape(part))
        elif part.startswith("</"):
            parts.append(_close(re.sub(r"\W", "", part).lower(), still_open))
        else:
            name = "summary" if "summary" in part.lower() else "details"
            still_open.append(name)
            parts.append("<details open>" if "open" in part.lower() else _OPENING[name])
    return "".join(parts)


def _close(name: str, still_open: list[str]) -> str:
    if name not in still_open:
        return ""
    closed = []
    while True:
        inner = still_open.pop()
        closed.append(f"</{inner}>")
        if inner == name:
            return "".join(closed)


_PARSER = MarkdownIt("commonmark", {"html": True, "breaks": True}, renderer_cls=_Renderer).enable(
    ["table", "strikethrough"]
)


def to_html(text: str | None) -> str:
    """The text as safe HTML."""
    env: dict[str, list[str]] = {}
    rendered = str(_PARSER.render(text or "", env))
    return rendered + "".join(f"</{name}>" for name in reversed(env.get("open", [])))
