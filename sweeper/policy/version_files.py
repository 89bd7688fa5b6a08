"""Files by which a repository says which version of a tool it is for, as GitHub's setup actions read them."""

import json
import re
from posixpath import basename

from sweeper.model import Tool

FROM_FILE = "file:"
"""What a version begins with that stands in a file of the tree."""

_LINE = re.compile(r"^\s*v?([0-9][\w.+-]*|lts/[\w*-]+|stable|node)\s*(?:#.*)?$")
_GO = re.compile(r"^(?:toolchain\s+go|go\s+)([0-9][\w.]*)", re.MULTILINE)
_CHANNEL = re.compile(r"^\s*channel\s*=\s*[\"']([\w.-]+)[\"']", re.MULTILINE)
_REQUIRES = re.compile(r"^\s*requires-python\s*=\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_UV = re.compile(r"^\s*required-version\s*=\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_TOOL_VERSIONS = {"node": ("nodejs", "node"), "go": ("golang", "go")}


def file_of(tool: Tool) -> str | None:
    """The path that a tool's version is to be read from; None if it is given."""
    return tool.version.removeprefix(FROM_FILE) if tool.version.startswith(FROM_FILE) else None


def version_in(tool: Tool, path: str, data: bytes) -> str | None:
    """The version the file names for the tool; None if it names none."""
    text = data.decode("utf-8", "replace")
    match basename(path):
        case "go.mod" | "go.work":
            return _first(_GO, text)
        case "package.json":
            return _engine(text)
        case "pyproject.toml" | "uv.toml" if tool.name == "uv":
            return _first(_UV, text)
        case "rust-toolchain.toml":
            return _first(_CHANNEL, text)
        case "pyproject.toml":
            return _first(_REQUIRES, text)
        case ".tool-versions":
            return _of_asdf(tool, text)
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    return next((found[1] for line in lines if (found := _LINE.match(line))), None)


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[1] if found else None


def _engine(text: str) -> str | None:
    try:
        engines = json.loads(text).get("engines")
    except (ValueError, AttributeError):
        return None
    asked = engines.get("node") if isinstance(engines, dict) else None
    return asked if isinstance(asked, str) else None


def _of_asdf(tool: Tool, text: str) -> str | None:
    names = _TOOL_VERSIONS.get(tool.name, (tool.name,))
    rows = (line.split() for line in text.splitlines())
    return next((row[1] for row in rows if len(row) > 1 and row[0] in names), None)
