"""What is ours on GitHub, and who posted what only looks like it."""

import logging

import pytest
from pydantic import SecretStr

from adapters.github.lineage import landed_on
from adapters.github.markers import Audit, Marks
from adapters.github.replies import CommentReply, CommitReply
from sweeper import ids

KEY, MARKER_KEY, REPOSITORY = "sweep-1-1/compensate/1", b"marker key", 4711


class Bot:
    """As whom the texts of these tests are ours."""

    app_id = None

    def login(self) -> str:
        return "sweeper[bot]"

    def check(self) -> str:
        return self.login()

    def token(self, repository: str) -> SecretStr:
        return SecretStr("t")

    def forget(self, repository: str, refused: SecretStr) -> bool:
        return False

    def payer(self, repository: str) -> str:
        return ""

    def close(self) -> None:
        """Nothing to close."""


def text(body: str, author: str | None) -> CommentReply:
    user = None if author is None else {"login": author}
    return CommentReply.model_validate({"id": 1, "html_url": "https://h/1", "body": body, "user": user})


TRUE = ids.marker(KEY, MARKER_KEY, REPOSITORY)
FORGED = ids.marker(KEY, b"another key", REPOSITORY)
ELSEWHERE = ids.marker(KEY, MARKER_KEY, REPOSITORY + 1)


@pytest.mark.parametrize(
    ("body", "author", "key", "impostor"),
    [
        (f"done\n\n{TRUE}", "sweeper[bot]", KEY, None),
        (f"done\n\n{TRUE}", "Sweeper[BOT]", KEY, None),
        ("just talk", "mallory", None, None),
        ("just talk", "sweeper[bot]", None, None),
        (TRUE, "mallory", None, "mallory"),
        (FORGED, "mallory", None, "mallory"),
        (FORGED, "sweeper[bot]", None, "sweeper[bot]"),
        (ELSEWHERE, "sweeper[bot]", None, "sweeper[bot]"),
        (TRUE, None, None, "a deleted user"),
        (f"{FORGED}\n{TRUE}", "sweeper[bot]", KEY, None),
    ],
)
def test_ours_is_what_we_authored_and_signed(
    caplog: pytest.LogCaptureFixture, body: str, author: str | None, key: str | None, impostor: str | None
) -> None:
    audit = Audit()
    with caplog.at_level(logging.WARNING):
        found = Marks(Bot(), MARKER_KEY).key_of(text(body, author), REPOSITORY, audit)

    assert found == key
    assert list(audit.impostors) == ([impostor] if impostor else [])
    assert (impostor is not None) == ("passed over a marker" in caplog.text)
    assert MARKER_KEY.decode() not in caplog.text
    assert impostor is None or impostor in caplog.text


def test_a_note_names_each_impostor_once_and_not_too_many() -> None:
    audit = Audit()
    for name in ("mallory", "mallory", "eve", "trudy", "oscar", "sybil"):
        audit.impostors[name] = None
    audit.removed_double()
    audit.removed_double()

    assert audit.note() == "removed a double; passed over a forged marker of mallory, eve, trudy and 2 others"
    assert Audit().note() == ""


def history(**parents: tuple[str, ...]) -> dict[str, CommitReply]:
    """Commits by name; the words of `x2` are those of `x`: a rebased commit keeps them."""
    return {
        sha: CommitReply.model_validate(
            {"sha": sha, "parents": [{"sha": one} for one in above], "commit": {"message": sha.rstrip("0123456789")}}
        )
        for sha, above in parents.items()
    }


@pytest.mark.parametrize(
    ("commits", "count", "merged", "head", "base"),
    [
        (history(merge=("base", "head"), head=("old",)), 1, "merge", "head", "base"),
        (history(merge=("base", "b"), b=("a",), a=("old",)), 2, "merge", "b", "base"),
        (history(squash=("base",), head=("old",)), 1, "squash", "head", "base"),
        (history(squash=("base",), b=("a",), a=("old",)), 2, "squash", "b", "base"),
        (history(b2=("a2",), a2=("base",), b=("a",), a=("old",)), 2, "b2", "b", "base"),
        (history(c2=("b2",), b2=("a2",), a2=("base",), c=("b",)), 3, "c2", "c", "base"),
        (history(root=()), 1, "root", "root", None),
        (history(b2=("a2",), a2=(), b=("a",)), 2, "b2", "b", None),
    ],
)
def test_a_merge_a_squash_and_a_rebase_all_tell_on_what_they_landed(
    commits: dict[str, CommitReply], count: int, merged: str, head: str, base: str | None
) -> None:
    assert landed_on(merged, head, count, commits.__getitem__) == base
