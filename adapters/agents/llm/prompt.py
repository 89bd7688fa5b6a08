"""The prompt and the tools' schema: versioned files, read once when the process starts."""

from importlib.resources import files

PROMPT_VERSION = "fix.v1"
TOOLS_VERSION = "tools.v1"
_FILES = files("adapters.agents.llm") / "prompts"

PROMPT = (_FILES / f"{PROMPT_VERSION}.md").read_text(encoding="utf-8")
TOOLS_FILE = f"{TOOLS_VERSION}.json"


def versions(model: str) -> dict[str, str]:
    """What an attempt's report names, so that two results can be compared."""
    return {"model": model, "prompt": PROMPT_VERSION, "tools": TOOLS_VERSION}
