"""The door to a model: a real client inside, a real HTTP server outside, our proxy between them."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from adapters.models.proxy import PORT, ModelProxy
from adapters.models.proxy_request import BODY_BYTES
from adapters.models.proxy_upstream import upstream
from sweeper.errors import BadInput, PolicyDenied
from sweeper.model import Allowance, Price, Spent
from sweeper.policy.model_access import ModelAccess
from sweeper.ports.models import ModelDoor
from tests.support.model_upstream import Provider, provider_on_loopback
from tests.support.sandboxes import until

pytestmark = pytest.mark.slow

KEY = "canary-" + "k3y" * 8
MESSAGES, CHAT = "/v1/messages", "/v1/chat/completions"
QUESTION: dict[str, Any] = {"model": "another", "max_tokens": 10, "messages": [{"role": "user", "content": "mend it"}]}
ANTHROPIC_ANSWER = {"type": "message", "usage": {"input_tokens": 7, "cache_read_input_tokens": 2, "output_tokens": 3}}
ANTHROPIC_EVENTS = (
    {"type": "message_start", "message": {"usage": {"input_tokens": 20, "output_tokens": 1}}},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "so"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with provider_on_loopback(Provider(answer=ANTHROPIC_ANSWER)) as running:
        yield running


@asynccontextmanager
async def door(
    provider: Provider, allowance: Allowance | None = None, model: str = "anthropic:good", price: Price | None = None
) -> AsyncIterator[tuple[ModelDoor, httpx.AsyncClient]]:
    proxy = ModelProxy(upstream(ModelAccess(name=model, url=provider.url, key=SecretStr(KEY))), price)
    async with proxy.open("sweep-1-1/1", allowance or Allowance()) as opened:
        transport = httpx.AsyncHTTPTransport(uds=str(Path(opened.directory, f"{PORT}.sock")))
        async with httpx.AsyncClient(transport=transport, base_url=opened.url) as inside:
            yield opened, inside


async def test_the_key_is_added_outside_and_the_model_is_the_configured_one(provider: Provider) -> None:
    async with door(provider) as (_, inside):
        answer = await inside.post(MESSAGES, json=QUESTION, headers={"x-api-key": "dummy", "cookie": "a=b"})
    (seen,) = provider.seen
    assert answer.json() == ANTHROPIC_ANSWER
    assert (seen.path, seen.headers["x-api-key"], seen.body["model"]) == (MESSAGES, KEY, "good")
    assert seen.body["messages"] == QUESTION["messages"]
    assert "cookie" not in seen.headers
    assert "dummy" not in str(seen.headers)


async def test_a_bearer_key_is_added_for_a_provider_of_that_kind(provider: Provider) -> None:
    provider.answer = {"usage": {"prompt_tokens": 5, "completion_tokens": 6}}
    async with door(provider, model="openai:good") as (opened, inside):
        await inside.post(CHAT, json=QUESTION, headers={"authorization": "Bearer dummy"})
        await inside.post("/v1/responses", json={"input": "mend it"})
    assert [one.headers["authorization"] for one in provider.seen] == [f"Bearer {KEY}"] * 2
    assert [one.path for one in provider.seen] == [CHAT, "/v1/responses"]
    assert opened.spent == Spent(model_calls=2, input_tokens=10, output_tokens=12)


@pytest.mark.parametrize(
    "path",
    ["/", "/v1", "/v1/files", "/v1/messages/../files", "/v1/messages/batches", "/v1/organizations/api_keys", CHAT],
)
async def test_nothing_else_of_the_provider_is_reached(provider: Provider, path: str) -> None:
    async with door(provider) as (opened, inside):
        answer = await inside.post(path, json=QUESTION)
    assert answer.status_code == 404
    assert provider.seen == []
    assert opened.refused[0].startswith("POST /")


async def test_an_absolute_address_in_the_request_leads_nowhere_else(provider: Provider) -> None:
    async with door(provider) as (opened, _):
        reader, writer = await asyncio.open_unix_connection(str(Path(opened.directory, f"{PORT}.sock")))
        writer.write(b"GET http://169.254.169.254/v1/messages HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n")
        said = await reader.readline()
        writer.close()
    assert provider.seen == []
    assert said.split()[1] in (b"404", b"405")


async def test_a_stream_passes_without_waiting_for_its_end(provider: Provider) -> None:
    provider.events, provider.pause = ANTHROPIC_EVENTS, asyncio.Event()
    async with door(provider) as (opened, inside):
        async with inside.stream("POST", MESSAGES, json={**QUESTION, "stream": True}) as answer:
            lines = answer.aiter_lines()
            first = [await anext(lines), await anext(lines)]
            provider.pause.set()
            rest = [line async for line in lines]
        assert first[0] == "event: message_start"
        assert rest[-2].startswith('data: {"type": "message_stop"')
        assert opened.spent == Spent(model_calls=1, input_tokens=20, output_tokens=9)


async def test_a_streamed_chat_is_asked_to_tell_its_tokens(provider: Provider) -> None:
    provider.events = ({"choices": []}, {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}})
    async with door(provider, model="openai:good") as (opened, inside):
        await inside.post(CHAT, json={**QUESTION, "stream": True})
    assert provider.seen[0].body["stream_options"] == {"include_usage": True}
    assert opened.spent == Spent(model_calls=1, input_tokens=4, output_tokens=2)


async def test_an_answer_that_breaks_off_counts_and_is_seen_as_broken(provider: Provider) -> None:
    provider.events, provider.cuts = ANTHROPIC_EVENTS[:2], True
    async with door(provider) as (opened, inside):
        with pytest.raises(httpx.RemoteProtocolError):
            await inside.post(MESSAGES, json={**QUESTION, "stream": True})
        assert (opened.spent.model_calls, opened.spent.input_tokens) == (1, 20)
        assert opened.trouble is not None
        assert "did not answer" in opened.trouble


async def test_an_agent_that_hangs_up_has_spent_what_was_told_by_then(provider: Provider) -> None:
    provider.events, provider.pause = ANTHROPIC_EVENTS, asyncio.Event()
    async with door(provider) as (opened, inside):
        async with inside.stream("POST", MESSAGES, json={**QUESTION, "stream": True}) as answer:
            await anext(answer.aiter_lines())
        await until(lambda: opened.spent.input_tokens == 20)
    assert opened.spent.model_calls == 1


async def test_an_answer_that_tells_no_tokens_is_reckoned_by_sizes(provider: Provider) -> None:
    provider.answer = {"no": "usage"}
    async with door(provider) as (opened, inside):
        await inside.post(MESSAGES, json={**QUESTION, "messages": [{"role": "user", "content": "x" * 4000}]})
    assert opened.spent.model_calls == 1
    assert opened.spent.input_tokens >= 1000


@pytest.mark.parametrize(
    ("allowance", "word"),
    [
        (Allowance(model_calls=2), "model calls"),
        (Allowance(tokens=24), "tokens"),
        (Allowance(micro_usd=36), "money"),
    ],
)
async def test_what_is_used_up_is_answered_with_a_sentence(provider: Provider, allowance: Allowance, word: str) -> None:
    price = Price(input_micro_usd=1_000_000, output_micro_usd=3_000_000)  # 9 in and 3 out cost 18
    async with door(provider, allowance, price=price) as (opened, inside):
        statuses = [(await inside.post(MESSAGES, json=QUESTION)).status_code for _ in range(3)]
        refused = await inside.post(MESSAGES, json=QUESTION)
    assert statuses == [200, 200, 429]
    assert f"used up its {word}" in refused.json()["error"]["message"]
    assert refused.headers["x-should-retry"] == "false"
    assert (len(provider.seen), opened.spent.model_calls, opened.spent.micro_usd) == (2, 2, 36)
    assert opened.trouble is not None


async def test_calls_at_once_cannot_pass_the_bound_of_calls(provider: Provider) -> None:
    async with door(provider, Allowance(model_calls=3)) as (_, inside):
        answers = await asyncio.gather(*(inside.post(MESSAGES, json=QUESTION) for _ in range(12)))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [429] * 9
    assert len(provider.seen) == 3


@pytest.mark.parametrize("allowance", [Allowance(tokens=11), Allowance(micro_usd=12)], ids=["tokens", "money"])
async def test_of_calls_at_once_one_at_most_goes_beyond_tokens_and_money(
    provider: Provider, allowance: Allowance
) -> None:
    price = Price(input_micro_usd=1_000_000, output_micro_usd=1_000_000)
    async with door(provider, allowance, price=price) as (opened, inside):
        answers = await asyncio.gather(*(inside.post(MESSAGES, json=QUESTION) for _ in range(12)))
    assert sorted(answer.status_code for answer in answers) == [200] + [429] * 11
    assert opened.spent.tokens == 12


async def test_a_call_that_was_hung_up_holds_no_other_one_up(provider: Provider) -> None:
    provider.events, provider.pause = ANTHROPIC_EVENTS, asyncio.Event()
    async with door(provider, Allowance(tokens=50)) as (opened, inside):
        async with inside.stream("POST", MESSAGES, json=QUESTION) as first:
            await anext(first.aiter_lines())
        async with inside.stream("POST", MESSAGES, json=QUESTION) as second:
            assert second.status_code == 200
    assert opened.spent.model_calls == 2


async def test_the_name_a_host_is_asked_by_is_no_part_of_the_path(provider: Provider) -> None:
    async with door(provider) as (opened, inside):
        answers = [
            await inside.post(path, json=QUESTION, headers={"host": host})
            for path, host in ((MESSAGES, "["), (MESSAGES, "a/b?"), ("/elsewhere", "a/v1/messages?"))
        ]
    assert [answer.status_code for answer in answers] == [200, 200, 404]
    assert opened.refused == ("POST /elsewhere",)


async def test_a_try_that_goes_on_after_a_kill_goes_on_counting(provider: Provider, tmp_path: Path) -> None:
    there = upstream(ModelAccess(name="anthropic:good", url=provider.url, key=SecretStr(KEY)))
    told = []
    for key in ("one", "one", "another"):
        async with ModelProxy(there, place=tmp_path / "spent").open(key, Allowance(model_calls=3)) as opened:
            transport = httpx.AsyncHTTPTransport(uds=str(Path(opened.directory, f"{PORT}.sock")))
            async with httpx.AsyncClient(transport=transport, base_url=opened.url) as inside:
                told += [(await inside.post(MESSAGES, json=QUESTION)).status_code for _ in range(2)]
            spent = opened.spent
    assert told == [200, 200, 200, 429, 200, 200]
    assert spent == Spent(model_calls=2, input_tokens=18, output_tokens=6)
    assert (tmp_path / "spent").stat().st_mode & 0o777 == 0o700


async def test_counting_tokens_is_no_model_call(provider: Provider) -> None:
    provider.answer = {"input_tokens": 9}
    async with door(provider) as (opened, inside):
        answer = await inside.post(f"{MESSAGES}/count_tokens", json=QUESTION)
    assert answer.json() == {"input_tokens": 9}
    assert opened.spent == Spent()


async def test_money_without_a_price_is_refused_at_the_door(provider: Provider) -> None:
    with pytest.raises(BadInput, match="SWEEPER_PRICES"):
        async with door(provider, Allowance(micro_usd=1)):
            pass


async def test_a_refused_key_is_the_operators_matter_and_is_not_shown(provider: Provider) -> None:
    provider.status, provider.answer = 401, {"error": f"bad key {KEY}"}
    async with door(provider) as (opened, inside):
        answer = await inside.post(MESSAGES, json=QUESTION)
    assert answer.status_code == 401
    assert KEY not in answer.text
    assert opened.trouble is not None
    assert "SWEEPER_MODEL_KEY" in opened.trouble


async def test_a_providers_own_error_passes_without_the_key(provider: Provider) -> None:
    provider.status, provider.answer, provider.headers = 529, {"error": f"busy {KEY}"}, {"retry-after": "3"}
    async with door(provider) as (opened, inside):
        answer = await inside.post(MESSAGES, json=QUESTION)
    assert opened.trouble is not None
    assert "529" in opened.trouble
    assert (answer.status_code, answer.json(), answer.headers["retry-after"]) == (529, {"error": "busy [key]"}, "3")


async def test_the_key_follows_no_redirect_and_no_cookie_is_kept(provider: Provider) -> None:
    async with provider_on_loopback(Provider()) as other:
        provider.status, provider.headers = 307, {"location": f"{other.url}/v1/messages", "set-cookie": "who=me"}
        async with door(provider) as (_, inside):
            answers = [await inside.post(MESSAGES, json=QUESTION) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [502, 502]
    assert "location" not in answers[0].headers
    assert "set-cookie" not in answers[0].headers
    assert other.seen == []
    assert "cookie" not in provider.seen[1].headers


async def test_a_provider_that_is_away_is_said_so(provider: Provider) -> None:
    gone = Provider(url="http://127.0.0.1:9")
    async with door(gone) as (opened, inside):
        answer = await inside.post(MESSAGES, json=QUESTION)
    assert answer.status_code == 502
    assert opened.trouble is not None
    assert "SWEEPER_MODEL_URL" in opened.trouble


async def test_tools_that_the_provider_would_run_are_taken_out(provider: Provider) -> None:
    own = {"name": "edit", "input_schema": {"properties": {"url": {"type": "string"}}}}
    asked = {**QUESTION, "tools": [own, {"type": "web_fetch_20250910", "name": "web_fetch"}], "mcp_servers": [{}]}
    async with door(provider) as (_, inside):
        await inside.post(MESSAGES, json=asked)
        await inside.post(MESSAGES, json={**QUESTION, "tools": [{"type": "web_search_20250305"}], "tool_choice": {}})
    assert provider.seen[0].body["tools"] == [own]
    assert "mcp_servers" not in provider.seen[0].body
    assert {"tools", "tool_choice"} & provider.seen[1].body.keys() == set()


@pytest.mark.parametrize(
    "hosted",
    [
        {"type": "shell", "environment": {"type": "container_auto", "network_policy": {"type": "allowlist"}}},
        {"type": "shell", "environment": {"type": "container_reference", "container_id": "c"}},
        {"type": "shell"},
    ],
)
async def test_a_shell_in_a_container_of_the_provider_is_no_tool_of_the_agent(
    provider: Provider, hosted: dict[str, Any]
) -> None:
    local = {"type": "shell", "environment": {"type": "local"}}
    async with door(provider) as (_, inside):
        await inside.post(MESSAGES, json={**QUESTION, "tools": [hosted, local]})
        await inside.post(MESSAGES, json={**QUESTION, "tools": {"0": hosted}})
    assert provider.seen[0].body["tools"] == [local]
    assert "tools" not in provider.seen[1].body


async def test_a_gateway_is_not_told_of_another_model_or_of_its_own_tools(provider: Provider) -> None:
    elsewhere = {"models": ["other"], "fallbacks": ["other"], "route": "fallback", "provider": {"order": ["other"]}}
    more = {"plugins": [{"id": "web"}], "api_base": "https://other.example", "base_url": "https://other.example"}
    async with door(provider) as (_, inside):
        await inside.post(MESSAGES, json={**QUESTION, **elsewhere, **more})
    assert (elsewhere | more).keys() & provider.seen[0].body.keys() == set()


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"type": "url", "url": "https://elsewhere.example/?code"}},
        {"type": "image_url", "image_url": {"url": "https://elsewhere.example/?code"}},
        {"type": "input_image", "image_url": "https://elsewhere.example/?code"},
        {"type": "tool_result", "content": [{"type": "document", "source": {"type": "url", "url": "ftp://e.example"}}]},
        {"type": "video_url", "video_url": {"url": "https://elsewhere.example/?code"}},
        {"type": "audio_url", "audio_url": {"url": "https://elsewhere.example/?code"}},
    ],
)
async def test_no_provider_is_made_to_load_an_address(provider: Provider, part: dict[str, Any]) -> None:
    async with door(provider) as (_, inside):
        answer = await inside.post(MESSAGES, json={**QUESTION, "messages": [{"role": "user", "content": [part]}]})
    assert (answer.status_code, provider.seen) == (400, [])


async def test_what_a_tool_was_called_with_may_be_an_address(provider: Provider) -> None:
    called = {"type": "tool_use", "id": "1", "name": "edit", "input": {"url": "https://ours.example"}}
    async with door(provider) as (_, inside):
        answer = await inside.post(
            MESSAGES, json={**QUESTION, "messages": [{"role": "assistant", "content": [called]}]}
        )
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"a":' + b"[" * 100_000, b"x" * (BODY_BYTES + 1)],
    ids=["empty", "list", "cut", "deep", "big"],
)
async def test_a_body_that_is_no_question_costs_nothing(provider: Provider, body: bytes) -> None:
    async with door(provider) as (opened, inside):
        answer = await inside.post(MESSAGES, content=body)
    assert answer.status_code in (400, 413)
    assert (provider.seen, opened.spent) == ([], Spent())


async def test_the_models_there_are_is_one(provider: Provider) -> None:
    async with door(provider, model="openai:good") as (_, inside):
        answer = await inside.get("/v1/models")
    assert [model["id"] for model in answer.json()["data"]] == ["good"]
    assert provider.seen == []


async def test_a_closed_door_leaves_no_socket_and_no_connection(provider: Provider) -> None:
    provider.events, provider.pause = ANTHROPIC_EVENTS, asyncio.Event()
    async with door(provider) as (opened, inside):
        request = inside.build_request("POST", MESSAGES, json={**QUESTION, "stream": True})
        answer = await inside.send(request, stream=True)
        directory = Path(opened.directory)
        await answer.aclose()
    assert not directory.exists()
    assert opened.spent.model_calls == 1


def test_code_goes_to_no_provider_that_the_operator_did_not_allow() -> None:
    with pytest.raises(PolicyDenied, match="SWEEPER_MODEL_PROVIDERS"):
        upstream(ModelAccess(name="openai:good", url="https://elsewhere.example/v1", providers=("api.openai.com",)))
    known = ModelAccess(name="openai:good", key=SecretStr(KEY), providers=("API.openai.com",))
    assert upstream(known).base == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("model", "url", "base"),
    [
        ("anthropic:m", None, "https://api.anthropic.com/v1"),
        ("anthropic:m", "http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1"),
        ("anthropic:m", "https://gate.example/claude", "https://gate.example/claude/v1"),
        ("openai:m", "http://127.0.0.1:1", "http://127.0.0.1:1/v1"),
        ("openai:m", "https://gate.example/api/v1", "https://gate.example/api/v1"),
        ("openai:m", "https://gate.example/v1beta/openai/", "https://gate.example/v1beta/openai"),
    ],
)
def test_addresses_are_taken_as_each_providers_clients_have_them(model: str, url: str | None, base: str) -> None:
    assert upstream(ModelAccess(name=model, url=url, key=SecretStr(KEY))).base == base


@pytest.mark.parametrize("url", ["ftp://a.example", "https://user:pw@a.example", "https://"])
def test_what_is_no_address_of_a_model_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="SWEEPER_MODEL_URL"):
        upstream(ModelAccess(name="openai:m", url=url))


def test_the_key_is_not_in_what_a_log_would_print() -> None:
    assert KEY not in repr(upstream(ModelAccess(name="openai:m", key=SecretStr(KEY))))
    assert KEY not in json.dumps(repr(ModelProxy(upstream(ModelAccess(name="openai:m", key=SecretStr(KEY))))))
