"""The parts of the GitHub adapter that need no GitHub."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretBytes, SecretStr

from adapters.github import GitHubAccess, GitHubHost
from adapters.github.client import checked_name, next_page
from adapters.github.logs import both_ends
from sweeper.errors import AuthBroken, BadInput

URL = "https://github.example/api/v3"
KEY = SecretBytes(b"key")


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((), b""),
        ((b"abc",), b"abc"),
        ((b"abcd", b"efgh"), b"abcdefgh"),
        ((b"abcdefgh", b"i"), b"abcd\n[sweeper: 1 bytes of this log were left out here]\nfghi"),
        ((b"ab", b"cdefghijklmn"), b"abcd\n[sweeper: 6 bytes of this log were left out here]\nklmn"),
        (tuple(b"abcdefghijklmn"[n : n + 1] for n in range(14)),
         b"abcd\n[sweeper: 6 bytes of this log were left out here]\nklmn"),
    ],
)  # fmt: skip
async def test_a_log_that_is_too_long_keeps_both_ends_and_says_so(parts: tuple[bytes, ...], expected: bytes) -> None:
    assert await both_ends(chunks(*parts), 4, 4) == expected


@pytest.mark.parametrize("name", ["octo/app", "Octo-Org/app.js", "o/_x", "o/.github"])
def test_a_repository_name_is_taken_as_it_is(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "app", "octo/", "/app", "octo/..", "../app", "octo/app/pulls", "octo/a?b", "octo/a b", "octo/a%2e"]
)
def test_what_cannot_be_a_repository_name_reaches_no_other_path(name: str) -> None:
    with pytest.raises(BadInput, match="OWNER/NAME"):
        checked_name(name)


def test_the_next_page_is_the_one_github_names() -> None:
    link = '<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last"'

    assert next_page({"link": link}) == "https://api.github.com/x?page=2"
    assert next_page({"link": '<https://api.github.com/x?page=1>; rel="prev"'}) is None
    assert next_page({}) is None


@pytest.mark.parametrize(
    "identity",
    [
        {},
        {"app_id": 1},
        {"app_key_file": Path("key.pem")},
        {"token": SecretStr("t"), "app_id": 1, "app_key_file": Path("key.pem")},
        {"token": SecretStr("t"), "app_id": 1},
    ],
)
def test_an_identity_is_a_token_or_a_whole_app(identity: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="SWEEPER_GITHUB_TOKEN, or SWEEPER_APP_ID and SWEEPER_APP_KEY_FILE"):
        GitHubAccess.model_validate({"api_url": URL, "marker_key": KEY, **identity})


@pytest.mark.parametrize("url", ["", "api.github.com", "ftp://github.example", "https://"])
def test_an_address_that_is_none_is_named_at_once(url: str) -> None:
    with pytest.raises(BadInput, match="SWEEPER_GITHUB_URL"):
        GitHubAccess(api_url=url, token=SecretStr("t"), marker_key=KEY)


@pytest.mark.parametrize("token", ["", "ghp_x\n", "ghp x", "ghp_\u00fc"])
def test_a_token_that_cannot_be_sent_is_named_without_being_shown(token: str) -> None:
    with pytest.raises(BadInput, match="SWEEPER_GITHUB_TOKEN to the token alone") as refused:
        GitHubAccess(api_url=URL, token=SecretStr(token), marker_key=KEY)
    assert "ghp" not in str(refused.value)


@pytest.mark.parametrize(
    "content", ["", "no key at all", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"]
)
def test_an_unusable_app_key_is_named_at_once(tmp_path: Path, content: str) -> None:
    key_file = tmp_path / "key.pem"
    key_file.write_text(content)

    with pytest.raises(AuthBroken, match="SWEEPER_APP_KEY_FILE"):
        GitHubHost(GitHubAccess(api_url=URL, app_id=7, app_key_file=key_file, marker_key=KEY))


def test_a_missing_app_key_is_named_at_once(tmp_path: Path) -> None:
    access = GitHubAccess(api_url=URL, app_id=7, app_key_file=tmp_path / "absent.pem", marker_key=KEY)

    with pytest.raises(AuthBroken, match="SWEEPER_APP_KEY_FILE"):
        GitHubHost(access)


def test_no_library_may_log_tokens_or_signed_links_whatever_the_root_level() -> None:
    GitHubHost(GitHubAccess(api_url=URL, token=SecretStr("t"), marker_key=KEY))

    assert not logging.getLogger("github.Requester").isEnabledFor(logging.DEBUG)
    assert not logging.getLogger("httpx").isEnabledFor(logging.INFO)
    assert not logging.getLogger("httpcore.http11").isEnabledFor(logging.DEBUG)
