"""Job logs as they come over the wire: from a storage host of its own, as they were written, in bounded memory."""

import tracemalloc
from collections.abc import AsyncIterator, Mapping

import pytest
from pydantic import SecretBytes, SecretStr

from adapters.github import GitHubAccess, GitHubHost
from adapters.github.logs import LOG_HEAD, LOG_TAIL
from sweeper.errors import Transient
from sweeper.model import RunRef
from sweeper.ports import LogAnswer
from tests.support.stub_github import Script, StubGitHub, stub_github

pytestmark = pytest.mark.slow

RUN = RunRef(repository="octo/app", repository_id=1, run_id=2)
API = "/repos/octo/app/actions/jobs/3/logs"
NO_MORE: Mapping[str, str] = {}
TEXT = {"content-type": "text/plain; charset=utf-8"}


def log(body: bytes, status: int = 200, times: int | None = None, headers: Mapping[str, str] = NO_MORE) -> Script:
    return Script("GET", "/blob", status, body, {**TEXT, **headers}, times)


@pytest.fixture
async def storage() -> AsyncIterator[StubGitHub]:
    with stub_github() as stub:
        yield stub


async def read(storage: StubGitHub, *answers: Script) -> tuple[LogAnswer, StubGitHub]:
    """The log by a link that GitHub gives, unless it answers by itself."""
    to_storage = Script("GET", API, 302, b"", {"location": f"{storage.url}/blob?sig=secret"})
    with stub_github(*answers, to_storage) as github:
        host = GitHubHost(
            GitHubAccess(api_url=github.url, token=SecretStr("ghp_x"), marker_key=SecretBytes(b"k"), timeout_seconds=5)
        )
        try:
            return await host.read_log(RUN, 3), github
        finally:
            host.close()


async def test_the_storage_host_never_sees_our_token(storage: StubGitHub) -> None:
    storage.scripts.append(log(b"red\n"))

    answer, github = await read(storage)

    assert answer == LogAnswer(text=b"red\n")
    assert github.asked[0].headers["authorization"] == "Bearer ghp_x"
    assert ["authorization" in asked.headers for asked in storage.asked] == [False]


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbf2026-01-01T00:00:00.0000000Z with a byte order mark\n",
        b"progress 1%\rprogress 2%\r\n",
        b"\x1b[31mred\x1b[0m\n",
        b"x" * 300_000 + b"\n",
        b"not \xff\xfe UTF-8\n",
        b"no end of line",
    ],
)
async def test_it_comes_as_it_was_written(storage: StubGitHub, body: bytes) -> None:
    storage.scripts.append(log(body))

    assert (await read(storage))[0].text == body


@pytest.mark.parametrize("blank", [b"", b"\xef\xbb\xbf", b"\r\n \n"])
async def test_an_empty_one_is_asked_for_once_more(storage: StubGitHub, blank: bytes) -> None:
    storage.scripts += [log(blank, times=1), log(b"there it is\n")]

    answer, github = await read(storage)

    assert (answer.text, len(github.asked)) == (b"there it is\n", 2)


async def test_one_that_stays_empty_is_an_answer(storage: StubGitHub) -> None:
    storage.scripts.append(log(b""))

    answer, github = await read(storage)

    assert (answer, len(github.asked)) == (LogAnswer(text=None, missing="the log is empty"), 2)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [(410, {"message": "Server Error", "status": "410"}, "expired (410)"), (404, {"message": "Not Found"}, "(404)")],
)
async def test_one_that_is_gone_is_an_answer_for_good(
    storage: StubGitHub, status: int, body: dict[str, str], why: str
) -> None:
    answer, github = await read(storage, Script("GET", API, status, {**body}))

    assert answer.text is None
    assert why in str(answer.missing)
    assert len(github.asked) == 1


@pytest.mark.parametrize(
    "spoilt",
    [
        log(b"only half of it", headers={"content-length": "500"}),
        log(b"AuthenticationFailed", 403),
        log(b"<html>busy</html>", 503),
        log(b"no gzip at all", headers={"content-encoding": "gzip"}),
    ],
    ids=["cut off", "link expired", "storage is down", "garbled"],
)
async def test_a_lost_answer_is_repeated_by_the_one_retrier(storage: StubGitHub, spoilt: Script) -> None:
    storage.scripts.append(spoilt)

    with pytest.raises(Transient) as lost:
        await read(storage)

    assert "secret" not in str(lost.value), "the link is as good as a password for a minute"
    assert len(storage.asked) == 1


async def test_it_is_not_asked_for_in_packed_form(storage: StubGitHub) -> None:
    storage.scripts.append(log(b"red\n"))
    await read(storage)

    assert storage.asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("megabytes", [60, 90])
async def test_a_huge_one_takes_no_more_than_twice_what_is_kept(storage: StubGitHub, megabytes: int) -> None:
    line = b"2026-01-01T00:00:00.0000000Z " + b"x" * 994 + b"\n"
    body = b"first line\n" + line * (megabytes << 10) + b"last line\n"
    storage.scripts.append(log(body))

    tracemalloc.start()
    try:
        text = (await read(storage))[0].text
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert text is not None
    assert text.startswith(b"first line\n")
    assert text.endswith(b"last line\n")
    assert (b"bytes of this log were left out here" in text) is (len(body) > LOG_HEAD + LOG_TAIL)
    assert peak < 2.2 * min(len(body), LOG_HEAD + LOG_TAIL)
