"""A recorded model over plain HTTP: what clients of each protocol see, and what the ledger keeps."""

import asyncio
import json
import socket
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from adapters.models.recorded.faults import FaultKind, FaultRule
from adapters.models.recorded.ledger import Entry, KeyShown, Outcome, read_ledger
from adapters.models.recorded.options import RecordedOptions
from adapters.models.recorded.script import Script, ToolCall, Turn, Usage
from adapters.models.recorded.server import recorded_models
from sweeper.errors import BadInput
from tests.support.recorded_models import RecordedModel, recorded_here, recorded_process
from tests.support.recorded_talk import TALKS, ChatTalk, MessagesTalk, ResponsesTalk, Talk, events_of

SCRIPT = Script(
    turns=(
        Turn(
            text="First I look at the file, and then I see what there is to do about it.",
            calls=(
                ToolCall(name="read", arguments={"path": "shop.py"}),
                ToolCall(name="read", arguments={"path": "til.py", "note": "é" * 60}),
            ),
        ),
        Turn(
            calls=(ToolCall(name="edit", arguments={"digest": "{{digest}}"}, take={"digest": r"digest (\w+)"}),),
            usage=Usage(input=900, output=30, cached=200),
        ),
        Turn(text="Done."),
    ),
    models=("recorded", "other"),
)
WAYS = [
    pytest.param(talk, stream, id=f"{talk.path[4:]} {'streamed' if stream else 'whole'}")
    for talk in TALKS
    for stream in (False, True)
]


@asynccontextmanager
async def speaking(state: Path, *faults: FaultRule) -> AsyncIterator[tuple[RecordedModel, httpx.AsyncClient]]:
    """A model in this process, and a client with the right key."""
    async with recorded_here(SCRIPT.model_copy(update={"faults": faults}), state) as model, client(model) as http:
        yield model, http


def client(model: RecordedModel, key: str | None = None) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {key or model.info.key}"}
    return httpx.AsyncClient(base_url=model.info.url, headers=headers, timeout=30, trust_env=False)


@pytest.mark.parametrize(("kind", "stream"), WAYS)
async def test_a_conversation_goes_through_the_script(tmp_path: Path, kind: type[Talk], stream: bool) -> None:
    talk = kind()
    async with speaking(tmp_path) as (model, http):
        first = await talk.ask(http, stream)
        talk.take(first, "the digest 1f2e of it")
        second = await talk.ask(http, stream)
        talk.take(second, "edited")
        third = await talk.ask(http, stream)
        turns = [entry.turn for entry in await model.calls()]
    assert first.text == SCRIPT.turns[0].text
    assert [json.loads(call.arguments)["path"] for call in first.calls] == ["shop.py", "til.py"]
    assert [(call.name, call.arguments) for call in second.calls] == [("edit", '{"digest": "1f2e"}')]
    assert (third.text, third.calls) == ("Done.", [])
    assert turns == ["0", "1", "2"]
    # What was read from a cache is a part of the input in OpenAI's protocols and stands beside it in the third.
    assert second.tokens == (700 if kind is MessagesTalk else 900, 30)
    assert [one.finish for one in (first, third)] == {
        ChatTalk: ["tool_calls", "stop"],
        ResponsesTalk: ["completed", "completed"],
        MessagesTalk: ["tool_use", "end_turn"],
    }[kind]


@pytest.mark.parametrize("kind", TALKS)
async def test_streamed_or_whole_an_answer_is_the_same_each_time(tmp_path: Path, kind: type[Talk]) -> None:
    talk = kind()
    async with speaking(tmp_path) as (model, http):
        heard = [await talk.ask(http, stream) for stream in (False, True)]
        bodies = [(await http.post(talk.path, json=talk.body(stream=True))).content for _ in range(2)]
        ledger = await model.ledger()
    assert heard[0] == heard[1]
    assert bodies[0] == bodies[1]
    assert (ledger.total, ledger.distinct, ledger.open) == (4, 1, 0)


async def test_an_answer_is_the_same_after_the_server_died(tmp_path: Path) -> None:
    talk, bodies = ChatTalk(), []
    for _ in range(2):
        async with speaking(tmp_path) as (model, http):
            bodies.append((await http.post(talk.path, json=talk.body(stream=True))).content)
            ledger = await model.ledger()
    assert bodies[0] == bodies[1]
    assert (ledger.total, ledger.distinct) == (2, 1)


async def test_chunks_tell_usage_only_to_those_who_ask(tmp_path: Path) -> None:
    body = ChatTalk().body(stream=True)
    del body["stream_options"]
    async with speaking(tmp_path) as (_, http):
        text = (await http.post(ChatTalk.path, json=body)).text
    assert "usage" not in text
    # The time is no clock's: an answer is the same whenever it is given.
    assert {data["created"] for _, data in events_of(text)} == {1_767_225_600}
    assert text.endswith("data: [DONE]\n\n")


async def test_a_tool_of_plain_text_gets_plain_text(tmp_path: Path) -> None:
    script = Script(turns=(Turn(calls=(ToolCall(name="apply", arguments={"input": "- a\n+ b\n" * 20}),)),))
    talk = ResponsesTalk(tools=())
    body = talk.body(stream=True) | {"tools": [{"type": "custom", "name": "apply"}]}
    async with recorded_here(script, tmp_path) as model, client(model) as http:
        whole = (await http.post(talk.path, json=body | {"stream": False})).json()
        streamed = (await http.post(talk.path, json=body)).text
    (item,) = whole["output"]
    assert (item["type"], item["input"]) == ("custom_tool_call", "- a\n+ b\n" * 20)
    assert "response.custom_tool_call_input.done" in streamed


async def test_the_models_are_listed_for_clients_of_both_kinds(tmp_path: Path) -> None:
    async with speaking(tmp_path) as (_, http):
        listed = (await http.get("/v1/models")).json()
    assert [(one["id"], one["object"], one["type"]) for one in listed["data"]] == [
        ("recorded", "model", "model"),
        ("other", "model", "model"),
    ]
    assert (listed["object"], listed["has_more"], listed["last_id"]) == ("list", False, "other")


async def test_tokens_are_counted_without_asking_the_model(tmp_path: Path) -> None:
    small, large = (MessagesTalk(text).body(stream=False) for text in ("x", "x" * 4000))
    async with speaking(tmp_path) as (model, http):
        counted = [
            (await http.post("/v1/messages/count_tokens", json=body)).json()["input_tokens"] for body in (small, large)
        ]
        ledger = await model.ledger()
    assert counted[1] - counted[0] == pytest.approx(1000, abs=1)
    assert (len(ledger.entries), ledger.total) == (2, 0)


@pytest.mark.parametrize("kind", TALKS)
@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer canary-key"}, {"x-api-key": "canary-key"}])
async def test_a_key_that_is_not_ours_gets_nothing_and_is_kept_nowhere(
    tmp_path: Path, kind: type[Talk], header: dict[str, str]
) -> None:
    async with recorded_here(SCRIPT, tmp_path) as model, httpx.AsyncClient(trust_env=False) as http:
        answer = await http.post(model.info.url + kind.path, json=kind().body(stream=True), headers=header)
        (entry,) = (await model.ledger()).entries
        key = model.info.key
    assert answer.status_code == 401
    assert answer.json()["error"]["message"] == "The key is missing or wrong."
    assert entry.key is (KeyShown.OTHER if header else KeyShown.MISSING)
    kept = (tmp_path / "ledger.jsonl").read_text()
    assert "canary-key" not in kept
    assert key not in kept


async def test_either_header_may_show_the_key(tmp_path: Path) -> None:
    async with recorded_here(SCRIPT, tmp_path) as model, httpx.AsyncClient(trust_env=False) as http:
        for header in ({"Authorization": f"Bearer {model.info.key}"}, {"x-api-key": model.info.key}):
            body = MessagesTalk().body(stream=False)
            assert (await http.post(f"{model.info.url}/v1/messages", json=body, headers=header)).status_code == 200


@pytest.mark.parametrize("kind", TALKS)
async def test_what_the_real_services_refuse_is_refused(tmp_path: Path, kind: type[Talk]) -> None:
    talk = kind()
    async with speaking(tmp_path) as (_, http):
        talk.take(await talk.ask(http, stream=False), "read")
        talk.history.pop()
        loose = await http.post(talk.path, json=talk.body(stream=False))
        malformed = await http.post(talk.path, json={"model": 3})
    assert (loose.status_code, malformed.status_code) == (400, 400)
    assert loose.json()["error"]["message"].startswith("No tool output found for function call")
    assert loose.json()["error"]["type"] == malformed.json()["error"]["type"] == "invalid_request_error"


async def test_a_conversation_that_a_server_would_have_to_keep_is_refused(tmp_path: Path) -> None:
    async with speaking(tmp_path) as (_, http):
        body = ResponsesTalk().body(stream=False) | {"previous_response_id": "resp_1"}
        answer = await http.post(ResponsesTalk.path, json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("previous_response_id: ")


async def test_the_ledger_tells_of_each_request_what_matters(tmp_path: Path) -> None:
    async with speaking(tmp_path, FaultRule(kind=FaultKind.OVERLOADED)) as (model, http):
        await http.post(ChatTalk.path, json=ChatTalk(system="be good").body(stream=True))
        await http.get("/v1/embeddings?key=canary-key")
        call, other = (await model.ledger()).entries
    assert call == Entry(
        n=1,
        time=call.time,
        method="POST",
        path="/v1/chat/completions",
        key=KeyShown.EXPECTED,
        model="recorded",
        stream=True,
        messages=2,
        digest=call.digest,
        turn="0",
        fault=FaultKind.OVERLOADED,
        status=529,
        outcome=Outcome.SENT,
    )
    assert len(call.digest) == 64
    assert (other.path, other.status, other.is_model_call) == ("/v1/embeddings", 404, False)


async def test_the_key_and_the_place_are_for_their_owner_alone(tmp_path: Path) -> None:
    async with speaking(tmp_path / "state") as (model, _):
        written = (tmp_path / "state" / "recorded.json").read_text()
        assert written == model.info.model_dump_json() + "\n"
    for name in ("recorded.json", "key"):
        assert stat.S_IMODE((tmp_path / "state" / name).stat().st_mode) == 0o600


async def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"Port {port} cannot be taken"):
            async with recorded_models(RecordedOptions(script=SCRIPT, state_dir=tmp_path, port=port)):
                pass


@pytest.mark.slow
async def test_a_process_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    async with recorded_process(SCRIPT, tmp_path, key="a-key") as model, client(model) as http:
        heard = await MessagesTalk().ask(http, stream=True)
        assert model.info.key == "a-key"
        assert heard.text == SCRIPT.turns[0].text


@pytest.mark.slow
async def test_a_script_that_is_none_ends_the_process_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('{"turn": []}')
    command = ["-m", "adapters.models.recorded", "--script", str(tmp_path / "script.json"), "--state", str(tmp_path)]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stderr=asyncio.subprocess.PIPE)
    _, said = await process.communicate()
    assert process.returncode == 2
    assert said.decode().endswith("is no script; mend turn: Extra inputs are not permitted.\n")


@pytest.mark.slow
async def test_the_ledger_outlives_a_kill_of_the_server(tmp_path: Path) -> None:
    held = SCRIPT.model_copy(update={"faults": (FaultRule(kind=FaultKind.HOLD, nth=2),)})
    talk = ChatTalk()
    async with recorded_process(held, tmp_path) as model, client(model) as http:
        await talk.ask(http, stream=False)
        second = asyncio.create_task(talk.ask(http, stream=False))
        await model.until(lambda ledger: ledger.open == 1)
        model.kill()
        with pytest.raises(httpx.TransportError):
            await second
    kept = read_ledger(Path(model.info.ledger_file))
    assert (kept.total, kept.distinct, kept.open) == (2, 1, 1)
    async with speaking(tmp_path) as (again, http):
        await talk.ask(http, stream=False)
        calls = await again.calls()
    assert [call.outcome for call in calls] == [Outcome.SENT, Outcome.OPEN, Outcome.SENT]
    assert len({call.digest for call in calls}) == 1
