"""Takes secrets out of foreign text. Done once, at the edge: before a text is stored, shown or sent anywhere.

Shapes follow the vendors' own documentation; lengths are lower bounds only, because GitHub's installation tokens
changed length and format in 2026 and will change again.
"""

import re

REDACTED = b"[redacted]"

_TOKENS = re.compile(
    rb"""
      \b gh[pousr]_ [A-Za-z0-9_.-]{16,}                      # GitHub tokens of all kinds, also ghs_<app>_<JWT>
    | \b github_pat_ [A-Za-z0-9_]{20,}
    | \b glpat- [A-Za-z0-9_-]{16,}
    | \b (?: AKIA | ASIA ) [A-Z0-9]{16} \b                   # AWS access key ids
    | \b sk- [A-Za-z0-9_-]{20,}                              # model providers
    | \b xox[abposr]- [A-Za-z0-9-]{10,}                      # Slack
    | \b pypi- [A-Za-z0-9_-]{32,}
    | \b npm_ [A-Za-z0-9]{30,}
    | \b eyJ [A-Za-z0-9_-]{8,} \. eyJ [A-Za-z0-9_-]{8,} \. [A-Za-z0-9_-]{8,}   # JWT
    """,
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(
    rb"-----BEGIN (?P<kind>[A-Z ]{0,20}PRIVATE KEY)-----.*?(?:-----END (?P=kind)-----|\Z)", re.DOTALL
)
_URL_CREDENTIALS = re.compile(rb"(?P<scheme>\b[a-z][a-z0-9+.-]{1,15}://)[^/\s:@]{0,256}:[^/\s@]{1,512}@", re.IGNORECASE)
_AUTHORIZATION = re.compile(
    rb"(?P<name>\bauthorization\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+)[A-Za-z0-9+/=._~-]{8,}", re.IGNORECASE
)


def redact(data: bytes) -> bytes:
    """The same bytes with every secret of a known shape replaced by `[redacted]`. Redacting twice changes nothing."""
    data = _PRIVATE_KEY.sub(REDACTED, data)
    data = _AUTHORIZATION.sub(rb"\g<name>" + REDACTED, data)
    data = _URL_CREDENTIALS.sub(rb"\g<scheme>" + REDACTED + b"@", data)
    return _TOKENS.sub(REDACTED, data)


def redact_text(text: str) -> str:
    """`redact` for text."""
    return redact(text.encode()).decode()
