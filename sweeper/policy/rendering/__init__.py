"""Every text of ours that people read on GitHub: titles, bodies, comments, commit messages.

Facts come from records. Foreign text is data: `neutral` makes it harmless, and nothing else puts it into a text.
"""

from sweeper.policy.rendering.answer import HowToAnswer
from sweeper.policy.rendering.body import MAX_BODY, Tries, body
from sweeper.policy.rendering.comments import answered_request
from sweeper.policy.rendering.commit import commit_message, signed_off, title
from sweeper.policy.rendering.learned import learned, used
from sweeper.policy.rendering.neutral import code, fenced

__all__ = [
    "MAX_BODY",
    "HowToAnswer",
    "Tries",
    "answered_request",
    "body",
    "code",
    "commit_message",
    "fenced",
    "learned",
    "signed_off",
    "title",
    "used",
]
