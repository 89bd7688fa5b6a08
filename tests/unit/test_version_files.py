"""Which version of a tool a file of the tree names."""

import pytest

from sweeper.model import Tool
from sweeper.policy.version_files import file_of, version_in


@pytest.mark.parametrize(
    ("tool", "path", "text", "version"),
    [
        ("python", ".python-version", "3.11\n", "3.11"),
        ("python", "sub/.python-version", "# ours\n\n 3.12.1 # for now\n", "3.12.1"),
        ("python", "pyproject.toml", '[project]\nrequires-python = ">=3.9"\n', ">=3.9"),
        ("uv", "pyproject.toml", '[project]\nrequires-python = ">=3.9"\n[tool.uv]\nrequired-version = "0.5"\n', "0.5"),
        ("node", ".nvmrc", "v20.11.0\n", "20.11.0"),
        ("node", ".nvmrc", "lts/*\n", "lts/*"),
        ("node", "package.json", '{"engines": {"node": ">=18"}}', ">=18"),
        ("node", ".tool-versions", "ruby 3.3.0\nnodejs 20.1.0\n", "20.1.0"),
        ("go", "go.mod", "module example.com/app\n\ngo 1.22\n", "1.22"),
        ("rust", "rust-toolchain.toml", '[toolchain]\nchannel = "1.75"\n', "1.75"),
        ("ruby", ".ruby-version", "3.3.0\n", "3.3.0"),
    ],
)
def test_the_file_of_each_tool_is_read_as_its_setup_action_does(tool: str, path: str, text: str, version: str) -> None:
    asked = Tool(name=tool, version=f"file:{path}")
    assert file_of(asked) == path
    assert version_in(asked, path, text.encode()) == version


@pytest.mark.parametrize("path", [".nvmrc", "go.mod", "package.json", "pyproject.toml", ".tool-versions"])
@pytest.mark.parametrize("data", [b"", b"\xff\xfe$(touch x)", b"[]", b"python -c 1; rm"])
def test_a_file_that_names_no_version_gives_none(path: str, data: bytes) -> None:
    assert version_in(Tool(name="node", version=f"file:{path}"), path, data) is None


def test_a_version_that_is_given_is_in_no_file() -> None:
    assert file_of(Tool(name="python", version="3.11")) is None
