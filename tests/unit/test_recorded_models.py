"""A recorded model decides by what a request holds: which turn, which words, which fault."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from adapters.models.recorded.asked import Asked, By, Said, mint, turns_taken, unanswered
from adapters.models.recorded.choosing import answer, choose
from adapters.models.recorded.faults import FaultKind, FaultRule, Faults
from adapters.models.recorded.ledger import Entry, KeyShown, Ledger, Outcome, read_ledger
from adapters.models.recorded.script import Script, ToolCall, Turn, Usage
from adapters.models.recorded.spoiling import problem, spoil
from sweeper.errors import BadInput

SEED = "abcdef0123456789"
SCRIPT = Script(
    turns=(
        Turn(text="look", calls=(ToolCall(name="read", arguments={"path": "a.py"}), ToolCall(name="list"))),
        Turn(calls=(ToolCall(name="edit", arguments={"to": "b"}),)),
        Turn(text="done"),
        Turn(when="Give it a title", text="A title"),
    )
)


def user(text: str = "go") -> Said:
    return Said(by=By.USER, text=text)


def model(*calls: str) -> Said:
    return Said(by=By.MODEL, calls=calls)


def tool(call: str, text: str = "") -> Said:
    return Said(by=By.TOOL, text=text, calls=(call,))


def asked(*said: Said, tools: tuple[str, ...] = ("read", "edit"), custom: tuple[str, ...] = ()) -> Asked:
    return Asked(
        model="m", stream=False, said=said, digest=SEED, tools=frozenset(tools), custom_tools=frozenset(custom)
    )


FIRST, SECOND = mint("call", 0, 0, SEED), mint("call", 0, 1, SEED)
NEXT, SPOILT = mint("toolu", 1, 0, SEED), mint("call", 1, 0, SEED, spoilt=True)

HISTORIES = {
    "nothing was said": ([user()], 0),
    "one turn with two calls": ([user(), model(FIRST, SECOND), tool(FIRST), tool(SECOND)], 1),
    "each call in a message of its own": ([user(), model(), model(FIRST), model(SECOND), tool(FIRST)], 1),
    "results between the calls of a turn": ([user(), model(FIRST), tool(FIRST), model(SECOND), tool(SECOND)], 1),
    "two turns": ([user(), model(FIRST), tool(FIRST), model(NEXT), tool(NEXT)], 2),
    "foreign ids": ([user(), model("a"), tool("a"), model("b"), tool("b")], 2),
    "ids that repeat": ([user(), model("call_0"), tool("call_0"), model("call_0"), tool("call_0")], 2),
    "texts alone": ([user(), model(), user(), model(), user()], 2),
    "how it began is left out": ([user(), model(NEXT), tool(NEXT)], 2),
    "a turn that was spoilt": ([user(), model(FIRST), tool(FIRST), model(SPOILT), tool(SPOILT)], 1),
}


@pytest.mark.parametrize("what", HISTORIES)
def test_the_turn_is_read_from_the_history(what: str) -> None:
    said, turn = HISTORIES[what]
    assert turns_taken(said) == turn


def test_a_history_with_loose_ends_is_noticed() -> None:
    whole = [user(), model("a", "b"), tool("b"), tool("a")]
    assert unanswered(whole) is None
    assert unanswered(whole[:-1]) == "No tool output found for function call a."
    assert unanswered([user(), tool("a")]) == "No tool call found for function call output with call_id a."


CHOICES = {
    "the first turn": ([user()], ("read",), "0", "look"),
    "the third turn": ([user(), model(FIRST), tool(FIRST), model(NEXT), tool(NEXT)], ("read",), "2", "done"),
    "past the end": ([user(), model(), user(), model(), user(), model(), user()], ("read",), "fallback", ""),
    "calls without tools": ([user()], (), "fallback", ""),
    "another conversation": ([user("Give it a title: x")], (), "Give it a title 0", "A title"),
    "another conversation by its system prompt": (
        [Said(by=By.SYSTEM, text="Give it a title."), user()],
        (),
        "Give it a title 0",
        "A title",
    ),
    "a file that says so is not the user": (
        [user(), model(FIRST), tool(FIRST, "Give it a title"), model(NEXT), tool(NEXT)],
        ("read",),
        "2",
        "done",
    ),
}


@pytest.mark.parametrize("what", CHOICES)
def test_the_request_alone_decides_which_turn_answers(what: str) -> None:
    said, tools, name, text = CHOICES[what]
    chosen = choose(SCRIPT, asked(*said, tools=tools))
    assert (chosen.name, chosen.turn.text) == (name, text or SCRIPT.fallback.text)


def test_of_several_conversations_that_fit_the_first_of_the_script_answers() -> None:
    script = Script(turns=(Turn(when="second attempt", text="b"), Turn(when="attempt", text="a")))
    assert [choose(script, asked(user(text))).turn.text for text in ("an attempt", "the second attempt")] == ["a", "b"]


def test_an_answer_is_the_same_each_time() -> None:
    request = asked(user())
    first, again = (answer(choose(SCRIPT, request), request, "call") for _ in range(2))
    assert first == again
    assert [call.id for call in first.calls] == [FIRST, SECOND]


TAKING = ToolCall(
    name="edit",
    arguments={"digest": "{{digest}}", "lines": ["{{line}}", 3], "deep": {"note": "{{all}} at {{line}}, {{none}}."}},
    take={"digest": r"digest=(\w+)", "line": r"line (\d+)", "all": r"line \d+", "none": "nowhere"},
)


def test_arguments_take_values_out_of_results() -> None:
    script = Script(turns=(Turn(), Turn(), Turn(calls=(TAKING,))))
    old, new = tool(FIRST, "digest=old line 1"), tool(NEXT, "digest=new")
    request = asked(user("digest=user"), model(FIRST), old, model(NEXT), new)
    (call,) = answer(choose(script, request), request, "call").calls
    assert json.loads(call.arguments) == {
        "digest": "new",
        "lines": ["1", 3],
        "deep": {"note": "line 1 at 1, ."},
    }


def test_usage_is_what_the_turn_says_or_grows_with_the_texts() -> None:
    told = Usage(input=7, output=5, cached=3)
    script = Script(turns=(Turn(text="x", usage=told),))
    request = asked(user())
    assert answer(choose(script, request), request, "call").usage == told
    small, large = (
        answer(choose(SCRIPT, request), request, "call").usage for request in (asked(user()), asked(user("x" * 4000)))
    )
    assert large.input - small.input == pytest.approx(1000, abs=1)
    assert large.output == small.output > 0


def test_a_tool_of_plain_text_is_known_by_the_request() -> None:
    request = asked(user(), custom=("read",))
    assert [call.is_plain for call in answer(choose(SCRIPT, request), request, "call").calls] == [True, False]


FAULTY = {
    "every request": (FaultRule(kind=FaultKind.SLOW, times=None), [True, True, True, True]),
    "once": (FaultRule(kind=FaultKind.SLOW), [True, False, False, False]),
    "the third": (FaultRule(kind=FaultKind.SLOW, nth=3), [False, False, True, False]),
    "one turn, always": (FaultRule(kind=FaultKind.SLOW, turn=1, times=None), [False, True, True, False]),
    "one turn, once": (FaultRule(kind=FaultKind.SLOW, turn=1), [False, True, False, False]),
    "one conversation": (FaultRule(kind=FaultKind.SLOW, when="title", times=None), [False, False, False, True]),
}


@pytest.mark.parametrize("what", FAULTY)
def test_a_rule_spoils_what_it_is_for(what: str) -> None:
    rule, expected = FAULTY[what]
    faults = Faults((rule,))
    requests = [(0, "go"), (1, "go"), (1, "go"), (0, "a title")]
    assert [faults.pick(turn, prompt) is not None for turn, prompt in requests] == expected


def test_new_rules_count_from_one() -> None:
    faults = Faults()
    assert faults.pick(0, "") is None
    rule = FaultRule(kind=FaultKind.CUT, nth=1)
    faults.replace((rule,))
    assert faults.pick(0, "") is rule


def _spoilt(kind: FaultKind, size: int = 10) -> tuple[str, list[tuple[str, str]]]:
    request = asked(user())
    chosen = choose(SCRIPT, request)
    spoilt = spoil(answer(chosen, request, "call"), FaultRule(kind=kind, size=size), chosen, "call")
    return spoilt.text, [(call.id, call.name) for call in spoilt.calls]


def test_a_storm_repeats_the_first_call_and_keeps_the_others() -> None:
    _, calls = _spoilt(FaultKind.STORM, 20)
    assert [name for _, name in calls] == ["read"] * 20 + ["list"]
    assert len({call for call, _ in calls}) == 21
    assert turns_taken([user(), model(*(call for call, _ in calls))]) == 1


def test_repeated_ids_are_those_of_any_turn() -> None:
    assert _spoilt(FaultKind.REPEATED_IDS)[1] == [("call_0", "read"), ("call_1", "list")]


@pytest.mark.parametrize("kind", [FaultKind.UNKNOWN_TOOL, FaultKind.INVALID_ARGUMENTS])
def test_after_a_call_that_cannot_be_carried_out_the_turn_is_still_due(kind: FaultKind) -> None:
    _, calls = _spoilt(kind)
    assert turns_taken([user(), model(*(call for call, _ in calls))]) == 0


def test_an_oversize_answer_costs_what_it_says() -> None:
    request = asked(user())
    chosen = choose(Script(turns=(Turn(text="x", usage=Usage(input=1, output=1)),)), request)
    spoilt = spoil(answer(chosen, request, "call"), FaultRule(kind=FaultKind.OVERSIZE, size=4000), chosen, "call")
    assert len(spoilt.text) == 4001
    assert spoilt.usage.output > 1000


def test_a_refusal_calls_nothing() -> None:
    assert _spoilt(FaultKind.REFUSAL)[1] == []


def test_only_errors_are_errors() -> None:
    found = {kind: wrong.status for kind in FaultKind if (wrong := problem(FaultRule(kind=kind)))}
    assert found == {
        FaultKind.RATE_LIMITED: 429,
        FaultKind.SERVER_ERROR: 500,
        FaultKind.OVERLOADED: 529,
        FaultKind.CONTEXT_LENGTH: 400,
    }


def _entry(digest: str = "") -> Entry:
    return Entry(method="POST", path="/v1/messages", key=KeyShown.EXPECTED, digest=digest)


def test_a_ledger_goes_on_where_it_was_and_drops_half_a_line(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    ledger = Ledger(file)
    ledger.end(ledger.open(_entry("a")), Outcome.SENT)
    ledger.open(_entry("a"))
    ledger.open(_entry())
    ledger.close()
    file.write_bytes(file.read_bytes() + b'{"n": 4, "meth')

    ledger = Ledger(file)
    ledger.open(_entry("b"))
    view = ledger.view()
    ledger.close()
    assert read_ledger(file) == view
    assert [(entry.n, entry.outcome) for entry in view.entries] == [
        (1, Outcome.SENT),
        (2, Outcome.OPEN),
        (3, Outcome.OPEN),
        (4, Outcome.OPEN),
    ]
    assert (view.total, view.distinct, view.open) == (3, 2, 2)


@pytest.mark.parametrize("text", ["turns: [{txt: x}]", "a: [", "fallback: {calls: [{name: a}]}"])
def test_what_is_no_script_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"script.yaml is no script"):
        Script.load(file)


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere.yaml cannot be read"):
        Script.load(tmp_path / "nowhere.yaml")


def test_a_pattern_is_checked_where_it_is_written() -> None:
    with pytest.raises(ValidationError, match="is no regular expression"):
        ToolCall(name="edit", take={"x": "("})


def test_a_script_survives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text(SCRIPT.model_dump_json())
    assert Script.load(file) == SCRIPT
