import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper import ids
from sweeper.model import RunRef
from tests.support.values import run_ref

PUBLIC = "https://api.github.com"
KEY = b"the server's own key"
EFFECT = "sweep-1001-1/propose/1"

RUNS = st.builds(run_ref, run_id=st.integers(1, 10**15), run_attempt=st.integers(1, 50))
HOSTS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?(\.[a-z0-9-]{1,60}){0,4}", fullmatch=True)
URLS = (
    st.sampled_from([PUBLIC, "https://github.com", "http://127.0.0.1:8080", "http://[::1]:8080", "http://[fe80::1]"])
    | st.builds("https://{}/api/v3".format, HOSTS)
    | st.builds("http://{}:{}".format, HOSTS, st.integers(1, 65535))
)
REQUESTS = st.none() | st.text(min_size=1)


@pytest.mark.parametrize(
    ("url", "request_id", "workflow_id"),
    [
        (PUBLIC, None, "sweep-1001-2"),
        ("https://github.com", None, "sweep-1001-2"),
        ("https://ghe.example.com/api/v3", None, "sweep-ghe.example.com-1001-2"),
        ("https://GHE.example.com:8443/api/v3", None, "sweep-ghe.example.com-1001-2"),
        ("http://127.0.0.1:53111", None, "sweep-127.0.0.1-1001-2"),
        ("http://[::1]:53111", None, "sweep-1-1001-2"),
        (PUBLIC, "r42", "sweep-1001-2-mr42"),
        (PUBLIC, "", "sweep-1001-2"),
    ],
)
def test_a_sweep_is_named_after_its_host_run_attempt_and_request(
    url: str, request_id: str | None, workflow_id: str
) -> None:
    assert ids.sweep_id(run_ref(run_attempt=2), url, request_id) == workflow_id


def test_a_rename_of_the_repository_does_not_make_another_sweep() -> None:
    renamed = run_ref(repository="octo/renamed")
    assert ids.sweep_id(renamed, PUBLIC) == ids.sweep_id(run_ref(), PUBLIC)


@given(st.text(min_size=1), st.text(min_size=1))
def test_different_requests_are_different_sweeps(one: str, other: str) -> None:
    same = ids.sweep_id(run_ref(), PUBLIC, one) == ids.sweep_id(run_ref(), PUBLIC, other)
    assert same == (one == other)


@given(RUNS, URLS, REQUESTS)
def test_the_way_from_sweep_to_branch_leads_back(run: RunRef, url: str, request_id: str | None) -> None:
    workflow_id = ids.sweep_id(run, url, request_id)
    branch = ids.branch_of(workflow_id)
    assert ids.is_our_branch(branch)
    assert ids.sweep_id_of_branch(branch) == workflow_id


@given(RUNS, URLS, REQUESTS)
def test_a_branch_of_ours_is_a_valid_git_reference(run: RunRef, url: str, request_id: str | None) -> None:
    """Rules: `git help check-ref-format`."""
    branch = ids.branch_of(ids.sweep_id(run, url, request_id))
    assert re.fullmatch(r"sweeper/[A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9]", branch)
    assert ".." not in branch
    assert not branch.endswith(".lock")


@pytest.mark.parametrize(
    "branch",
    [None, "", "main", "sweeper", "Sweeper/1-1", "feature/sweeper/1-1", "sweepers/1-1"],
)
def test_a_branch_outside_our_namespace_is_nobodys_sweep(branch: str | None) -> None:
    assert not ids.is_our_branch(branch)
    assert ids.sweep_id_of_branch(branch) is None


@pytest.mark.parametrize(
    "branch",
    ["sweeper/", "sweeper/-x", "sweeper/.x", "sweeper/a b", "sweeper/a/b", "sweeper/a\n", "sweeper/" + "x" * 200],
)
def test_a_name_we_never_made_is_ours_by_place_and_belongs_to_no_sweep(branch: str) -> None:
    assert ids.is_our_branch(branch)
    assert ids.sweep_id_of_branch(branch) is None


def test_an_effect_key_names_workflow_step_and_ordinal() -> None:
    assert ids.effect_key("sweep-1001-1", "propose", 1) == EFFECT


def test_a_target_is_one_word_of_repository_and_branch() -> None:
    assert ids.target_of(4711, "feature/x") == "4711:feature/x"


@given(RUNS, URLS, REQUESTS, st.text(), st.text())
def test_a_marker_is_found_in_any_body(run: RunRef, url: str, request_id: str | None, head: str, tail: str) -> None:
    key = ids.effect_key(ids.sweep_id(run, url, request_id), "await_review", 12)
    assert ids.effect_of_body(head + ids.marker(key, KEY, 4711) + tail, KEY, 4711) == key


def test_a_marker_is_invisible_on_a_page() -> None:
    made = ids.marker(EFFECT, KEY, 4711)
    assert made.startswith("<!-- ")
    assert made.endswith(" -->")
    assert made.count("--") == 2


MARKER = ids.marker(EFFECT, KEY, 4711)


@pytest.mark.parametrize(
    "body",
    [
        None,
        "",
        "no marker at all",
        MARKER.replace("propose/1", "propose/2"),
        MARKER.replace("1001-1", "1002-1"),
        MARKER.replace("mac=", "mac=0"),
        re.sub(r"mac=.*? ", "mac=" + "0" * 64 + " ", MARKER),
        MARKER.upper(),
        MARKER.removesuffix(" -->"),
        ids.marker(EFFECT, b"another key", 4711),
        ids.marker(EFFECT, KEY, 4712),
    ],
)
def test_a_forged_or_moved_marker_is_passed_over(body: str | None) -> None:
    assert ids.effect_of_body(body, KEY, 4711) is None


def test_a_forged_marker_does_not_hide_the_true_one() -> None:
    forged = ids.marker(EFFECT, b"another key", 4711)
    assert ids.effect_of_body(f"{forged}\n{MARKER}", KEY, 4711) == EFFECT


@given(st.integers(0, len(MARKER) - 1), st.characters(exclude_categories=["Cs"]))
def test_a_marker_with_any_letter_changed_does_not_hold(place: int, letter: str) -> None:
    changed = MARKER[:place] + letter + MARKER[place + 1 :]
    assert (ids.effect_of_body(changed, KEY, 4711) == EFFECT) == (changed == MARKER)


def test_the_longest_name_we_make_still_fits_into_a_marker() -> None:
    longest = ids.sweep_id(run_ref(run_id=10**18), f"https://{'x' * 60}", "y" * 40)
    key = ids.effect_key(longest, "await_review", 10_000)
    assert ids.effect_of_body(ids.marker(key, KEY, 2**63), KEY, 2**63) == key


@pytest.mark.parametrize(
    ("body", "claims"),
    [(None, False), ("", False), ("<!-- sweeper -->", False), (f"text\n{MARKER}", True), (MARKER[:-5], False)],
)
def test_a_text_claims_an_effect_by_a_marker_true_or_not(body: str | None, claims: bool) -> None:
    assert ids.claims_an_effect(body) is claims
