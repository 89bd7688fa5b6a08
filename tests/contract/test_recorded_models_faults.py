"""A recorded model that does wrong: late, half, too much, nonsense; and what its ledger says of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from adapters.models.recorded.faults import FaultKind, FaultRule
from adapters.models.recorded.ledger import Outcome
from adapters.models.recorded.script import Script, ToolCall, Turn
from tests.support.recorded_models import RecordedModel, recorded_here, recorded_process
from tests.support.recorded_talk import TALKS, ChatTalk, MessagesTalk, ResponsesTalk, Talk

SCRIPT = Script(
    turns=(
        Turn(text="I look.", calls=(ToolCall(name="read", arguments={"path": "a.py"}), ToolCall(name="list"))),
        Turn(text="Done."),
    )
)
WAYS = [
    pytest.param(talk, stream, id=f"{talk.path[4:]} {'streamed' if stream else 'whole'}")
    for talk in TALKS
    for stream in (False, True)
]


def client(model: RecordedModel) -> httpx.AsyncClient:
    headers = {"x-api-key": model.info.key}
    return httpx.AsyncClient(base_url=model.info.url, headers=headers, timeout=30, trust_env=False)


@asynccontextmanager
async def spoilt(state: Path, *rules: FaultRule) -> AsyncIterator[tuple[RecordedModel, httpx.AsyncClient]]:
    async with recorded_here(SCRIPT, state) as model, client(model) as http:
        await model.spoil(*rules)
        yield model, http


ERRORS = {
    FaultKind.RATE_LIMITED: (429, "rate_limit_exceeded", "rate_limit_error"),
    FaultKind.SERVER_ERROR: (500, "server_error", "api_error"),
    FaultKind.OVERLOADED: (529, "overloaded", "overloaded_error"),
    FaultKind.CONTEXT_LENGTH: (400, "context_length_exceeded", "invalid_request_error"),
}


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("talk", TALKS)
async def test_an_error_is_worded_as_its_protocol_has_it(tmp_path: Path, kind: FaultKind, talk: type[Talk]) -> None:
    status, code, error_type = ERRORS[kind]
    async with spoilt(tmp_path, FaultRule(kind=kind)) as (_, http):
        answer = await http.post(talk.path, json=talk().body(stream=True))
        heard = await talk().ask(http, stream=True)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["type"] == error_type) if talk is MessagesTalk else (error["code"] == code)
    assert "retry-after" not in answer.headers
    assert heard.text == "I look."


async def test_a_limit_may_say_when_to_come_back(tmp_path: Path) -> None:
    rules = [FaultRule(kind=FaultKind.RATE_LIMITED, nth=n, retry_after=after) for n, after in ((1, 20), (2, 0.5))]
    async with spoilt(tmp_path, *rules) as (_, http):
        answers = [await http.post(ChatTalk.path, json=ChatTalk().body(stream=False)) for _ in range(2)]
    assert [answer.headers["retry-after"] for answer in answers] == ["20", "0.5"]


@pytest.mark.parametrize(("kind", "stream"), WAYS)
async def test_a_cut_comes_in_the_middle_of_an_answer(tmp_path: Path, kind: type[Talk], stream: bool) -> None:
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.CUT)) as (model, http):
        got: list[bytes] = []
        with pytest.raises(httpx.RemoteProtocolError):
            await _receive(http, kind, stream, got)
        whole = (await http.post(kind.path, json=kind().body(stream))).content
        cut, sent = await model.calls()
    assert 0 < len(b"".join(got)) < len(whole)
    assert whole.startswith(b"".join(got))
    assert (cut.outcome, sent.outcome, cut.digest) == (Outcome.CUT, Outcome.SENT, sent.digest)


async def _receive(http: httpx.AsyncClient, kind: type[Talk], stream: bool, got: list[bytes]) -> None:
    async with http.stream("POST", kind.path, json=kind().body(stream)) as answer:
        async for piece in answer.aiter_bytes():
            got.append(piece)


@pytest.mark.parametrize(("kind", "stream"), WAYS)
async def test_nonsense_is_an_answer_nobody_can_read(tmp_path: Path, kind: type[Talk], stream: bool) -> None:
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.NONSENSE)) as (_, http):
        answer = await http.post(kind.path, json=kind().body(stream))
    assert answer.status_code == 200
    assert b"It works" in answer.content
    with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
        json.loads(answer.content.rpartition(b"data: ")[2])


@pytest.mark.parametrize(("kind", "stream"), WAYS)
async def test_an_oversize_answer_is_as_large_as_asked(tmp_path: Path, kind: type[Talk], stream: bool) -> None:
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.OVERSIZE, size=2_000_000)) as (_, http):
        heard = await kind().ask(http, stream)
    assert len(heard.text) == len("I look.") + 2_000_000
    assert len(heard.calls) == 2


@pytest.mark.parametrize(("kind", "stream"), WAYS)
async def test_a_refusal_is_told_from_an_answer(tmp_path: Path, kind: type[Talk], stream: bool) -> None:
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.REFUSAL)) as (_, http):
        heard = await kind().ask(http, stream)
    assert heard.refusal == "I can not help with that."
    assert heard.calls == []


@pytest.mark.parametrize(("kind", "stream"), WAYS)
async def test_a_storm_comes_at_once_and_leads_on(tmp_path: Path, kind: type[Talk], stream: bool) -> None:
    talk = kind()
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.STORM, size=64)) as (_, http):
        heard = await talk.ask(http, stream)
        talk.take(heard, "result")
        after = await talk.ask(http, stream)
    assert [call.name for call in heard.calls] == ["read"] * 64 + ["list"]
    assert after.text == "Done."


@pytest.mark.parametrize(("kind", "stream"), WAYS)
async def test_ids_that_repeat_lead_on(tmp_path: Path, kind: type[Talk], stream: bool) -> None:
    turns = tuple(Turn(calls=(ToolCall(name="read", arguments={"n": n}),)) for n in range(4))
    talk = kind()
    async with recorded_here(Script(turns=turns), tmp_path) as model, client(model) as http:
        await model.spoil(FaultRule(kind=FaultKind.REPEATED_IDS, times=None))
        heard = []
        for _ in turns:
            heard.append(await talk.ask(http, stream))
            talk.take(heard[-1], "result")
    assert [(call.id, call.arguments) for one in heard for call in one.calls] == [
        ("call_0", json.dumps({"n": n})) for n in range(4)
    ]


@pytest.mark.parametrize(("kind", "stream"), WAYS)
async def test_a_tool_that_was_never_offered_is_called_and_the_turn_comes_after(
    tmp_path: Path, kind: type[Talk], stream: bool
) -> None:
    talk = kind()
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.UNKNOWN_TOOL)) as (_, http):
        wrong = await talk.ask(http, stream)
        talk.take(wrong, "there is no such tool")
        right = await talk.ask(http, stream)
    assert [call.name for call in wrong.calls] == ["no_such_tool"]
    assert [call.name for call in right.calls] == ["read", "list"]


@pytest.mark.parametrize("kind", [ChatTalk, ResponsesTalk])
async def test_arguments_may_be_no_json(tmp_path: Path, kind: type[Talk]) -> None:
    talk = kind()
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.INVALID_ARGUMENTS)) as (_, http):
        wrong = await talk.ask(http, stream=True)
        talk.take(wrong, "these are no arguments")
        right = await talk.ask(http, stream=True)
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(wrong.calls[0].arguments)
    assert json.loads(right.calls[0].arguments) == {"path": "a.py"}


async def test_arguments_that_are_objects_may_be_broken_too(tmp_path: Path) -> None:
    """Whole messages hold an object, so only a stream can break it; whole ones have arguments nobody asked for."""
    body = MessagesTalk().body(stream=True)
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.INVALID_ARGUMENTS, times=2)) as (_, http):
        streamed = (await http.post(MessagesTalk.path, json=body)).text
        whole = await MessagesTalk().ask(http, stream=False)
    parts = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: ")]
    words = [one["delta"]["partial_json"] for one in parts if one.get("delta", {}).get("type") == "input_json_delta"]
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(words[0])
    assert list(json.loads(whole.calls[0].arguments)) == ["INVALID_JSON"]


async def test_a_slow_answer_comes_after_a_quick_one(tmp_path: Path) -> None:
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.SLOW, nth=1, seconds=0.3)) as (model, http):
        slow = asyncio.create_task(ChatTalk().ask(http, stream=True))
        await model.until(lambda ledger: ledger.open == 1)
        await ChatTalk().ask(http, stream=True)
        assert not slow.done()
        assert (await slow).text == "I look."


async def test_a_held_answer_waits_for_its_release(tmp_path: Path) -> None:
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.HOLD, turn=0)) as (model, http):
        held = asyncio.create_task(ChatTalk().ask(http, stream=False))
        await model.until(lambda ledger: ledger.open == 1)
        await model.spoil()
        assert (await ChatTalk().ask(http, stream=False)).text == "I look."
        assert not held.done()
        await model.release()
        assert (await held).text == "I look."
        assert [call.outcome for call in await model.calls()] == [Outcome.SENT, Outcome.SENT]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [FaultKind.HOLD, FaultKind.SLOW])
async def test_a_client_that_goes_away_meanwhile_is_told_from_one_that_was_answered(
    tmp_path: Path, kind: FaultKind, stream: bool
) -> None:
    async with spoilt(tmp_path, FaultRule(kind=kind, seconds=60)) as (model, http):
        waiting = asyncio.create_task(ChatTalk().ask(http, stream))
        await model.until(lambda ledger: ledger.open == 1)
        waiting.cancel()
        ledger = await model.until(lambda ledger: ledger.open == 0)
        again = await ChatTalk().ask(http, stream=True)
    assert [entry.outcome for entry in ledger.entries] == [Outcome.GONE]
    assert again.text == "I look."


async def test_rules_that_are_none_change_nothing(tmp_path: Path) -> None:
    async with spoilt(tmp_path, FaultRule(kind=FaultKind.OVERLOADED)) as (_, http):
        refused = await http.post("/_faults", json={"rules": [{"kind": "earthquake"}]})
        answer = await http.post(ChatTalk.path, json=ChatTalk().body(stream=False))
    assert (refused.status_code, answer.status_code) == (422, 529)


@pytest.mark.slow
async def test_a_server_of_its_own_is_spoilt_over_http_too(tmp_path: Path) -> None:
    async with recorded_process(SCRIPT, tmp_path) as model, client(model) as http:
        await model.spoil(FaultRule(kind=FaultKind.HOLD))
        held = asyncio.create_task(ChatTalk().ask(http, stream=True))
        await model.until(lambda ledger: ledger.open == 1)
        await model.release()
        assert (await held).text == "I look."
