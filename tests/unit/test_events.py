"""Webhook bytes become one typed event, or one clear refusal."""

import contextlib
import json
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from sweeper import events
from sweeper.errors import BadInput
from sweeper.events import (
    BranchPushed,
    Ignored,
    Ping,
    ProposalChanged,
    ReviewSubmitted,
    RunEnded,
    RunFailed,
    SweepRequested,
    parse,
    verify,
)
from sweeper.model import RunRef
from tests.support.payloads import (
    FORK,
    REPOSITORY,
    Body,
    dispatch_body,
    encode,
    headers,
    pull_body,
    push_body,
    real_payload,
    real_payload_names,
    run_body,
    sign,
)

BODY = b'{"zen": "Keep it logically awesome."}'


@pytest.mark.parametrize("position", [0, 1, 2])
def test_any_of_several_secrets_verifies(position: int) -> None:
    secrets: list[bytes | SecretStr] = [SecretStr("old"), b"current", SecretStr("next")]
    assert verify(BODY, sign(BODY, ["old", "current", "next"][position]), secrets)


@pytest.mark.parametrize(
    ("signature", "secrets"),
    [
        (None, [b"s"]),
        ("", [b"s"]),
        ("sha256=", [b"s"]),
        (sign(BODY, "other"), [b"s"]),
        (sign(BODY + b" ", "s"), [b"s"]),
        (sign(BODY, "s").removeprefix("sha256="), [b"s"]),
        (sign(BODY, "s").replace("sha256", "sha1"), [b"s"]),
        ("sha256=\xe4\ud800", [b"s"]),
        (sign(BODY, "s"), []),
        (sign(BODY, ""), [b""]),
        (sign(BODY, ""), [SecretStr("")]),
    ],
)
def test_nothing_else_verifies(signature: str | None, secrets: list[bytes | SecretStr]) -> None:
    assert not verify(BODY, signature, secrets)


@pytest.mark.parametrize(
    ("conclusion", "starts"),
    [
        ("success", False),
        ("failure", True),
        ("cancelled", False),
        ("timed_out", True),
        ("startup_failure", True),
        ("action_required", False),
        ("neutral", False),
        ("skipped", False),
        ("stale", False),
        (None, False),
        ("a_value_of_the_future", False),
    ],
)
def test_every_conclusion_has_an_answer(conclusion: str | None, starts: bool) -> None:
    event = parse(headers("workflow_run"), encode(run_body(conclusion)))
    assert isinstance(event, RunFailed if starts else RunEnded)
    assert event.conclusion == conclusion


@pytest.mark.parametrize("action", ["requested", "in_progress", "a_verb_of_the_future"])
def test_runs_that_go_on_are_ignored(action: str) -> None:
    assert isinstance(parse(headers("workflow_run"), encode({**run_body(), "action": action})), Ignored)


def test_a_failed_run_names_attempt_head_and_the_person_who_reran() -> None:
    event = parse(headers("workflow_run"), encode(run_body("failure", "topic", run_attempt=3)))
    assert isinstance(event, RunFailed)
    assert event.run == RunRef(repository="octo/app", repository_id=4711, run_id=77, run_attempt=3)
    assert (event.head_branch, event.head_repository_id, event.actor) == ("topic", 4711, "bea")
    assert not event.is_fork


@pytest.mark.parametrize("head_repository", [FORK, None])
def test_a_run_from_elsewhere_is_a_fork(head_repository: Body | None) -> None:
    event = parse(headers("workflow_run"), encode(run_body(head_repository=head_repository, pull_requests=[])))
    assert isinstance(event, RunFailed)
    assert event.is_fork


@pytest.mark.parametrize("branch", ["a;$(touch${IFS}PWN)", "--upload-pack=x", "ünï", None])
def test_odd_branch_names_pass_unchanged(branch: str | None) -> None:
    event = parse(headers("workflow_run"), encode(run_body(branch=branch)))
    assert isinstance(event, RunFailed)
    assert event.head_branch == branch


@pytest.mark.parametrize("action", ["submitted", "edited", "dismissed"])
def test_review_actions_ring(action: str) -> None:
    event = parse(headers("pull_request_review"), encode(pull_body(action, "sweeper/1-1")))
    assert isinstance(event, ReviewSubmitted)
    assert (event.number, event.head_branch, event.is_fork) == (7, "sweeper/1-1", False)


@pytest.mark.parametrize(
    "action",
    ["closed", "reopened", "synchronize", "edited", "ready_for_review", "converted_to_draft", "enqueued", "dequeued"],
)
def test_pull_request_actions_that_matter_ring(action: str) -> None:
    assert isinstance(parse(headers("pull_request"), encode(pull_body(action, "sweeper/1-1"))), ProposalChanged)


@pytest.mark.parametrize("action", ["opened", "labeled", "assigned", "a_verb_of_the_future"])
def test_other_pull_request_actions_are_ignored(action: str) -> None:
    assert isinstance(parse(headers("pull_request"), encode(pull_body(action, "sweeper/1-1"))), Ignored)


def test_a_pull_request_of_a_deleted_fork_is_a_fork() -> None:
    event = parse(headers("pull_request"), encode(pull_body("closed", "sweeper/1-1", None)))
    assert isinstance(event, ProposalChanged)
    assert event.is_fork


def test_a_push_names_its_branch_and_a_tag_is_ignored() -> None:
    pushed = parse(headers("push"), encode(push_body("refs/heads/feature/x")))
    assert isinstance(pushed, BranchPushed)
    assert (pushed.head_branch, pushed.head_repository_id) == ("feature/x", 4711)
    assert isinstance(parse(headers("push"), encode(push_body("refs/tags/v1"))), Ignored)


def test_ping_and_unknown_events_are_fine() -> None:
    assert parse(headers("ping"), b'{"zen": "x", "hook_id": 1}') == Ping()
    assert isinstance(parse(headers("sponsorship"), b"{}"), Ignored)


def test_a_dispatch_asks_for_a_sweep() -> None:
    ask = {"run_id": 77, "request_id": "again", "reason": "the runner was full"}
    event = parse(headers("repository_dispatch"), encode(dispatch_body(ask)))
    assert isinstance(event, SweepRequested)
    assert (event.run_id, event.request_id, event.reason, event.actor) == (77, "again", "the runner was full", "ann")
    assert event.repository == "octo/app"


@pytest.mark.parametrize("ask", [{"run_id": 77}, {"run_id": 77, "request_id": None}])
def test_a_dispatch_without_request_id_is_known_by_its_delivery(ask: Body) -> None:
    event = parse(headers("repository_dispatch", "guid-1"), encode(dispatch_body(ask)))
    assert isinstance(event, SweepRequested)
    assert event.request_id == "guid-1"


def test_a_dispatch_with_no_id_at_all_is_refused() -> None:
    with pytest.raises(BadInput, match="request_id"):
        parse({"X-GitHub-Event": "repository_dispatch"}, encode(dispatch_body({"run_id": 77})))


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (None, "client_payload"),
        ([77], "client_payload"),
        ({}, "run_id"),
        ({"run_id": "77"}, "run_id"),
        ({"run_id": True}, "run_id"),
        ({"run_id": 7.5}, "run_id"),
        ({"run_id": 0}, "run_id"),
        ({"run_id": 2**63}, "run_id"),
        ({"run_id": 77, "request_id": 5}, "request_id"),
        ({"run_id": 77, "request_id": ""}, "request_id"),
        ({"run_id": 77, "request_id": "x" * 101}, "request_id"),
        ({"run_id": 77, "reason": ["x"]}, "reason"),
        ({"run_id": 77, "reason": "x" * 1001}, "reason"),
        ({"run_id": 77, "agent": "mine"}, "agent"),
        ({"run_id": 77, **{f"k{n}": n for n in range(10)}}, "more than 10 keys"),
    ],
)
def test_a_dispatch_of_another_shape_is_refused_by_name(ask: object, named: str) -> None:
    with pytest.raises(BadInput, match=named):
        parse(headers("repository_dispatch"), encode(dispatch_body(ask)))


def test_dispatches_of_other_types_are_not_ours() -> None:
    body = dispatch_body({"anything": 1}, event_type="deploy")
    assert isinstance(parse(headers("repository_dispatch"), encode(body)), Ignored)


def test_header_names_are_matched_in_any_case() -> None:
    assert parse({"x-GITHUB-event": "ping"}, b"{}") == Ping()


def test_a_form_encoded_body_is_read_from_its_payload_field() -> None:
    form = urlencode({"payload": json.dumps(run_body())}).encode()
    sent = {**headers("workflow_run"), "Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    assert isinstance(parse(sent, form), RunFailed)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b""),
        ("application/json", b"{"),
        ("application/json", b"[1]"),
        ("application/json", b"null"),
        ("application/json", b"\xff\xfe{}"),
        ("application/json", b'{"a": "\\ud800"}'),
        ("application/json", b"[" * 100_000),
        ("application/x-www-form-urlencoded", b"{}"),
        ("application/x-www-form-urlencoded", b"payload=%7B"),
        ("application/x-www-form-urlencoded", b"\xff"),
        ("application/x-www-form-urlencoded", b"&".join([b"a=1"] * 50)),
        ("text/plain", b"{}"),
    ],
)
def test_what_is_no_json_object_is_refused(content_type: str, body: bytes) -> None:
    with pytest.raises(BadInput):
        parse({"X-GitHub-Event": "ping", "Content-Type": content_type}, body)


def test_a_delivery_without_event_name_is_refused() -> None:
    with pytest.raises(BadInput, match="X-GitHub-Event"):
        parse({}, b"{}")


@pytest.mark.parametrize(
    ("event", "body", "named"),
    [
        ("workflow_run", {}, "action"),
        ("workflow_run", {"action": "completed", "repository": REPOSITORY}, "workflow_run"),
        ("workflow_run", run_body(id="77"), "id"),
        ("workflow_run", run_body(id=True), "id"),
        ("workflow_run", run_body(run_attempt=0), "run_attempt"),
        ("workflow_run", run_body(head_sha="--exec"), "head_sha"),
        ("workflow_run", run_body(conclusion=5), "conclusion"),
        ("workflow_run", {**run_body(), "repository": {"id": 1}}, "repository"),
        ("workflow_run", {**run_body(), "repository": {"id": 1, "full_name": "../etc"}}, "full_name"),
        ("workflow_run", {**run_body(), "repository": {"id": 1, "full_name": "octo/.."}}, "full_name"),
        ("pull_request", {"action": "closed", "repository": REPOSITORY}, "pull_request"),
        ("push", {"repository": REPOSITORY}, "ref"),
        ("repository_dispatch", {"client_payload": {"run_id": 1}}, "action"),
    ],
)
def test_a_missing_or_mistyped_field_that_is_used_is_named(event: str, body: Body, named: str) -> None:
    with pytest.raises(BadInput, match=rf"\b{named}\b"):
        parse(headers(event), encode(body))


def test_refusals_never_repeat_what_was_sent() -> None:
    with pytest.raises(BadInput) as caught:
        parse(headers("workflow_run"), encode(run_body(head_sha="hunter2-secret")))
    assert "hunter2" not in str(caught.value)


def test_top_level_keys_are_not_taken_for_fields_of_ours() -> None:
    body = run_body(head_repository=None)
    body["head_repository_id"] = 4711
    event = parse(headers("workflow_run"), encode(body))
    assert isinstance(event, RunFailed)
    assert event.is_fork


@pytest.mark.parametrize("name", real_payload_names())
def test_real_bodies_are_read_without_refusal(name: str) -> None:
    event = parse(headers(name.partition(".")[0]), encode(real_payload(name)))
    assert not isinstance(event, RunFailed | SweepRequested)


def test_a_real_run_body_edited_to_fail_starts() -> None:
    body = real_payload("workflow_run.completed.success.with_pr")
    body["workflow_run"].update(conclusion="failure", run_attempt=2)
    event = parse(headers("workflow_run"), encode(body))
    assert isinstance(event, RunFailed)
    assert event.run.run_attempt == 2
    assert not event.is_fork
    body["workflow_run"]["head_repository"]["id"] += 1
    body["workflow_run"]["pull_requests"] = []
    forked = parse(headers("workflow_run"), encode(body))
    assert isinstance(forked, RunFailed)
    assert forked.is_fork


def test_real_review_and_merge_bodies_edited_to_ours_ring() -> None:
    review = real_payload("pull_request_review.submitted.commented")
    review["review"]["state"] = "approved"
    review["pull_request"]["head"]["ref"] = "sweeper/30433642-1"
    merged = real_payload("pull_request.closed")
    merged["pull_request"].update(merged=True)
    merged["pull_request"]["head"]["ref"] = "sweeper/30433642-1"
    submitted = parse(headers("pull_request_review"), encode(review))
    closed = parse(headers("pull_request"), encode(merged))
    assert isinstance(submitted, ReviewSubmitted)
    assert isinstance(closed, ProposalChanged)
    assert submitted.head_branch == closed.head_branch == "sweeper/30433642-1"


def test_a_real_dispatch_body_edited_to_ours_asks() -> None:
    body = real_payload("repository_dispatch.on-demand-test")
    body.update(action="ci-sweeper", client_payload={"run_id": 30433642})
    assert isinstance(parse(headers("repository_dispatch"), encode(body)), SweepRequested)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
SAMPLES = {
    "workflow_run": run_body(),
    "pull_request": pull_body("closed", "sweeper/1-1"),
    "pull_request_review": pull_body("submitted", "sweeper/1-1"),
    "push": push_body("refs/heads/main"),
    "repository_dispatch": dispatch_body({"run_id": 77}),
}


def _places(node: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Where each value in a body stands."""
    if not isinstance(node, dict):
        return [path]
    return [path, *(place for key, value in node.items() for place in _places(value, (*path, key)))]


def _replaced(node: Body, path: tuple[str, ...], value: object) -> object:
    if not path:
        return value
    return {**node, path[0]: _replaced(node[path[0]], path[1:], value)}


@given(data=st.data(), name=st.sampled_from(sorted(SAMPLES)), value=JSON)
def test_a_body_changed_in_any_place_gives_an_event_or_a_refusal(data: st.DataObject, name: str, value: object) -> None:
    place = data.draw(st.sampled_from(_places(SAMPLES[name])))
    body = json.dumps(_replaced(SAMPLES[name], place, value)).encode()
    with contextlib.suppress(BadInput):
        assert isinstance(parse(headers(name), body), events.Event)


@given(name=st.sampled_from([*sorted(SAMPLES), "ping", "other"]), cut=st.integers(0, 400), noise=st.binary(max_size=8))
def test_broken_bytes_give_an_event_or_a_refusal(name: str, cut: int, noise: bytes) -> None:
    body = encode(SAMPLES.get(name, {"zen": "x"}))
    broken = body[:cut] + noise + body[cut:]
    for content_type in ("application/json", "application/x-www-form-urlencoded"):
        with contextlib.suppress(BadInput):
            assert isinstance(parse({**headers(name), "Content-Type": content_type}, broken), events.Event)
