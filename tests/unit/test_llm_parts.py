"""The pure parts of the `llm` agent: what it counts, folds, lets through and says in the end."""

from datetime import timedelta

import pytest
from pydantic import SecretStr
from pydantic_ai import exceptions as theirs
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from adapters.agents.llm.desk import Stopped
from adapters.agents.llm.endings import ending
from adapters.agents.llm.folding import (
    FOLDED,
    FULL_BYTES,
    KEPT_BYTES,
    KEPT_TURNS,
    MOST_TURNS,
    conversation_bytes,
    folded,
    turns_left_out,
)
from adapters.agents.llm.guard import ANSWER_BYTES, CALLS_AT_ONCE, let_through, refusal_of, without_body
from adapters.agents.llm.hands import as_data
from adapters.agents.llm.meter import MODEL_CALLS, Meter
from adapters.agents.llm.providers import Models
from adapters.models.proxy_upstream import upstream
from sweeper.activities import toolbox
from sweeper.errors import BadInput, PolicyDenied, SweeperError
from sweeper.model import Allowance, FixOutcome, Price, Spent
from sweeper.model.fix import Trouble
from sweeper.policy.model_access import ModelAccess
from sweeper.policy.spending import spent_line

PRICE = Price(input_micro_usd=3_000_000, output_micro_usd=15_000_000)
HOUR = timedelta(hours=1)


def meter(allowance: Allowance | None = None, price: Price | None = PRICE) -> Meter:
    return Meter(allowance or Allowance(), HOUR, price, Spent())


def test_money_is_counted_in_millionths_and_rounded_up() -> None:
    counted = meter()
    counted.answered(1000, 100)
    counted.answered(1, 0)
    assert counted.spent == Spent(model_calls=2, input_tokens=1001, output_tokens=100, micro_usd=4503)


def test_a_server_that_tells_nonsense_gives_nothing_back_and_breaks_no_sum() -> None:
    counted = meter(Allowance(tokens=1000))
    counted.answered(-(10**9), -(10**9))
    assert counted.spent == Spent(model_calls=1)
    counted.answered(10**400, 0)
    assert counted.used_up() is not None
    assert spent_line(counted.spent)


def test_tokens_that_nobody_told_are_reckoned_by_sizes() -> None:
    counted = meter(Allowance(tokens=1000))
    counted.answered(0, 0, asked=4000, said=400)
    assert (counted.spent.input_tokens, counted.spent.output_tokens) == (1000, 100)
    assert counted.used_up() is not None


@pytest.mark.parametrize(
    ("allowance", "said"),
    [
        (Allowance(model_calls=1), "1 model calls"),
        (Allowance(tokens=1100), "1100 tokens"),
        (Allowance(micro_usd=4500), "$0.00"),
        (Allowance(seconds=60.0), "60 s"),
    ],
    ids=["calls", "tokens", "money", "time"],
)
def test_what_is_used_up_is_named(allowance: Allowance, said: str) -> None:
    counted = meter(allowance)
    assert counted.used_up() is None
    counted.answered(1000, 100)
    counted.took(timedelta(seconds=60), HOUR)
    assert said in (counted.used_up() or "")


def test_without_a_bound_there_is_one() -> None:
    counted = meter()
    for _ in range(MODEL_CALLS):
        assert counted.used_up() is None
        counted.answered(1, 1)
    assert counted.used_up() is not None


def test_an_allowance_of_nothing_lets_nothing_through() -> None:
    assert meter(Allowance(model_calls=0)).used_up() is not None
    assert meter(Allowance(seconds=0.0)).used_up() is not None


def test_money_without_a_price_is_not_spent() -> None:
    assert "SWEEPER_PRICES" in (meter(Allowance(micro_usd=1_000_000), price=None).used_up() or "")


def test_an_hour_without_a_worker_is_not_the_agents() -> None:
    counted = meter(Allowance(seconds=900.0))
    counted.took(timedelta(hours=5), timedelta(minutes=10))
    assert counted.used_up() is None


def conversation(turns: int, answer: str = "ok") -> list[ModelMessage]:
    said: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart("be good"), UserPromptPart("the task")])]
    for number in range(turns):
        said.append(ModelResponse(parts=[ToolCallPart("read_file", {"path": "a"}, f"c{number}")]))
        said.append(ModelRequest(parts=[ToolReturnPart("read_file", answer, f"c{number}")]))
    return said


def _pairs(messages: list[ModelMessage]) -> tuple[list[str], list[str]]:
    parts = [part for message in messages for part in message.parts]
    calls = [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)]
    return calls, [part.tool_call_id for part in parts if isinstance(part, ToolReturnPart)]


def test_a_conversation_grows_no_further_and_every_call_keeps_its_answer() -> None:
    said = conversation(0)
    sizes = []
    for number in range(500):
        said = folded([*said, *conversation(1, f"{number} " * 4000)[1:]])
        calls, answers = _pairs(said)
        assert len(calls) == len(answers)
        assert next(part for part in said[0].parts if isinstance(part, UserPromptPart)).content == "the task"
        sizes.append(conversation_bytes(said))
    assert turns_left_out(said) + len(_pairs(said)[0]) == 500
    assert max(sizes) < FULL_BYTES + 96 * 1024
    assert len(said[0].parts) == 3


def test_folding_twice_is_folding_once() -> None:
    once = folded(conversation(MOST_TURNS + 5, "x" * 5000))
    assert folded(once) == once
    assert len(_pairs(once)[0]) == KEPT_TURNS


def test_short_answers_and_the_newest_stay() -> None:
    said = conversation(4, "short") + conversation(7, "x" * (16 << 10))[1:]
    contents = [
        str(part.content) for message in folded(said) for part in message.parts if isinstance(part, ToolReturnPart)
    ]
    assert contents[:4] == ["short"] * 4
    assert FOLDED in contents
    assert sum(len(content) for content in contents[4:]) <= KEPT_BYTES + 16 * 1024
    assert contents[-1] == "x" * (16 << 10)


def test_an_answer_larger_than_all_room_is_shown_all_the_same() -> None:
    said = conversation(1, "y" * (FULL_BYTES + 1))
    assert folded(said) == said


def test_the_same_prefix_is_sent_until_the_next_folding() -> None:
    """Providers cache by prefix."""
    before = folded(conversation(6, "x" * (16 << 10)))
    after = folded([*before, *conversation(1, "x")[1:]])
    assert after[: len(before)] == before


def calls_of(response: ModelResponse) -> list[str]:
    return [part.tool_call_id for part in response.parts if isinstance(part, ToolCallPart)]


def test_repeated_call_ids_become_unique_and_others_stay() -> None:
    before: list[ModelMessage] = [ModelResponse(parts=[ToolCallPart("list_files", {}, "call_0")])]
    said = ModelResponse(parts=[ToolCallPart("a", {}, name) for name in ("call_0", "own", "own")])
    ids = calls_of(let_through(said, before))
    assert len({*ids, "call_0"}) == 4
    assert ids[1] == "own"
    assert calls_of(let_through(said, before)) == ids


@pytest.mark.parametrize(
    "said",
    [
        ModelResponse(parts=[ToolCallPart("a", {}, str(number)) for number in range(CALLS_AT_ONCE + 1)]),
        ModelResponse(parts=[TextPart("x" * ANSWER_BYTES)]),
        ModelResponse(parts=[ToolCallPart("write_file", {"content": "x" * ANSWER_BYTES}, "1")]),
        ModelResponse(parts=[ToolCallPart("write_file", '{"content": "half a', "1")], finish_reason="length"),
    ],
    ids=["calls", "text", "arguments", "cut off"],
)
def test_too_much_is_not_let_through_and_says_why(said: ModelResponse) -> None:
    passed = let_through(said, [])
    assert refusal_of(said) is None
    assert refusal_of(passed)
    assert calls_of(passed) == []


def test_what_a_provider_wrote_stays_out_of_an_error() -> None:
    error = theirs.ModelHTTPError(401, "m", body={"message": "wrong key sk-canary"}, headers={"x": "sk-canary"})
    error.__cause__ = ValueError("sk-canary")
    clean = without_body(error)
    assert "sk-canary" not in f"{clean} {clean!r} {vars(clean)} {clean.__cause__}"
    assert type(clean) is type(error)


@pytest.mark.parametrize(
    ("error", "outcome", "trouble"),
    [
        (theirs.ModelAuthenticationError("m", "sk-canary"), FixOutcome.FAILED, Trouble.MODEL_AWAY),
        (theirs.ModelContextWindowExceededError("m", "sk-canary"), FixOutcome.FAILED, Trouble.CONTEXT_FULL),
        (theirs.ModelQuotaExceededError("m", "sk-canary"), FixOutcome.FAILED, Trouble.MODEL_AWAY),
        (theirs.UnexpectedModelBehavior("sk-canary"), FixOutcome.FAILED, None),
        (theirs.UserError("sk-canary"), FixOutcome.FAILED, None),
        (Stopped("The time is over.", Trouble.USED_UP, out_of_time=True), FixOutcome.TIMED_OUT, Trouble.USED_UP),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_bad_end_is_one_sentence_of_ours(error: Exception, outcome: FixOutcome, trouble: Trouble | None) -> None:
    end = ending(error)
    assert (end.outcome, end.trouble) == (outcome, trouble)
    assert "sk-canary" not in end.said
    assert end.said.endswith(".")


def test_data_stands_behind_bars_and_fits() -> None:
    assert as_data("a\n\nb") == "| a\n| \n| b"
    flood = as_data("\n" * 100_000)
    assert len(flood.encode()) <= toolbox.ANSWER_BYTES
    assert "cut" in flood


@pytest.mark.parametrize(
    ("access", "error", "said"),
    [
        (ModelAccess(name="openai:m", providers=("api.anthropic.com",)), PolicyDenied, "api.openai.com"),
        (
            ModelAccess(name="openai:m", url="http://evil.example/v1", providers=("api.openai.com",)),
            PolicyDenied,
            "evil",
        ),
        (ModelAccess(name="anthropic:m"), BadInput, "SWEEPER_MODEL_KEY"),
        (ModelAccess(name="other:m", key=SecretStr("k")), BadInput, "other"),
    ],
    ids=["not listed", "address not listed", "no key", "unknown"],
)
def test_who_may_not_see_code_is_not_asked(access: ModelAccess, error: type[SweeperError], said: str) -> None:
    with pytest.raises(error, match=said):
        access.check()


def test_who_may_see_code_is_asked() -> None:
    ModelAccess(name="openai:m", key=SecretStr("k")).check()
    ModelAccess(name="openai:m", url="http://127.0.0.1:8080/v1", providers=("127.0.0.1",)).check()
    ModelAccess(name="openai:m", key=SecretStr("k"), providers=("API.OpenAI.com",)).check()


@pytest.mark.parametrize("tail", ["", "/", "/v1"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_one_address_is_the_same_place_for_both_agents_that_ask_a_model(provider: str, tail: str) -> None:
    url = f"http://127.0.0.1:8080{tail}"
    access = ModelAccess(name=f"{provider}:m", url=url)
    asked = Models(access).named(access.name)
    below = "" if provider == "openai" else "/v1"  # the clients of the one leave the version to the address
    assert f"{str(asked.base_url).rstrip('/')}{below}/x" == upstream(access).url("/x")
