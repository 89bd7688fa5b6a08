"""What every `Sandbox` keeps to, with isolation and without."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap, Unsandboxed, choose_sandbox
from adapters.sandbox.problems import ROOT_ALONE
from sweeper.errors import BadInput, MissingTool
from sweeper.ports import SandboxRun
from tests.support.sandboxes import Room, alive, limits, until, usable

pytestmark = pytest.mark.slow


@pytest.fixture(params=["bubblewrap", "none"])
async def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    sandbox = await usable(Bubblewrap()) if request.param == "bubblewrap" else Unsandboxed()
    return Room(sandbox, tmp_path)


async def test_gives_the_exit_code_of_the_command(room: Room) -> None:
    assert (await room.sh("exit 7")).exit_code == 7
    assert (await room.sh("true")).exit_code == 0


async def test_gives_a_killed_command_the_exit_code_a_shell_gives_it(room: Room) -> None:
    result = await room.sh("kill -9 $$")
    assert (result.exit_code, result.limit) == (137, None)


async def test_keeps_output_and_errors_in_the_order_they_were_written(room: Room) -> None:
    assert (await room.sh("echo one; echo two >&2; echo three")).output == b"one\ntwo\nthree\n"


async def test_starts_in_the_workspace_and_its_edits_stay(room: Room) -> None:
    room.write({"a.txt": "before", "deep/b.txt": "b"})
    result = await room.sh("cat a.txt; echo after >a.txt; ls deep")
    assert result.output == b"beforeb.txt\n"
    assert (room.path / "a.txt").read_text() == "after\n"


async def test_starts_in_the_working_directory_asked_for(room: Room) -> None:
    room.write({"deep/b.txt": "here"})
    assert await room.text("cat b.txt", working_directory="deep") == "here"


async def test_a_missing_working_directory_is_a_failed_command_that_says_so(room: Room) -> None:
    result = await room.sh("true", working_directory="nowhere")
    assert result.exit_code == 1
    assert b"working directory does not exist" in result.output


async def test_a_missing_program_is_127_as_in_a_shell(room: Room) -> None:
    result = await room.run("no-such-program", "--version")
    assert result.exit_code == 127
    assert b"no-such-program" in result.output


async def test_the_environment_is_what_was_asked_for_and_nothing_of_the_worker(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "of-the-worker")
    printed = await room.text("env", env={"CHECK_ME": "a b\nc"})
    assert "CHECK_ME=a b\nc" in printed
    assert "of-the-worker" not in printed
    names = {line.partition("=")[0] for line in printed.splitlines()}
    assert {"PATH", "HOME", "LANG"} <= names


async def test_home_is_private_and_can_be_written(room: Room) -> None:
    assert await room.text('cd "$HOME" && touch x && ls -A') == "x\n"


async def test_files_are_given_by_name(room: Room) -> None:
    printed = await room.text('cat "$TASK"', files={"task.json": b"{}"}, env={"TASK": "/sweeper/task.json"})
    assert printed == "{}"


async def test_a_file_can_be_the_script(room: Room) -> None:
    result = await room.run("sh", "-e", "/sweeper/check.sh", files={"check.sh": b"echo ran\nfalse\necho not\n"})
    assert (result.exit_code, result.output) == (1, b"ran\n")


@pytest.mark.parametrize("name", ["../evil", "a/b", "", "work", ".hidden"])
async def test_refuses_a_file_name_that_leads_elsewhere(room: Room, name: str) -> None:
    with pytest.raises(BadInput):
        await room.sh("true", files={name: b""})


async def test_the_interpreter_and_its_tools_are_found(room: Room) -> None:
    assert (await room.sh("python3 -c 'import sys' && ruff --version")).exit_code == 0
    assert (await room.text("command -v ruff")).strip() in {f"{place}/ruff" for place in room.sandbox.search_path}


async def test_a_command_too_long_to_start_is_refused_in_a_sentence(room: Room) -> None:
    with pytest.raises(BadInput, match="too long"):
        await room.sh("x" * 200_000)
    assert (await room.sh("true")).exit_code == 0


async def test_the_standard_input_is_empty(room: Room) -> None:
    assert (await room.sh("cat")).output == b""


async def test_time_limit_ends_the_command_and_names_itself(room: Room) -> None:
    result = await room.sh("echo begun; exec sleep 600", limits=limits(seconds=0.3))
    assert (result.exit_code, result.limit, result.output) == (None, "time", b"begun\n")


async def test_output_limit_ends_the_command_and_names_itself(room: Room) -> None:
    result = await room.sh("yes", limits=limits(output_bytes=3 << 20))
    assert (result.exit_code, result.limit) == (None, "output")


async def test_much_output_keeps_head_and_tail_and_marks_the_cut(room: Room) -> None:
    result = await room.sh("echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo last")
    assert result.exit_code == 0
    assert result.output.startswith(b"first\n")
    assert result.output.endswith(b"xlast\n")
    assert b"bytes left out ...]" in result.output
    assert len(result.output) < (1 << 20) + (64 << 10) + 100


async def test_what_the_command_left_running_is_dead_on_return(room: Room) -> None:
    unique = f"62{id(room)}"
    result = await room.sh(f"sleep {unique} & sleep {unique} >/dev/null 2>&1 & echo end")
    assert (result.exit_code, result.output) == (0, b"end\n")
    await until(lambda: alive(unique) == [])  # killed; that it is gone *on return* only a real sandbox can promise


async def test_cancelling_ends_the_whole_tree(room: Room) -> None:
    unique = f"60{id(room)}"
    script = f"trap '' TERM; sleep {unique} & (sleep {unique} &); touch ready; sleep {unique}; sleep {unique}"
    running = asyncio.ensure_future(room.sh(script))
    await until((room.path / "ready").exists)
    await until(lambda: len(alive(unique)) == 3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: alive(unique) == [])


async def test_cancelling_at_once_leaves_nothing(room: Room) -> None:
    unique = f"61{id(room)}"
    for pause in range(8):
        running = asyncio.ensure_future(room.sh(f"sleep {unique}"))
        for _ in range(pause * pause):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: alive(unique) == [])


async def test_runs_at_the_same_time_do_not_mix(room: Room) -> None:
    results = await asyncio.gather(*(room.sh(f"echo {n}; exit {n}") for n in range(6)))
    assert [result.exit_code for result in results] == list(range(6))
    assert [result.output for result in results] == [f"{n}\n".encode() for n in range(6)]


async def test_running_without_isolation_says_so_in_its_name() -> None:
    facts = await Unsandboxed().probe()
    assert (facts.name, facts.held) == ("none", ())


async def test_a_machine_without_bubblewrap_is_refused_with_the_remedy(tmp_path: Path) -> None:
    without = Bubblewrap(binaries=())
    facts = await without.probe()
    assert facts.problem is not None
    assert "apt install bubblewrap" in facts.problem
    with pytest.raises(MissingTool, match="apt install bubblewrap"):
        await without.run(SandboxRun(workspace=str(tmp_path), argv=("true",)))


async def test_chooses_the_real_sandbox_where_it_holds() -> None:
    await usable(Bubblewrap())
    assert isinstance(await choose_sandbox(allow_unsandboxed=True), Bubblewrap)


def test_root_alone_in_its_user_namespace_is_told_why_there_is_no_sandbox() -> None:
    """Containers of an ordinary user are often such a namespace."""
    script = "import asyncio; from adapters.sandbox import Bubblewrap; print(asyncio.run(Bubblewrap().probe()).problem)"
    alone = ("unshare", "--user", "--map-root-user")
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False).returncode != 0:
        pytest.skip("this machine makes no user namespaces")
    told = subprocess.run([*alone, sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == ROOT_ALONE
