import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.policy.redaction import redact, redact_text

WORD = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabcdef==\n-----END RSA PRIVATE KEY-----"
TOKENS = {
    "github classic": f"ghp_{WORD}",
    "github oauth": f"gho_{WORD}",
    "github user": f"ghu_{WORD}",
    "github app": f"ghs_{WORD}",
    "github refresh": f"ghr_{WORD}",
    "github app of 2026": f"ghs_123456_{JWT}",
    "github fine-grained": f"github_pat_{WORD}_{WORD}",
    "gitlab": f"glpat-{WORD}",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "aws temporary": "ASIAIOSFODNN7EXAMPLE",
    "model provider": f"sk-proj-{WORD}_{WORD}",
    "slack": "xoxb-123456789012-abcdefghijkl",
    "pypi": f"pypi-{WORD}{WORD}",
    "npm": f"npm_{WORD}{WORD}",
    "jwt": JWT,
    "private key": KEY,
    "pkcs8 key": KEY.replace("RSA PRIVATE", "PRIVATE"),
    "openssh key": KEY.replace("RSA PRIVATE", "OPENSSH PRIVATE"),
}
SURROUNDINGS = [
    "{}",
    "token={} and more",
    '"{}"',
    "TOKEN_{}",
    "\x1b[36;1m{}\x1b[0m",
    "\x1b[m{}",
    r'{{"log": "first\n{}\n"}}',
    "https://example.com/?a=%20{}",
    "before\n{}\nafter",
    "ünïcode:{}\N{SNOWMAN}",
]


@pytest.mark.parametrize("around", SURROUNDINGS)
@pytest.mark.parametrize("name", TOKENS)
def test_a_planted_secret_is_gone_and_what_is_around_it_stays(name: str, around: str) -> None:
    assert redact_text(around.format(TOKENS[name])) == around.format("[redacted]")


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("https://user:pass@example.com/x", "https://[redacted]@example.com/x"),
        ("git clone HTTPS://x-access-token:abc@h.example/r", "git clone HTTPS://[redacted]@h.example/r"),
        ("postgres://app:p%40ss;w0rd@db:5432/app", "postgres://[redacted]@db:5432/app"),
        ("redis://:secret@cache", "redis://[redacted]@cache"),
        ("_https://a:b@c 1https://a:b@c", "_https://[redacted]@c 1https://[redacted]@c"),
        ("Authorization: Bearer abcdefgh.12345", "Authorization: Bearer [redacted]"),
        ("AUTHORIZATION: basic eC1hY2Nlc3M6YWJj", "AUTHORIZATION: basic [redacted]"),
        ('{"authorization": "token abcdef123"}', '{"authorization": "token [redacted]"}'),
        ("proxy-authorization=Basic abcdefgh==", "proxy-authorization=Basic [redacted]"),
    ],
)
def test_credentials_are_taken_out_of_urls_and_headers(text: str, redacted: str) -> None:
    assert redact_text(text) == redacted


def test_a_key_in_a_log_goes_with_the_timestamps_between_its_lines() -> None:
    log = "\n".join(f"2026-01-01T00:00:00.0000000Z {line}" for line in f"before\n{KEY}\nafter".split("\n"))
    assert re.sub(r"\S+Z ", "", redact_text(log)) == "before\n[redacted]\nafter"


def test_a_key_that_is_cut_off_is_gone_and_does_not_take_the_whole_log_with_it() -> None:
    cut = KEY.partition("-----END")[0] + "x" * 40_000 + "\nthe end"
    assert redact_text(cut).startswith("[redacted]xxx")
    assert redact_text(cut).endswith("\nthe end")


@pytest.mark.parametrize(
    "text",
    [
        "test_highs_and_lows_of_the_whole_day PASSED",
        "task-queue-of-the-sweeper-worker-process",
        "disk-usage-is-above-the-limit-of-this-host",
        "ghp_short sk-short npm_short eyJ.eyJ. glpat- AKIA",
        "https://example.com:8080/path@v1?x=a:b",
        "ssh://git@example.com:22/octo/app.git",
        "uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "Authorization: none needed",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "AKIAIOSFODNN7EXAMPLEANDMORE",
        "ratio 3:4@noon, mail ann@example.com",
    ],
)
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert redact_text(text) == text


PIECES = ["://", "a:b@", "authorization: bearer ", "-----BEGIN PRIVATE KEY-----", "eyJ", "ghp_", "sk-", "[redacted]"]
GLUE = [WORD, "\x1b[0m", "\\n", "%0A", " ", ".", "-", "_", ":", "@"]
FRAGMENTS = st.sampled_from([*TOKENS.values(), *PIECES, *GLUE]) | st.text(max_size=5)


@given(st.lists(FRAGMENTS, max_size=12).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200), st.sampled_from(sorted(TOKENS)))
def test_a_secret_between_any_texts_is_gone(text: str, name: str) -> None:
    assert TOKENS[name] not in redact_text(f"{text} {TOKENS[name]} {text}")


@given(st.binary(max_size=300))
def test_any_bytes_are_accepted(data: bytes) -> None:
    assert redact(redact(data)) == redact(data)


def test_text_that_is_no_valid_unicode_is_accepted() -> None:
    assert redact_text(f"\ud800 ghp_{WORD}") == "? [redacted]"


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ-",
        "eyJaaaaaaaa.",
        "eyJaaaaaaaa.eyJaaaaaaaa.",
        "a://",
        "a://b:",
        "://" + "x" * 200,
        "authorization:",
        "authorization    ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "sk-",
        "%0A",
    ],
)
@pytest.mark.timeout(20)
def test_no_text_takes_more_than_linear_time(piece: str) -> None:
    """A megabyte takes well under a tenth of a second; with quadratic work it would take hours."""
    redact(piece.encode() * (1_000_000 // len(piece)))
