"""What the verifier asks while steps run."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.errors import Unverifiable
from sweeper.model import Check, PlanStep
from sweeper.policy.planning import RunContext, expand, expanded, parse_file_commands, shell_argv
from sweeper.policy.planning.runtime import MOST_FILE_BYTES, MOST_NAMES

CONTEXT = RunContext(env={"NAME": "value"}, outputs={"Build": {"Path": "dist"}}, temp="/tmp/x")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("${{ env.NAME }}-${{ env.absent }}", "value-"),
        ("${{ steps.build.outputs.path }}/a", "dist/a"),
        ("${{ steps.other.outputs.path || 'none' }}", "none"),
        ("${{ github.workspace }} ${{ runner.temp }} ${{ runner.workspace }}", "/sweeper/work /tmp/x /sweeper"),
        ("${{ '${{' }} secrets.X }}", "${{ secrets.X }}"),
    ],
)
def test_expands_what_a_plan_left(text: str, value: str) -> None:
    assert expand(text, CONTEXT) == value


@pytest.mark.parametrize("expression", ["secrets.X", "hashFiles('a')", "matrix.os", "github.sha", "vars.X"])
def test_what_cannot_be_known_is_named(expression: str) -> None:
    with pytest.raises(Unverifiable, match=r"cannot be known here") as refused:
        expand(f"a ${{{{ {expression} }}}}", CONTEXT)
    assert expression in str(refused.value)


def test_a_value_is_not_taken_for_an_expression() -> None:
    assert expand("${{ env.X }}", RunContext(env={"X": "${{ env.X }}"})) == "${{ env.X }}"


def test_a_steps_environment_is_worked_out_before_what_names_it() -> None:
    env = {"A": "${{ env['NAME'] || 'default' }}", "NAME": "own"}
    command = "run ${{ env.A }} ${{ env.NAME }}"
    step = expanded(PlanStep(name="x", command=command, working_directory="${{ env.A }}", env=env), CONTEXT)
    assert (step.env, step.command, step.working_directory) == ({"A": "value", "NAME": "own"}, "run value own", "value")
    check = expanded(Check(name="x", command=command, env=env, before=(step,)), CONTEXT)
    assert (check.command, check.before) == ("run value own", (step,))


@pytest.mark.parametrize(
    ("shell", "argv"),
    [
        ("default", ("bash", "-e", "-c", "a | b")),
        ("bash", ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", "a | b")),
        ("sh", ("sh", "-e", "-c", "a | b")),
        ("python", ("python", "-c", "a | b")),
        ("bash -l {0}", ("bash", "-l", "-c", "a | b")),
        ("bash -euxo pipefail {0}", ("bash", "-euxo", "pipefail", "-c", "a | b")),
        (
            "bash --noprofile --norc -eo pipefail {0}",
            ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", "a | b"),
        ),
    ],
)
def test_starts_a_shell_as_the_runner_does(shell: str, argv: tuple[str, ...]) -> None:
    assert shell_argv(shell, "a | b") == argv


@pytest.mark.parametrize("shell", ["pwsh", "cmd", "powershell", "", "perl {0}", "bash {0} x", "bash evil {0}"])
def test_other_shells_are_refused_by_name(shell: str) -> None:
    with pytest.raises(Unverifiable, match="bash, sh and python are"):
        shell_argv(shell, "x")


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b"", {}),
        (b"A=1\n\nB=x=y\nA=2\n", {"A": "2", "B": "x=y"}),
        (b"\xef\xbb\xbfA=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        (b"A<<END\nline 1\n\nEND of\nEND\nB=1", {"A": "line 1\n\nEND of", "B": "1"}),
        (b"A<<E\nE\n", {"A": ""}),
        (b"A=x<<y\n", {"A": "x<<y"}),
        (b"A=\xff\n", {"A": "\ufffd"}),
        (b"GITHUB_ENV=/x\nRUNNER_TEMP=/y\nCI=false\n", {"CI": "false"}),
    ],
)
def test_reads_what_a_step_wrote(data: bytes, values: dict[str, str]) -> None:
    assert parse_file_commands(data) == values


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"no sign", "no `name=value`"),
        (b"=1", "without a name"),
        (b"<<END\nEND", "without a name"),
        (b"A<<END\nnever", "does not end with 'END'"),
        (b"A<<\n\n", "does not end"),
        (b"NODE_OPTIONS=--require x", "NODE_OPTIONS"),
        (b"node_options<<E\nx\nE", "node_options"),
        (b"SWEEPER_TASK=x", "SWEEPER_TASK"),
        (b"A=" + b"x" * MOST_FILE_BYTES, "more than 1024 KiB"),
        (b"".join(b"A%d=\n" % n for n in range(MOST_NAMES + 2)), "more than 1000 names"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_refuses_what_github_refuses_and_names_of_ours(data: bytes, why: str) -> None:
    with pytest.raises(Unverifiable) as refused:
        parse_file_commands(data)
    assert why in str(refused.value)


@given(st.binary(max_size=300) | st.text("A=<\nE", max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(Unverifiable):
        assert all(parse_file_commands(data))
