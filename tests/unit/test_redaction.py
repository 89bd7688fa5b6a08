import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.policy.redaction import redact, redact_text

WORD = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabcdef==\n-----END RSA PRIVATE KEY-----"
SLACK = "slack.com/services"
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
    "gitlab runner": f"glrt-{WORD}",
    "google key": f"AIza{WORD}{WORD[:8]}",
    "google oauth": f"ya29.{WORD}",
    "google client secret": f"GOCSPX-{WORD}",
    "hugging face": f"hf_{WORD}{WORD}",
    "stripe": f"sk_live_{WORD}",
    "stripe restricted": f"rk_test_{WORD}",
    "stripe webhook": f"whsec_{WORD}",
    "slack app": f"xapp-1-{WORD}",
    "docker hub": f"dckr_pat_{WORD}",
    "sendgrid": f"SG.{WORD}.{WORD}",
    "jwt": JWT,
    "private key": KEY,
    "pkcs8 key": KEY.replace("RSA PRIVATE", "PRIVATE"),
    "encrypted key": KEY.replace("RSA PRIVATE", "ENCRYPTED PRIVATE"),
    "pgp key": KEY.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
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
        ("curl -sS -u bot:hunter2 https://h.example", "curl -sS -u bot:[redacted] https://h.example"),
        (f"post to hooks.{SLACK}/T0/B0/{WORD}", "post to [redacted]"),
        (f"AccountName=a;AccountKey={WORD}==;", "AccountName=a;AccountKey=[redacted];"),
        (f"https://a.example/b?sv=1&sig={WORD}%3D&se=2", "https://a.example/b?sv=1&sig=[redacted]&se=2"),
        (f"secret abc8Q~{WORD}.abcdefgh", "secret abc8[redacted]"),
    ],
)
def test_credentials_are_taken_out_of_urls_and_headers(text: str, redacted: str) -> None:
    assert redact_text(text) == redacted


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("DB_PASSWORD=hunter", "DB_PASSWORD=[redacted]"),
        ("  API_KEY=abcdef", "  API_KEY=[redacted]"),
        ("password: hunter22!", "password: [redacted]"),
        ("password: hunter22", "password: [redacted]"),
        ("password='hunter22'", "password='[redacted]'"),
        ('{"token": "abc12345", "user": "ann"}', '{"token": "[redacted]", "user": "ann"}'),
        (r'"{\"client_secret\":\"abc12345\"}"', r'"{\"client_secret\":\"[redacted]\"}"'),
        ("'passwd' => 'abc-12345',", "'passwd' => '[redacted]',"),
        ("login --token=x9y8z7x9y8z7x9y8 --verbose", "login --token=[redacted] --verbose"),
        ("//registry.example/:_authToken=x9y8z7x9-y8z7", "//registry.example/:_authToken=[redacted]"),
        ("apiKey := x9y8z7/x9y8z7", "apiKey := [redacted]"),
        ("\x1b[36;1mtoken: ab/c12345\x1b[0m", "\x1b[36;1mtoken: [redacted]\x1b[0m"),
    ],
)
def test_a_literal_that_is_called_a_secret_is_taken_out(text: str, redacted: str) -> None:
    assert redact_text(text) == redacted


def test_a_secret_key_goes_with_the_key_id_it_stands_beside() -> None:
    secret = f"wJalr/{WORD}+bPxRfi"
    assert len(secret) == 40
    assert redact_text(f"AKIAIOSFODNN7EXAMPLE\t{secret}\n") == "[redacted]\t[redacted]\n"
    assert redact_text(f"{secret} ASIAIOSFODNN7EXAMPLE") == "[redacted] [redacted]"
    assert redact_text(f"{secret} alone") == f"{secret} alone"
    commit = "0123456789abcdef" * 2 + "01234567"
    assert redact_text(f"AKIAIOSFODNN7EXAMPLE at {commit}") == f"[redacted] at {commit}"


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
        "token = get_token(request)",
        "def login(user: str, password: str | None = None) -> Token2:",
        "connect(password=password, token=self._token_v2)",
        "connect(password=settings.database.password2)",
        "secret=tokens[0].value1",
        "assert token == 'abc'",
        "SyntaxError: Unexpected token: operator",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "GITHUB_TOKEN=${GITHUB_TOKEN}",
        "token: ***",
        "MAX_TOKEN=4096",
        "secret: /run/secrets/db1",
        "PASSWORD=/run/secrets/db1",
        "docker run -u 1000:1000 image",
        "next token: 12345678",
        "secretary: ann123456",
        "pip install token-bucket==1.2.3",
        "skip_live_test_of_the_whole_thing, risk_test_of_everything_2",
    ],
)
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert redact_text(text) == text


PIECES = ["://", "a:b@", "authorization: bearer ", "-----BEGIN PRIVATE KEY-----", "eyJ", "ghp_", "sk-", "[redacted]"]
PIECES += ["token=", "password: ", "SECRET=", '"api_key": "', "curl -u a:", "sig=", "8Q~", "AKIA", "SG.", "a1b2c3d4"]
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
        "token=",
        "token=a1b2c3d4",
        "token = (",
        "?sig=",
        "SG.",
        "8Q~",
        "AKIA",
        "AKIAIOSFODNN7EXAMPLE ",
        "AKIAIOSFODNN7EXAMPLE/",
        "curl ",
        "curl -u ",
        "AccountKey=",
    ],
)
@pytest.mark.timeout(20)
def test_no_text_takes_more_than_linear_time(piece: str) -> None:
    """A megabyte takes well under a tenth of a second; with quadratic work it would take hours."""
    redact(piece.encode() * (1_000_000 // len(piece)))
