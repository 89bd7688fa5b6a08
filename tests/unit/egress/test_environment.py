"""Which of the tools that are here answer for those that were asked for, and what a home needs."""

import subprocess
from pathlib import Path

import pytest

from sweeper.model import Tool
from sweeper.policy.environment import CARGO_INDEX_VARIABLE, EnvironmentPlan, environment_steps
from sweeper.policy.versions import is_asked_for, parse_version

HERE = (
    Tool(name="python", version="3.11.7"),
    Tool(name="python", version="3.9.2"),
    Tool(name="node", version="20.20.2"),
    Tool(name="rust", version="1.75.0"),
)


def plan(*tools: Tool, commands: tuple[str, ...] = ()) -> EnvironmentPlan:
    made = environment_steps(tools, HERE, commands)
    assert isinstance(made, EnvironmentPlan), made
    return made


FITS = {
    "3.11.7": (
        "3.11",
        "3.x",
        "3",
        "",
        "*",
        "latest",
        ">=3.9",
        ">= 3.9",
        ">3.10",
        "<=3.11",
        "~3.11",
        "~=3.9",
        "==3.11.*",
    ),
    "3.12.1": (">=3.9 <3.13", ">=3.9,<3.13", "3.11 || 3.12", "!=3.10", "3.12.1"),
    "20.20.2": ("v20", "20.x", "lts/*", "lts/iron", "^20.1", "18 || 20"),
    "1.75.0": ("stable", "1.75.0", "1.75"),
    "17.0.15": ("17", "17.0.15+6"),
}
DOES_NOT = {
    "3.11.7": (
        "3.1",
        "3.13",
        "3.11.9",
        ">=3.12",
        "<3.11",
        ">3.11",
        "!=3.11",
        "3.11; rm -rf /",
        ">=",
        "3.11-dev",
        "3.11t",
    ),
    "3.12.0": ("~3.11", "pypy3.12", "^2", "~=2.9"),
    "20.20.2": ("lts/jod", "lts/nothing", "18 || 22", "^20.30"),
    "21.0.0": ("lts/*", "^20"),
    "1.75.0": ("nightly", "beta"),
}


def pairs(table: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(asked, version) for version, spellings in table.items() for asked in spellings]


@pytest.mark.parametrize(("asked", "version"), pairs(FITS))
def test_a_version_that_fits(asked: str, version: str) -> None:
    assert is_asked_for(asked, parse_version(version))


@pytest.mark.parametrize(("asked", "version"), pairs(DOES_NOT))
def test_a_version_that_does_not_fit(asked: str, version: str) -> None:
    assert not is_asked_for(asked, parse_version(version))


def test_what_is_not_here_is_said_with_what_is() -> None:
    assert environment_steps([Tool(name="python", version="3.13")], HERE) == (
        "python 3.13 is asked for; installed: 3.11.7, 3.9.2"
    )
    assert environment_steps([Tool(name="go")], HERE) == "go is asked for; installed: none"


def test_the_newest_that_fits_is_taken() -> None:
    assert plan(Tool(name="python", version=">=3.9")).tools == (HERE[0],)
    assert plan(Tool(name="python", version="3.9")).tools == (HERE[1],)


def test_python_gets_an_environment_of_its_own_made_by_that_very_version() -> None:
    made = plan(Tool(name="python", version="3.9"))
    (command,) = made.commands
    assert "python3.9" in command
    assert (made.path, made.env) == (("$HOME/venv/bin",), {"VIRTUAL_ENV": "$HOME/venv"})


@pytest.mark.parametrize(
    "command", ["pip install -e .[test]", "sudo true\npython -m pip install x", "uv pip install x"]
)
def test_a_step_that_calls_pip_needs_one_though_nobody_asked(command: str) -> None:
    assert plan(commands=(command,)).path == ("$HOME/venv/bin",)


@pytest.mark.parametrize("command", ["pytest -q", "echo pipeline", "my-pip install", "ruff check"])
def test_a_step_that_does_not_needs_none(command: str) -> None:
    assert plan(commands=(command,)) == EnvironmentPlan()


def test_several_tools_come_together() -> None:
    made = plan(Tool(name="node", version="20"), Tool(name="python"), commands=("cargo test",))
    assert made.path == ("$HOME/venv/bin", "$HOME/npm/bin", "$HOME/cargo/bin")


@pytest.mark.slow
def test_the_lines_do_in_a_shell_what_they_say(tmp_path: Path) -> None:
    made = plan(Tool(name="rust", version="stable"), Tool(name="node", version="20"))
    script = f"{made.exports()}\n" + "\n".join(made.commands) + '\necho "$CARGO_HOME" "$PATH"'
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", CARGO_INDEX_VARIABLE: "sparse+http://here/index/"}
    said = subprocess.run(["/bin/sh", "-euc", script], env=env, capture_output=True, text=True, check=True).stdout
    assert said == f"{tmp_path}/cargo {tmp_path}/npm/bin:{tmp_path}/cargo/bin:/usr/bin:/bin\n"
    assert (tmp_path / "cargo" / "config.toml").read_text() == (
        '[source.crates-io]\nreplace-with = "gate"\n[source.gate]\nregistry = "sparse+http://here/index/"\n'
    )
