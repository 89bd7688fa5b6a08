"""What a model is sent is the versioned files, word for word.

After a change that is meant, raise the version in `adapters/agents/llm/prompt.py` and write the new file with
`python -m tests.workflow.test_llm_schema`.
"""

import asyncio
import json
from pathlib import Path

import adapters.agents.llm
from adapters.agents.llm.prompt import PROMPT_VERSION, TOOLS_FILE
from tests.support.model_agent import FINISH, MemoryTools, ScriptedModel, script, start, working
from tests.support.temporal import time_skipping_env

FILES = Path(adapters.agents.llm.__file__).with_name("prompts")


async def first_question() -> ScriptedModel:
    """A model that was asked once."""
    model = script([("finish", FINISH)])
    async with time_skipping_env() as env, working(env.client, MemoryTools(), model):
        await (await start(env.client)).result()
    return model


def tools_of(model: ScriptedModel) -> str:
    """The tools as JSON."""
    (info,) = model.infos
    sent = [*info.function_tools, *info.output_tools]
    told = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters_json_schema} for tool in sent
    ]
    return json.dumps(told, indent=2) + "\n"


async def test_a_model_is_sent_the_versioned_prompt_and_tools() -> None:
    model = await first_question()
    assert tools_of(model) == (FILES / TOOLS_FILE).read_text()
    (question,) = model.seen[0]
    system, task = question.parts
    assert system.part_kind == "system-prompt"
    assert system.content == (FILES / f"{PROMPT_VERSION}.md").read_text()
    assert task.part_kind == "user-prompt"
    assert task.content == MemoryTools().briefing


if __name__ == "__main__":
    (FILES / TOOLS_FILE).write_text(tools_of(asyncio.run(first_question())))
