"""Which texts on GitHub are ours: what our login authored *and* carries a marker whose HMAC holds.

Anything else with a marker is an impostor's: copied, moved or made up. It is passed over, and the log and the note of
the effect at hand name who posted it.
"""

import logging
from dataclasses import dataclass, field

from adapters.github.auth import Tokens
from adapters.github.replies import CommentReply, PullReply
from sweeper import ids

log = logging.getLogger(__name__)

REMOVED_A_DOUBLE = "removed a double"
MOST_NAMES = 3


@dataclass
class Audit:
    """What a look came across besides the thing it looked for; it ends in the effect's note."""

    impostors: dict[str, None] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def removed_double(self) -> None:
        """A second one of ours was there (two of us acted at once) and is gone now."""
        self.remarks.append(REMOVED_A_DOUBLE)

    def note(self) -> str:
        """All of it in one short line; empty if there was nothing."""
        named = list(self.impostors)[:MOST_NAMES]
        left_out = len(self.impostors) - len(named)
        others = f" and {left_out} others" if left_out else ""
        forged = [f"passed over a forged marker of {', '.join(named)}{others}"] if named else []
        return "; ".join(dict.fromkeys([*self.remarks, *forged]))


@dataclass(frozen=True)
class Marks:
    """Signs texts of ours and knows them again."""

    tokens: Tokens
    marker_key: bytes

    def sign(self, body: str, effect_key: str, repository_id: int) -> str:
        """The text with its marker as the last line."""
        return f"{body}\n\n{ids.marker(effect_key, self.marker_key, repository_id)}"

    def key_of(self, text: PullReply | CommentReply, repository_id: int, audit: Audit) -> str | None:
        """The effect key of a text of ours, else None."""
        if not ids.claims_an_effect(text.body):
            return None
        key = ids.effect_of_body(text.body, self.marker_key, repository_id)
        author = text.user.login if text.user else "a deleted user"
        if key is not None and author.casefold() == self.tokens.login().casefold():
            return key
        how = "copied" if key is not None else "signed by somebody else"
        log.warning("passed over a marker of ours in a text of %s on %s: it is %s", author, text.html_url, how)
        audit.impostors[author] = None
        return None
