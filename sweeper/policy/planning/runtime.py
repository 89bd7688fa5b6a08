"""What is worked out while steps run: expressions that were left, how a shell is started, what files of commands say.

Sources: GitHub's "Workflow syntax" (`jobs.<job_id>.steps[*].shell`) and "Workflow commands" (environment files).
"""

from collections.abc import Iterator
from typing import TypeVar

from sweeper.errors import Unverifiable
from sweeper.model import Check, PlanStep, Strict
from sweeper.policy.planning.evaluation import Context, Mark, Scope, settle
from sweeper.policy.planning.syntax import shortened

MOST_FILE_BYTES = 1024 * 1024
MOST_NAMES = 1_000
_RESERVED = ("GITHUB_", "RUNNER_")
_REFUSED = ("SWEEPER_",)
_SHELLS: dict[str, tuple[str, ...]] = {
    "default": ("bash", "-e", "-c"),
    "bash": ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"),
    "sh": ("sh", "-e", "-c"),
    "python": ("python", "-c"),
}

S = TypeVar("S", PlanStep, Check)


class RunContext(Strict):
    """What expressions may name while a job runs.

    `env`: what holds where the text stands: for a step's `env` what earlier steps put into GITHUB_ENV, for its command
    the step's own environment as well. `outputs`: by step id. The directories are those inside the sandbox.
    """

    env: dict[str, str] = {}
    outputs: dict[str, dict[str, str]] = {}
    workspace: str = "/sweeper/work"
    temp: str = "/tmp"  # noqa: S108 - a place inside the sandbox
    tool_cache: str = "/opt/hostedtoolcache"


def expand(text: str, context: RunContext) -> str:
    """A text of a plan with the expressions worked out that it was left with.

    Raises Unverifiable, naming it, for an expression that cannot be known here (`hashFiles`, a step that is not run).
    """
    return settle(text, _scope(context))


def expanded(step: S, context: RunContext) -> S:
    """A step or check with everything worked out: its environment first, then what may name it. Raises Unverifiable."""
    env = {name: expand(value, context) for name, value in step.env.items()}
    inner = context.model_copy(update={"env": {**context.env, **env}})
    return step.model_copy(
        update={
            "env": env,
            "command": expand(step.command, inner),
            "working_directory": expand(step.working_directory, inner),
        }
    )


def _scope(context: RunContext) -> Scope:
    steps = {
        name.lower(): Context({"outputs": Context({key.lower(): value for key, value in outputs.items()})})
        for name, outputs in context.outputs.items()
    }
    workspace, _, _ = context.workspace.rstrip("/").rpartition("/")
    return Scope(
        {
            "env": Context({name.lower(): value for name, value in context.env.items()}),
            "steps": Context(steps),
            "github": Context({"workspace": context.workspace}, rest=Mark.NEVER),
            "runner": Context(
                {"temp": context.temp, "tool_cache": context.tool_cache, "workspace": workspace}, rest=Mark.NEVER
            ),
        },
        files=Mark.NEVER,
    )


def shell_argv(shell: str, command: str) -> tuple[str, ...]:
    """As the runner would start it: no `shell:` is `bash -e`, `shell: bash` adds pipefail, `sh` is `sh -e`.

    A template for bash or sh (`bash -l {0}`) keeps its options. Raises Unverifiable for any other shell.
    """
    return (*(_SHELLS.get(shell) or _template(shell)), command)


def _template(shell: str) -> tuple[str, ...]:
    program, *options = shell.split() or [""]
    if program in ("bash", "sh") and options and options.pop() == "{0}" and _are_options(options):
        return (program, *options, "-c")
    raise Unverifiable(f"the shell {shortened(shell, 40)!r} is not to be had here; bash, sh and python are")


def _are_options(words: list[str]) -> bool:
    """Each begins like one, or is what `-o` (also as the end of `-eo`) asks for."""
    for before, word in zip(["", *words], words, strict=False):
        is_value = before.startswith(("-", "+")) and before.endswith(("o", "O")) and not before.startswith("--")
        if not word.startswith(("-", "+")) and not is_value:
            return False
    return True


def parse_file_commands(data: bytes) -> dict[str, str]:
    """What a step wrote to GITHUB_ENV or GITHUB_OUTPUT: `name=value`, or `name<<END`, lines, `END`. The last one wins.

    Names that belong to the runner are passed over, as GitHub does. Raises Unverifiable for a file GitHub would refuse
    (NODE_OPTIONS included), one over 1 MiB, and names of this program.
    """
    if len(data) > MOST_FILE_BYTES:
        raise Unverifiable(f"a step wrote more than {MOST_FILE_BYTES // 1024} KiB to a file of commands")
    lines = iter(data.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n"))
    found: dict[str, str] = {}
    for line in lines:
        if not line:
            continue
        name, value = _command(line, lines)
        _refuse(name)
        if not name.upper().startswith(_RESERVED):
            found[name] = value
        if len(found) > MOST_NAMES:
            raise Unverifiable(f"a step wrote more than {MOST_NAMES} names to a file of commands")
    return found


def _command(line: str, lines: Iterator[str]) -> tuple[str, str]:
    equals, heredoc = line.find("="), line.find("<<")
    if equals >= 0 and not 0 <= heredoc < equals:
        name, value = line[:equals], line[equals + 1 :]
    elif heredoc >= 0:
        name, value = line[:heredoc], _until(line[heredoc + 2 :], lines)
    else:
        raise Unverifiable(f"a step wrote {shortened(line, 40)!r} to a file of commands, which is no `name=value`")
    if not name:
        raise Unverifiable("a step wrote a value without a name to a file of commands")
    return name, value


def _until(end: str, lines: Iterator[str]) -> str:
    value: list[str] = []
    for line in lines:
        if line == end and end:
            return "\n".join(value)
        value.append(line)
    raise Unverifiable(f"a step wrote a value to a file of commands that does not end with {shortened(end, 40)!r}")


def _refuse(name: str) -> None:
    if name.upper() == "NODE_OPTIONS" or name.upper().startswith(_REFUSED):
        raise Unverifiable(f"a step set {shortened(name, 40)!r} through a file of commands, which is not allowed")
