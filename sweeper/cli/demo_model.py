"""The demo's model: a recorded one on loopback, so that no account and no network is needed. All else is real."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from sweeper.activities.names import MODEL_AGENT
from sweeper.cli.model_worker import require_extra
from sweeper.cli.sample import mended_pricing

_FOUND = {
    "cause": "total() added the discount instead of taking it off, and an import was left that nobody uses.",
    "change": "The sign in total() is turned, the import is gone, and the file is formatted.",
    "risk": "None known: both tests of total() pass.",
    "confidence": "high",
}


@asynccontextmanager
async def model_for(agent: str | None, root: Path) -> AsyncIterator[Mapping[str, object]]:
    """The settings of a model that runs as long as this lasts; none for an agent that needs none.

    Raises MissingTool without the extra.
    """
    if agent != MODEL_AGENT:
        yield {}
        return
    require_extra()
    from adapters.models.recorded.options import RecordedOptions
    from adapters.models.recorded.script import Script, ToolCall, Turn
    from adapters.models.recorded.server import recorded_models

    write = ToolCall(name="write_file", arguments={"path": "pricing.py", "content": mended_pricing()})
    script = Script(
        turns=(
            Turn(text="I look at what is there.", calls=(ToolCall(name="list_files"),)),
            Turn(calls=(ToolCall(name="read_file", arguments={"path": "pricing.py"}),)),
            Turn(calls=(ToolCall(name="read_file", arguments={"path": "test_pricing.py"}),)),
            Turn(text="The sign of the discount is wrong.", calls=(write,)),
            Turn(calls=(ToolCall(name="finish", arguments=dict(_FOUND)),)),
        )
    )
    async with recorded_models(RecordedOptions(script=script, state_dir=root / "model")) as info:
        yield {
            "model": "openai:recorded",
            "model_url": info.openai_url,
            "model_key": SecretStr(info.key),
            "model_providers": ("127.0.0.1",),
        }
