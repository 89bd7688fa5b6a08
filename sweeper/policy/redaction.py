"""Takes secrets out of foreign text. Done once, at the edge: before a text is stored, shown or sent anywhere.

Two kinds: what looks like a secret, and the values an operator lists. Shapes follow the vendors' own documentation
and the patterns they give to secret scanners; lengths are lower bounds only, because GitHub's installation tokens
changed length and format in 2026 and will change again.
"""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote, quote_plus

from sweeper.errors import BadInput

REDACTED = b"[redacted]"
MIN_VALUE = 6
"""Characters; what is shorter stands in ordinary words as well."""

_ROUNDS = 8
_BESIDE = 256
"""Bytes; so near to its key id a secret key of AWS is looked for."""


def _word(start: bytes, rest: bytes) -> bytes:
    """A pattern for `start` + `rest` that is not the tail of a longer word.

    Behind a letter or digit it still is no tail if those end an ANSI colour, a line break that was written out (logged
    JSON) or an escaped character of a URL. The check comes after `start`, whose literal the search can jump to.
    """
    width = len(re.sub(rb"\[.*?\]|\\.", b"x", start))
    back = b".{%d}" % width
    ends = (rb"[0-9;\[]m", rb"\\[nrt]", rb"%[0-9A-Fa-f]{2}")
    behind = b"|".join([b"(?<![A-Za-z0-9]" + back + b")", *(b"(?<=" + end + back + b")" for end in ends)])
    return start + b"(?:" + behind + b")" + rest


class _Shape:
    """A pattern that begins with letters of its own. Most texts lack them, and to see that is many times cheaper."""

    def __init__(self, pattern: bytes) -> None:
        self._start = b"".join(re.findall(rb"\A[\w~-]+", pattern.removeprefix(b"(?P<name>")))
        self._pattern = re.compile(pattern)

    def sub(self, replace: bytes | Callable[[re.Match[bytes]], bytes], data: bytes) -> bytes:
        return self._pattern.sub(replace, data) if self._start in data else data

    def find(self, data: bytes) -> Iterator[re.Match[bytes]]:
        return self._pattern.finditer(data) if self._start in data else iter(())


_SCHEME = rb"[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?i:bearer|basic|token)\s{1,8}"
_CREDENTIALS = rb"[A-Za-z0-9+/=._~-]{8,}"
_BASE64 = rb"[A-Za-z0-9+/%_-]{20,}+={0,2}"
_TOKENS = tuple(
    _Shape(pattern)
    for pattern in (
        _word(rb"gh", rb"[pousr]_[A-Za-z0-9_.-]{16,}"),  # GitHub tokens of all kinds, also ghs_<app>_<JWT>
        _word(rb"github_pat_", rb"[A-Za-z0-9_]{20,}"),
        _word(rb"gl", rb"(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_.-]{16,}"),  # GitLab
        _word(rb"AKIA", rb"[A-Z0-9]{16}\b"),  # AWS access key ids
        _word(rb"ASIA", rb"[A-Z0-9]{16}\b"),
        _word(rb"AIza", rb"[A-Za-z0-9_-]{35}"),  # Google: API keys, then OAuth
        _word(rb"ya29", rb"\.[A-Za-z0-9_-]{20,}"),
        _word(rb"GOCSPX-", rb"[A-Za-z0-9_-]{20,}"),
        _word(rb"sk-", rb"[A-Za-z0-9_-]{20,}"),  # model providers
        _word(rb"hf_", rb"[A-Za-z0-9]{30,}"),
        _word(rb"sk_", rb"(?:live|test)_[A-Za-z0-9]{16,}"),  # Stripe
        _word(rb"rk_", rb"(?:live|test)_[A-Za-z0-9]{16,}"),
        _word(rb"whsec_", rb"[A-Za-z0-9+/=]{24,}"),
        _word(rb"xox", rb"[abeposr](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),  # Slack
        _word(rb"xapp-", rb"[A-Za-z0-9-]{20,}"),
        rb"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
        _word(rb"pypi-", rb"[A-Za-z0-9_-]{32,}"),
        _word(rb"npm_", rb"[A-Za-z0-9]{30,}"),
        _word(rb"dckr_pat_", rb"[A-Za-z0-9_-]{20,}"),
        _word(rb"SG", rb"\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),  # SendGrid
        rb"Q~(?<=[A-Za-z0-9_~.-]{3}[78]Q~)[A-Za-z0-9_~.-]{31,}",  # Azure client secrets, but for their first characters
    )
)
_NAMED = tuple(  # what stands behind such a word is a secret: headers, connection strings, signatures of Azure
    _Shape(rb"(?P<name>" + name + rb")" + value)
    for name, value in (
        (rb"uthorization" + _SCHEME, _CREDENTIALS),
        (rb"UTHORIZATION" + _SCHEME, _CREDENTIALS),
        (rb"AccountKey=", _BASE64),
        (rb"SharedAccessKey=", _BASE64),
        (rb"SharedAccessSignature=", _BASE64),
        (rb"sig=(?<=[?&;]sig=)", _BASE64),
    )
)
_CURL = _Shape(rb"curl\b(?<=\bcurl)[^\n]*+")
_CURL_USER = re.compile(rb"(?P<name>\s(?:-u|--user)[ =]?[\"']?[\w.@-]{0,64}:)[^\s\"'\[]{1,256}")
_JWT = re.compile(  # takes a whole run of characters at once, token or not, so that no run is read twice
    _word(rb"eyJ", rb"[A-Za-z0-9_-]{8,}+(?P<rest>\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+)?+")
)
_PRIVATE_KEY = re.compile(  # one that is cut off costs at most as much text as the longest key has
    rb"-----BEGIN (?P<kind>[A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?)-----"
    rb"(?:.{0,32768}?-----END (?P=kind)-----|.{0,32768})",
    re.DOTALL,
)
_URL_CREDENTIALS = re.compile(rb"(?P<start>://(?<=[A-Za-z0-9+.-].{3}))[^/\s:@]{0,256}:[^/\s@]{1,512}@")
_KEY_IDS = tuple(_Shape(_word(start, rb"[A-Z0-9]{16}\b")) for start in (rb"AKIA", rb"ASIA"))
_SECRET_KEY = re.compile(rb"(?<![A-Za-z0-9/+])(?![0-9a-f]{40})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_ASSIGNED = tuple(  # the value is taken whole, secret or not, so that no run is read twice
    _Shape(
        rb"(?P<name>" + name + rb"(?:\\?[\"'])?(?P<sign>\s{0,4}(?:=>|:=|[:=])\s{0,4})(?P<open>\\?[\"'])?)"
        rb"(?P<value>[A-Za-z0-9+/=_.~!@#%^*-]++)"
    )
    for name in (
        *(rb"assword", rb"ASSWORD", rb"asswd", rb"ASSWD", rb"assphrase", rb"ASSPHRASE"),
        *(rb"ecret", rb"ECRET", rb"oken", rb"OKEN", rb"redential", rb"REDENTIAL", rb"_auth", rb"_AUTH"),
        *(rb"_key(?<=(?:api|ess|ate|uth|ret)_key)", rb"_KEY(?<=(?:API|ESS|ATE|UTH|RET)_KEY)"),
        *(rb"pi-key", rb"pi-Key", rb"PI-Key", rb"PI-KEY", rb"pikey", rb"piKey", rb"PIKEY"),
        *(rb"essKey", rb"ateKey", rb"retKey"),
    )
)
_AFTER_VALUE = frozenset(b" \t\r\n\"'\\,;&)}]|\x1b")
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*(?:[.-][A-Za-z_]\w*)*")
_RANDOM_DIGITS, _RANDOM_LENGTH, _RANDOM_SHARE = 3, 16, 0.4
"""Drawn by chance, not named by a programmer: at least so many digits, and either so long or so many of them digits."""


class Redactor:
    """Takes out the values an operator lists, as they are and as programs write them, and all that looks secret."""

    def __init__(self, values: Sequence[str | bytes] = ()) -> None:
        """`values`: whole secrets; of one with several lines each line counts.

        Raises BadInput, which does not repeat the value, for one of less than `MIN_VALUE` characters.
        """
        forms = {form for n, value in enumerate(values, start=1) for form in _forms(_checked(value, n))}
        longest_first = sorted((form for form in forms if form), key=lambda form: (-len(form), form))
        known = b"|".join(re.escape(form) for form in longest_first)
        self._values = re.compile(re.escape(REDACTED) + b"|" + known) if known else None

    def redact(self, data: bytes) -> bytes:
        """The same bytes with each secret replaced by `[redacted]`; redacting twice changes nothing. Linear time."""
        for _ in range(_ROUNDS):  # what is replaced may bring the ends of a longer secret together
            before, data = data, self._once(data)
            if data == before:
                break
        return data

    def text(self, text: str) -> str:
        """`redact` for text."""
        return self.redact(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def _once(self, data: bytes) -> bytes:
        if self._values is not None:
            data = self._values.sub(REDACTED, data)
        data = _PRIVATE_KEY.sub(REDACTED, data)
        data = _URL_CREDENTIALS.sub(rb"\g<start>" + REDACTED + b"@", data)
        for named in _NAMED:
            data = named.sub(rb"\g<name>" + REDACTED, data)
        data = _CURL.sub(lambda found: _CURL_USER.sub(rb"\g<name>" + REDACTED, found[0]), data)
        data = _without_keys_beside_their_ids(data)
        for token in _TOKENS:
            data = token.sub(REDACTED, data)
        data = _JWT.sub(lambda found: REDACTED if found["rest"] else found[0], data)
        for assigned in _ASSIGNED:
            data = assigned.sub(_assigned, data)
        return data


def _checked(value: str | bytes, n: int) -> bytes:
    given = (value.encode("utf-8", "replace") if isinstance(value, str) else value).strip()
    if len(given.decode("utf-8", "replace")) < MIN_VALUE:
        raise BadInput(
            f"Value {n} of those to redact has less than {MIN_VALUE} characters and would blank out ordinary words; "
            "give the whole secret, or leave it out."
        )
    return given


def _forms(value: bytes) -> Iterator[bytes]:
    """A value and its lines, each as it is, in base64, quoted for a URL, and as a string of JSON."""
    lines = [line for line in (line.strip() for line in value.splitlines()) if len(line) >= MIN_VALUE]
    for plain in dict.fromkeys([value, value.replace(b"\r\n", b"\n"), *lines]):
        yield plain
        yield from _base64(plain)
        for quoted in (quote(plain, safe=""), quote(plain), quote_plus(plain)):
            yield quoted.encode()
            yield re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quoted).encode()
        text = plain.decode("utf-8", "replace")
        for ascii_only in (True, False):
            yield json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode()


def _base64(plain: bytes) -> Iterator[bytes]:
    """What stays of it in base64 wherever it stands in a longer text: its first and last bits mix with neighbours."""
    for offset in range(3):
        first = (offset * 8 + 5) // 6
        last = (offset + len(plain)) * 8 // 6
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(b"\0" * offset + plain)[first:last]


def _without_keys_beside_their_ids(data: bytes) -> bytes:
    """Secret keys of AWS have no mark of their own; 40 such characters near a key id are one."""
    parts, done = [], 0
    for start, end in _near_key_ids(data):
        for found in _SECRET_KEY.finditer(data, start, end):
            parts += [data[done : found.start()], REDACTED]
            done = found.end()
    return b"".join([*parts, data[done:]])


def _near_key_ids(data: bytes) -> list[tuple[int, int]]:
    """Places around key ids, those that overlap in one, so that nothing is read twice."""
    places: list[tuple[int, int]] = []
    for place in sorted(found.start() for ids in _KEY_IDS for found in ids.find(data)):
        start, end = max(0, place - _BESIDE), place + _BESIDE
        if places and start <= places[-1][1]:
            start = places.pop()[0]
        places.append((start, end))
    return places


def _assigned(found: re.Match[bytes]) -> bytes:
    following = found.string[found.end() : found.end() + 1]
    if following and following[0] not in _AFTER_VALUE:
        return found[0]  # an expression, such as a call
    return found["name"] + REDACTED if _looks_secret(found) else found[0]


def _looks_secret(found: re.Match[bytes]) -> bool:
    """A literal, not a word of a program: names, paths, types and numbers are no secrets.

    `DB_PASSWORD=hunter` is how an environment is listed, so any value counts there.
    """
    value, name = found["value"], found["name"]
    if value.startswith((b"/", b"./", b"~/", b"../")):
        return False
    letters, digits = re.search(rb"[A-Za-z]", value), len(re.findall(rb"[0-9]", value))
    if found["sign"] == b"=" and name.isupper():
        return len(value) >= MIN_VALUE and (letters is not None or digits >= MIN_VALUE)
    if len(value) < MIN_VALUE + 2 or letters is None or not digits:
        return False
    if found["open"] or not _IDENTIFIER.fullmatch(value) or (name.lower().startswith(b"ass") and value.isalnum()):
        return True
    return digits >= _RANDOM_DIGITS and (len(value) >= _RANDOM_LENGTH or digits / len(value) > _RANDOM_SHARE)


_SHAPES = Redactor()


def redact(data: bytes, extra: Sequence[bytes] = ()) -> bytes:
    """The same bytes without secrets of a known shape, and without `extra` values; see `Redactor`, which is built once
    where those are known in advance.
    """
    return (Redactor(extra) if extra else _SHAPES).redact(data)


def redact_text(text: str) -> str:
    """`redact` for text."""
    return _SHAPES.text(text)
