"""Takes secrets out of foreign text. Done once, at the edge: before a text is stored, shown or sent anywhere.

Shapes follow the vendors' own documentation; lengths are lower bounds only, because GitHub's installation tokens
changed length and format in 2026 and will change again.
"""

import re

REDACTED = b"[redacted]"


def _word(start: bytes, rest: bytes) -> bytes:
    """A pattern for `start` + `rest` that is not the tail of a longer word.

    Behind a letter or digit it still is no tail if those end an ANSI colour, a line break that was written out (logged
    JSON) or an escaped character of a URL. The check comes after `start`, whose literal the search can jump to.
    """
    width = len(re.sub(rb"\[.*?\]", b"x", start))
    back = b".{%d}" % width
    ends = (rb"[0-9;\[]m", rb"\\[nrt]", rb"%[0-9A-Fa-f]{2}")
    behind = b"|".join([b"(?<![A-Za-z0-9]" + back + b")", *(b"(?<=" + end + back + b")" for end in ends)])
    return start + b"(?:" + behind + b")" + rest


_TOKENS = re.compile(
    b"|".join(
        (
            _word(rb"gh[pousr]_", rb"[A-Za-z0-9_.-]{16,}"),  # GitHub tokens of all kinds, also ghs_<app>_<JWT>
            _word(rb"github_pat_", rb"[A-Za-z0-9_]{20,}"),
            _word(rb"glpat-", rb"[A-Za-z0-9_-]{16,}"),
            _word(rb"A[KS]IA", rb"[A-Z0-9]{16}\b"),  # AWS access key ids
            _word(rb"sk-", rb"[A-Za-z0-9_-]{20,}"),  # model providers
            _word(rb"xox[abposr]-", rb"[A-Za-z0-9-]{10,}"),  # Slack
            _word(rb"pypi-", rb"[A-Za-z0-9_-]{32,}"),
            _word(rb"npm_", rb"[A-Za-z0-9]{30,}"),
        )
    )
)
_JWT = re.compile(  # takes a whole run of characters at once, token or not, so that no run is read twice
    _word(rb"eyJ", rb"[A-Za-z0-9_-]{8,}+(?P<rest>\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+)?+")
)
_PRIVATE_KEY = re.compile(  # one that is cut off costs at most as much text as the longest key has
    rb"-----BEGIN (?P<kind>[A-Z ]{0,20}PRIVATE KEY)-----(?:.{0,32768}?-----END (?P=kind)-----|.{0,32768})", re.DOTALL
)
_URL_CREDENTIALS = re.compile(rb"(?P<start>://(?<=[A-Za-z0-9+.-].{3}))[^/\s:@]{0,256}:[^/\s@]{1,512}@")
_AUTHORIZATION = re.compile(
    rb"(?P<name>authorization[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?:bearer|basic|token)\s{1,8})[A-Za-z0-9+/=._~-]{8,}",
    re.IGNORECASE,
)


def redact(data: bytes) -> bytes:
    """The same bytes with every secret of a known shape replaced by `[redacted]`. Redacting twice changes nothing."""
    data = _PRIVATE_KEY.sub(REDACTED, data)
    data = _AUTHORIZATION.sub(rb"\g<name>" + REDACTED, data)
    data = _URL_CREDENTIALS.sub(rb"\g<start>" + REDACTED + b"@", data)
    data = _TOKENS.sub(REDACTED, data)
    return _JWT.sub(lambda found: REDACTED if found["rest"] else found[0], data)


def redact_text(text: str) -> str:
    """`redact` for text."""
    return redact(text.encode("utf-8", "replace")).decode()
