"""What the actions of a workflow mean for a check: a tool, a command, nothing, or that there can be no proof.

Meaning of inputs: each action's own README. A known action is known by owner and name, whatever its version.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sweeper.model import Tool
from sweeper.policy.planning.checkout import judge_checkout
from sweeper.policy.planning.evaluation import Scope, fill, literally, settle

FILE = "file:"
"""Prefix of a tool's version that stands in a file of the tree."""

BY_REF = "@"
_TOOLCHAINS = {"clippy": "stable", "miri": "nightly"}
_NO_VERSION = re.compile(r"master|v1|[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Meaning:
    """An action in terms of a plan. `problem` set: no proof possible after it. `why`: half a sentence for people.

    `is_check`: its command is all it does, and fails where something is wrong; others prepare. `install`: a command
    that has to run before it.
    """

    why: str
    tools: tuple[Tool, ...] = ()
    command: str | None = None
    problem: str | None = None
    directory: str | None = None
    is_check: bool = False
    install: str | None = None


@dataclass(frozen=True, slots=True)
class _SetUp:
    """A setup action: which inputs name a version, or a file that holds it, and what comes with it."""

    tool: str
    version: str = ""
    file: str = ""
    more: Callable[[Mapping[str, str]], "Meaning | None"] | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """An action that runs one command with inputs as its arguments, each with what it is if it is not given.

    `package`: what it installs from Python's index first; else `tool` has to be there.
    """

    command: str
    inputs: tuple[tuple[str, str], ...]
    tool: str = ""
    package: str = ""


def meaning(uses: str, inputs: Mapping[str, str], scope: Scope) -> Meaning:
    """What `uses` with these (raw) inputs means. Raises Unverifiable for an input that matters and cannot be known."""
    name, _, ref = uses.partition("@")
    name = name.lower()
    if name == "actions/checkout":
        why, problem = judge_checkout(inputs, scope)
        return Meaning(why, problem=problem)
    if name in _SET_UP:
        return _set_up(_SET_UP[name], _known(inputs, scope, _SET_UP[name]), ref)
    if name in _RUNS:
        return _run(_RUNS[name], inputs, scope)
    if name in ("taiki-e/install-action", "dtolnay/install"):
        return _installs(settle(inputs.get("tool", ref), scope))
    if name in _NOTHING:
        return Meaning(f"is left out: {_NOTHING[name]}")
    return Meaning("", problem=_unknown(name, uses))


def _run(action: _Run, inputs: Mapping[str, str], scope: Scope) -> Meaning:
    """The command of an action that does nothing but run one."""
    given = {name: fill(inputs.get(name, default), scope).strip() for name, default in action.inputs}
    words = [action.command, *(given[name] or default for name, default in action.inputs)]
    version = settle(inputs.get("version", ""), scope).strip()
    return Meaning(
        "is what the action runs",
        (Tool(name=action.tool, version=version[:200]),) if action.tool else (),
        " ".join(filter(None, words)),
        directory=fill(inputs.get("working-directory", ""), scope).strip() or None,
        is_check=True,
        install=_installed(action.package, version) if action.package else None,
    )


def _installed(package: str, version: str) -> str:
    """From Python's index; a version that is more than a number is put as it stands, like `>=24`."""
    exactly = f"=={version}" if version[:1].isdigit() else version
    asked = "" if version in ("", "latest") else exactly
    return literally(f"python -m pip install '{package}{asked}'" if asked else f"python -m pip install {package}")


def _unknown(name: str, uses: str) -> str:
    shown = uses[:100]
    if name.startswith("./"):
        return f"uses {shown!r}, an action of the repository's own, which is not followed"
    if name.startswith("docker://"):
        return f"uses {shown!r}, a container, which is not run here"
    if name in ("actions/download-artifact", "dawidd6/action-download-artifact"):
        return f"uses {shown!r}, and what another job made is not there"
    return f"uses the action {shown!r}, which is not known here"


def _known(inputs: Mapping[str, str], scope: Scope, action: _SetUp) -> dict[str, str]:
    """Inputs that are asked for, worked out; tokens and such are never looked at."""
    return {
        name: settle(value, scope) for name, value in inputs.items() if name in (action.version, action.file, *_MORE)
    }


def _set_up(action: _SetUp, inputs: Mapping[str, str], ref: str) -> Meaning:
    versions = [_toolchain(inputs, ref)] if action.version == BY_REF else inputs.get(action.version, "").split("\n")
    asked = [version.strip() for version in versions if version.strip()]
    if not asked and (path := inputs.get(action.file, "").strip()):
        asked = [FILE + path]
    tools = tuple(Tool(name=action.tool, version=version[:200]) for version in asked or [""])
    also = action.more(inputs) if action.more else None
    if also is None:
        return Meaning(_mapped(tools), tools)
    return replace(also, why=also.why or _mapped(tools), tools=tools + also.tools)


def _toolchain(inputs: Mapping[str, str], ref: str) -> str:
    """`dtolnay/rust-toolchain@1.75`: the ref is the version, or stands for one, unless it names a commit."""
    named = "" if _NO_VERSION.fullmatch(ref) else _TOOLCHAINS.get(ref, ref)
    return inputs.get("toolchain", "") or named


def _mapped(tools: tuple[Tool, ...]) -> str:
    return "is mapped to " + ", ".join(f"{tool.name} {tool.version}".strip() for tool in tools)


def _installs(names: str) -> Meaning:
    tools = tuple(
        Tool(name=name, version=version)
        for name, _, version in (entry.strip().partition("@") for entry in names.split(","))
        if name
    )
    return Meaning(_mapped(tools), tools)


def _bundler(inputs: Mapping[str, str]) -> Meaning | None:
    if inputs.get("bundler-cache") != "true":
        return None
    directory = inputs.get("working-directory", "").strip() or None
    return Meaning("also installs the bundle", command="bundle install", directory=directory)


def _pnpm(inputs: Mapping[str, str]) -> Meaning | None:
    match inputs.get("run_install", "").strip():
        case "" | "false" | "null":
            return None
        case "true":
            return Meaning("also installs", command="pnpm install --recursive")
    return Meaning("", problem="has installs of its own (`run_install`), which are not read here")


def _uv(inputs: Mapping[str, str]) -> Meaning | None:
    if inputs.get("activate-environment", "false") not in ("", "false"):
        return Meaning("", problem="makes an environment of its own (`activate-environment`), which is not done here")
    version = inputs.get("python-version", "").strip()
    return Meaning("", (Tool(name="python", version=version),)) if version else None


def _pip(inputs: Mapping[str, str]) -> Meaning | None:
    packages = inputs.get("pip-install", "").strip()
    return (
        Meaning("also installs packages", command=literally(f"python -m pip install {packages}")) if packages else None
    )


_MORE = (
    "working-directory",
    "bundler-cache",
    "run_install",
    "activate-environment",
    "python-version",
    "pip-install",
    "toolchain",
)
_UV = _SetUp("uv", "version", "version-file", _uv)
_SET_UP = {
    "actions/setup-python": _SetUp("python", "python-version", "python-version-file", _pip),
    "actions/setup-node": _SetUp("node", "node-version", "node-version-file"),
    "actions/setup-go": _SetUp("go", "go-version", "go-version-file"),
    "actions/setup-java": _SetUp("java", "java-version", "java-version-file"),
    "actions/setup-dotnet": _SetUp("dotnet", "dotnet-version", "global-json-file"),
    "ruby/setup-ruby": _SetUp("ruby", "ruby-version", more=_bundler),
    "dtolnay/rust-toolchain": _SetUp("rust", BY_REF),
    "actions-rs/toolchain": _SetUp("rust", "toolchain"),
    "actions-rust-lang/setup-rust-toolchain": _SetUp("rust", "toolchain"),
    "astral-sh/setup-uv": _UV,
    "hynek/setup-cached-uv": _UV,
    "pnpm/action-setup": _SetUp("pnpm", "version", more=_pnpm),
    "oven-sh/setup-bun": _SetUp("bun", "bun-version", "bun-version-file"),
    "denoland/setup-deno": _SetUp("deno", "deno-version", "deno-version-file"),
    "snok/install-poetry": _SetUp("poetry", "version"),
    "pdm-project/setup-pdm": _SetUp("python", "python-version", "python-version-file"),
}
_RUNS = {
    "pre-commit/action": _Run("pre-commit run", (("extra_args", "--all-files"),), package="pre-commit"),
    "golangci/golangci-lint-action": _Run("golangci-lint run", (("args", ""),), tool="golangci-lint"),
    "astral-sh/ruff-action": _Run("ruff", (("args", "check"), ("src", "")), package="ruff"),
    "psf/black": _Run("black", (("options", "--check --diff"), ("src", ".")), package="black"),
    "actions-rs/cargo": _Run("cargo", (("command", ""), ("args", "")), tool="rust"),
}
_CACHE = "caches change how long a job takes, not what it finds"
_UPLOAD = "it sends results elsewhere"
_RUNNER = "it looks after GitHub's runner"
_NOTHING = {
    "actions/cache": _CACHE,
    "actions/cache/restore": _CACHE,
    "actions/cache/save": _CACHE,
    "swatinem/rust-cache": _CACHE,
    "gradle/actions/setup-gradle": _CACHE,
    "actions/upload-artifact": _UPLOAD,
    "actions/upload-pages-artifact": _UPLOAD,
    "codecov/codecov-action": _UPLOAD,
    "codecov/test-results-action": _UPLOAD,
    "coverallsapp/github-action": _UPLOAD,
    "github/codeql-action/upload-sarif": _UPLOAD,
    "pre-commit-ci/lite-action": _UPLOAD,
    "step-security/harden-runner": _RUNNER,
    "jlumbroso/free-disk-space": _RUNNER,
    "gradle/actions/wrapper-validation": "it checks the wrapper's digest",
}
