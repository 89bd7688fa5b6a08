"""What is allowed onto a git command line."""

import pytest

from sweeper.errors import BadInput
from worktrees.names import belongs_to, branch_ref, commit_id, record_ref, remote_url, workspace_name

GOOD_BRANCHES = ["main", "sweeper/123-1", "sweeper/ghe.example.org-5-1-mabc", "feature/a_b", "ünï", "a@b", "@"]
BAD_BRANCHES = [
    "", "-f", "--all", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a//b", "/a", "a/", ".a", "a/.b",
    "a.lock", "a.lock/b", "a.", "a@{1}", "a\nb", "a\x7f", "HEAD", "x/-y", "a" * 500,
]  # fmt: skip


@pytest.mark.parametrize("branch", GOOD_BRANCHES)
def test_ordinary_branch_names_are_taken(branch: str) -> None:
    assert branch_ref(branch) == f"refs/heads/{branch}"


@pytest.mark.parametrize("branch", BAD_BRANCHES)
def test_odd_branch_names_are_refused_in_a_bounded_sentence(branch: str) -> None:
    with pytest.raises(BadInput) as raised:
        branch_ref(branch)
    assert len(str(raised.value)) < 200
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "HEAD", "a" * 39, "a" * 41, "A" * 40, "g" * 40, "-" + "a" * 39, "a" * 40 + "\n"])
def test_only_full_lower_case_ids_are_commits(text: str) -> None:
    with pytest.raises(BadInput):
        commit_id(text)


@pytest.mark.parametrize("name", ["", ".", "..", "-x", "a/b", "a b", "a..b", "a.", "a.lock", "a\n", "ü", "a" * 201])
def test_a_workspace_name_is_one_plain_component(name: str) -> None:
    with pytest.raises(BadInput):
        workspace_name(name)


@pytest.mark.parametrize(
    "ref", ["refs/heads/x", "refs/sweeper/x", "refs/sweeper/pins/x", "refs/sweeper//x", "refs/sweeper/a/../b", "x", ""]
)
def test_records_lie_under_their_sweep_and_nowhere_else(ref: str) -> None:
    with pytest.raises(BadInput):
        record_ref(ref)


def test_a_record_of_a_sweep_is_taken() -> None:
    assert record_ref("refs/sweeper/sweep-1-1/2") == "refs/sweeper/sweep-1-1/2"


@pytest.mark.parametrize(
    "url", ["https://t@h/r", "https://u:p@h/r", "ssh://h/r", "ext::sh", "/path", "", "http://h/ r"]
)
def test_urls_carry_no_credential_and_no_surprise(url: str) -> None:
    with pytest.raises(BadInput):
        remote_url(url)


def test_a_sweep_owns_its_name_and_what_is_dotted_on() -> None:
    assert [belongs_to(name, "s-1") for name in ("s-1", "s-1.verify", "s-10", "s-1-m2", "s-")] == [
        True,
        True,
        False,
        False,
        False,
    ]
