"""What coding agents say of themselves: read as far as it is understood, and never believed further."""

import json

import pytest

from adapters.agents.presets import PRESETS
from adapters.agents.transcripts import Claim, Reading, read_claude, read_codex, read_plain
from sweeper.model import Trouble


def lines(*events: object) -> str:
    return "".join(f"{json.dumps(event)}\n" for event in events)


def test_a_result_with_uses_that_were_not_permitted_is_a_permission_trouble() -> None:
    denied = {"type": "result", "is_error": False, "result": "Done", "permission_denials": [{"tool_name": "Write"}]}
    assert read_claude(lines({"type": "assistant"}, denied)) == Claim("Done", Trouble.PERMISSION)
    assert read_claude(lines({**denied, "permission_denials": []})) == Claim("Done", None)


def test_the_last_message_is_its_word() -> None:
    said = [{"type": "item.completed", "item": {"type": "agent_message", "text": text}} for text in ("first", "last")]
    assert read_codex(lines({"type": "turn.started"}, *said)).words == "last"
    failed = {"type": "turn.failed", "error": {"message": "exceeded retry limit"}}
    assert read_codex(lines(*said, failed)).words == "exceeded retry limit"


@pytest.mark.parametrize("read", [read_claude, read_codex, read_plain])
@pytest.mark.parametrize(
    "output",
    [
        "",
        "{\n{}\nnull\n",
        '{"type": "result", "result": 7, "permission_denials": "all"}\n',
        '{"item": 3, "error": []}\n',
        '{"a": ' + "[" * 50_000 + "\n",
        '{"type": "result", "result": "' + "x" * (2 << 20) + '"}\n',
    ],
)
def test_what_is_not_understood_is_no_claim(read: Reading, output: str) -> None:
    assert read(output).words is None


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_presets_row_is_whole(name: str) -> None:
    preset = PRESETS[name]
    assert preset.name == name
    assert f"exec {preset.program} " in preset.script
    assert "SWEEPER_PROMPT" in preset.script
    assert set(preset.providers) <= {"anthropic", "openai"}
    assert "KEY" not in "".join(preset.env)


@pytest.mark.parametrize(
    ("said", "trouble"),
    [
        ("API Error: 429 This try has used up its model calls; end here", Trouble.USED_UP),
        ("Prompt is too long", Trouble.CONTEXT_FULL),
        ("Codex ran out of room in the model's context window", Trouble.CONTEXT_FULL),
        ("API Error: 529 overloaded", Trouble.MODEL_AWAY),
        ("stream disconnected before completion", Trouble.MODEL_AWAY),
    ],
)
def test_known_signs_name_their_trouble(said: str, trouble: Trouble) -> None:
    for preset in PRESETS.values():
        assert next(kind for sign, kind in preset.signs if sign.search(said)) is trouble
