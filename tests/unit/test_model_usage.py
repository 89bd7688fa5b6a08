"""What an answer cost is read while it passes, in whatever pieces it comes."""

import json
from collections.abc import Sequence

import pytest

from adapters.models.proxy_book import Book
from adapters.models.proxy_request import Unfit, fitted
from adapters.models.proxy_usage import Usage, UsageReader

ASKED = 400
ANTHROPIC = (
    {"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_creation_input_tokens": 90}}},
    {"type": "content_block_delta", "delta": {"text": 'a word like "usage" in it'}},
    {"type": "message_delta", "usage": {"output_tokens": 3}},
    {"type": "message_delta", "usage": {"output_tokens": 12}},
)
CHAT = (
    {"choices": [{"delta": {"content": "so"}}], "usage": None},
    {"choices": [], "usage": {"prompt_tokens": 95, "completion_tokens": 12, "total_tokens": 107}},
)
RESPONSES = (
    {"type": "response.created", "response": {"usage": None}},
    {"type": "response.completed", "response": {"usage": {"input_tokens": 95, "output_tokens": 12}}},
)


def stream(events: Sequence[object], end: str = "\n") -> bytes:
    return "".join(f"event: x{end}data: {json.dumps(event)}{end}{end}" for event in events).encode()


def read(text: bytes, size: int, *, is_stream: bool = True, is_whole: bool = True) -> Usage:
    reader = UsageReader(is_stream=is_stream)
    for at in range(0, len(text), size):
        reader.feed(text[at : at + size])
    return reader.end(ASKED, is_whole=is_whole)


@pytest.mark.parametrize("events", [ANTHROPIC, CHAT, RESPONSES], ids=["messages", "chat", "responses"])
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_streams_tokens_are_read_in_any_pieces(events: Sequence[object], size: int, end: str) -> None:
    assert read(stream(events, end), size) == Usage(input_tokens=95, output_tokens=12)


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 90, "cache_read_input_tokens": 5, "output_tokens": 12},
        {"prompt_tokens": 95, "completion_tokens": 12},
    ],
)
def test_a_whole_answers_tokens_are_read(usage: dict[str, int]) -> None:
    text = json.dumps({"content": "x" * 500, "usage": usage}).encode()
    assert read(text, 10, is_stream=False) == Usage(input_tokens=95, output_tokens=12)


def test_the_last_line_counts_without_its_end() -> None:
    assert read(stream(CHAT).rstrip(), 5) == Usage(input_tokens=95, output_tokens=12)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"data: [DONE]\n\n",
        b'data: {"usage": \n',
        b'data: {"usage": []}\n',
        b'data: ["usage"]\n',
        b'data: {"usage": "many", "message": 3}\n',
        b'data: {"usage":' + b"[" * 50_000 + b"\n",
    ],
)
def test_what_tells_nothing_is_reckoned_from_sizes(text: bytes) -> None:
    assert read(text, 1 << 16) == Usage(input_tokens=ASKED // 4, output_tokens=len(text) // 32)


@pytest.mark.parametrize("number", [-5, True, 1.5, "7", None, [1], 1 << 80])
def test_a_number_of_tokens_that_is_none_does_not_lower_or_break_the_count(number: object) -> None:
    events = (*CHAT, {"usage": {"prompt_tokens": 1, "completion_tokens": number}})
    used = read(stream(events), 64)
    assert used.input_tokens == 95
    assert 12 <= used.output_tokens <= 1 << 40


def test_an_answer_that_was_not_heard_out_costs_at_least_its_size() -> None:
    cut = stream((ANTHROPIC[0], *[{"type": "content_block_delta", "delta": {"text": "x" * 100}}] * 50))
    used = read(cut, 100, is_whole=False)
    assert (used.input_tokens, used.output_tokens) == (95, len(cut) // 32)


def test_a_line_without_end_is_let_go_and_the_next_one_read() -> None:
    text = b'data: {"usage": "' + b"x" * (9 << 20) + b'"}\n' + stream(CHAT)
    assert read(text, 1 << 20) == Usage(input_tokens=95, output_tokens=12)


def test_a_question_is_for_the_configured_model_and_else_as_it_was() -> None:
    asked = {"model": "other", "stream": True, "temperature": 0.5, "messages": [{"role": "user", "content": "\u00e4"}]}
    sent = json.loads(fitted(json.dumps(asked).encode(), "good", "/messages"))
    assert sent == {**asked, "model": "good"}


def test_a_question_cannot_ask_for_another_price() -> None:
    asked = {"messages": [], "service_tier": "priority", "speed": "fast", "inference_geo": "us"}
    assert json.loads(fitted(json.dumps(asked).encode(), "good", "/messages")) == {"model": "good", "messages": []}


def test_one_of_two_models_in_a_question_does_not_slip_through() -> None:
    sent = fitted(b'{"model": "good", "model": "dear", "messages": []}', "good", "/messages")
    assert b"dear" not in sent


def test_messages_that_are_nested_too_deeply_are_refused() -> None:
    part: dict[str, object] = {"type": "text", "text": "x"}
    for _ in range(40):
        part = {"type": "tool_result", "content": [part]}
    with pytest.raises(Unfit, match="nested"):
        fitted(json.dumps({"messages": [part]}).encode(), "good", "/messages")


def test_a_book_in_memory_begins_anew_each_time() -> None:
    book = Book(None)
    book.page("one").add(calls=3)
    assert book.page("one").counted.calls == 0
