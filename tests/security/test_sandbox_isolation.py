"""A hostile command in the sandbox: what it must not see, reach or leave behind. Only planted canaries, all bounded."""

import asyncio
import os
import platform
import socket
import stat
import sys
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap
from tests.support.sandboxes import Room, usable

pytestmark = pytest.mark.slow

CANARY = "canary-7f3a"


@pytest.fixture
async def room(tmp_path: Path) -> Room:
    return Room(await usable(Bubblewrap()), tmp_path)


async def test_has_no_capability_and_can_gain_none(room: Room) -> None:
    status = await room.text("cat /proc/self/status")
    sets = dict(line.split(":\t") for line in status.splitlines() if line.startswith(("Cap", "NoNewPrivs")))
    assert {sets[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0000000000000000"}
    assert sets["NoNewPrivs"] == "1"


async def test_is_never_root_neither_inside_nor_on_the_host(room: Room) -> None:
    assert await room.text("id -u; touch made") != "0\n"
    owner = room.sandbox.owner() or (os.geteuid(), os.getegid())
    made = (room.path / "made").stat()
    assert (made.st_uid, made.st_gid) == owner
    assert made.st_uid != 0


async def test_a_setuid_bit_made_inside_never_makes_a_root_program(room: Room) -> None:
    await room.sh("cp /usr/bin/id evil; chmod 6755 evil; chown 0:0 evil; mknod device c 1 3")
    evil = (room.path / "evil").stat()
    assert evil.st_uid != 0
    assert evil.st_gid != 0
    assert not (room.path / "device").exists()
    printed = await room.text("./evil -u")
    assert printed != "0\n"


@pytest.mark.parametrize(
    "attempt", ["unshare -U true", "unshare -Ur true", "unshare -m true", "mount -t tmpfs none /tmp", "chroot / true"]
)
async def test_cannot_make_namespaces_or_mounts(room: Room, attempt: str) -> None:
    assert (await room.sh(attempt)).exit_code != 0


async def test_sees_only_its_own_processes_and_cannot_signal_others(room: Room) -> None:
    mine = os.getpid()
    pids = (await room.text("ls /proc | grep -E '^[0-9]+$'")).split()
    assert len(pids) < 10
    printed = await room.text(
        f"kill -0 {mine} 2>/dev/null && grep -q pytest /proc/{mine}/cmdline && echo reached; kill -9 -1; echo still"
    )
    assert "reached" not in printed
    assert room.path.exists()


async def test_cannot_trace_a_process_of_the_host(room: Room) -> None:
    trace = f"import ctypes; print(ctypes.CDLL(None, use_errno=True).ptrace(16, {os.getpid()}, 0, 0))"
    assert (await room.run("python3", "-c", trace)).output == b"-1\n"


async def test_has_no_network_but_an_empty_loopback(room: Room) -> None:
    devices = await room.text("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")
    assert devices == "lo\n"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        attempt = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        result = await room.run("python3", "-c", attempt)
    assert b"ConnectionRefusedError" in result.output
    outside = "import socket; socket.create_connection(('192.0.2.1', 80), 2)"
    assert b"Network is unreachable" in (await room.run("python3", "-c", outside)).output


async def test_cannot_reach_an_abstract_socket_of_the_host(room: Room) -> None:
    name = f"\0{CANARY}-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        attempt = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r})"
        result = await room.run("python3", "-c", attempt)
    assert b"ConnectionRefusedError" in result.output


async def test_the_workers_environment_cannot_be_read(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEPER_GITHUB_TOKEN", CANARY)
    printed = await room.text("cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; env; set")
    assert CANARY not in printed


async def test_a_variable_of_the_check_does_not_reach_programs_outside(room: Room) -> None:
    """LD_PRELOAD of a workflow file must load nothing into bwrap, which may run as root."""
    room.write({"evil.so": "long enough to be looked at as a library, but it is none. " * 100})
    result = await room.sh("echo ran", env={"LD_PRELOAD": str(room.path / "evil.so")})
    assert result.exit_code == 0
    assert b"cannot open shared object file" in result.output  # inside there is no such path
    assert b"ELF" not in result.output


ADD_KEY = """
import ctypes
call = ctypes.CDLL(None, use_errno=True).syscall
call.restype = ctypes.c_long
call(KEYCTL, 1, NAME)
print(call(ADD, b"user", NAME, b"canary-7f3a", 11, -3))
"""
FIND_KEY = """
import ctypes
call = ctypes.CDLL(None, use_errno=True).syscall
call.restype = ctypes.c_long
text = ctypes.create_string_buffer(20)
print(call(KEYCTL, 11, call(KEYCTL, 10, -3, b"user", NAME, 0), text, 20), text.raw)
"""
RUN_WITH_KEY = """
import asyncio, sys
from adapters.sandbox import Bubblewrap
from sweeper.ports import SandboxRun
exec(sys.argv[2])
exec(sys.argv[3])
run = SandboxRun(workspace=sys.argv[1], argv=("python3", "-c", sys.argv[3]))
print(asyncio.run(Bubblewrap().run(run)).output.decode())
"""


async def test_keys_in_the_workers_session_keyring_cannot_be_read(room: Room) -> None:
    """Keyrings are in no namespace. The key is planted in a new session keyring of a worker process of its own."""
    numbers = {"x86_64": ("250", "248"), "aarch64": ("219", "217")}.get(platform.machine())
    if numbers is None:
        pytest.skip("no system call filter for this machine")
    keyctl, add = numbers
    name = repr(f"sweeper-test-{os.getpid()}".encode())
    plant, find = (
        text.replace("KEYCTL", keyctl).replace("ADD", add).replace("NAME", name) for text in (ADD_KEY, FIND_KEY)
    )
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", RUN_WITH_KEY, str(room.path), plant, find), stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await worker.communicate()
    outside, inside = printed.decode().split("\n", 2)[1:]
    if CANARY not in outside:
        pytest.skip("this kernel has no keyrings")
    assert CANARY not in inside
    assert inside.startswith("-1 ")


async def test_files_of_the_host_are_not_there(room: Room, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / CANARY).write_text(CANARY)
    (tmp_path / CANARY).write_text(CANARY)
    (room.path / "link").symlink_to(tmp_path / CANARY)
    (room.path / "up").symlink_to("../")
    script = f"cat link ../{CANARY} up/{CANARY} {tmp_path}/{CANARY} {tmp_path}/state/{CANARY}; ls -a / .. {tmp_path}"
    assert CANARY not in (await room.text(script)).replace(f"/{CANARY}", "")


async def test_home_and_configuration_of_the_operator_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".local" / "bin").mkdir(parents=True)
    planted = [home / ".netrc", home / ".local" / "token"]
    for file in planted:
        file.write_text(CANARY)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}/.local/bin:{os.environ['PATH']}")
    room = Room(await usable(Bubblewrap()), tmp_path)
    script = f"echo; cat {planted[0]} {planted[1]} /etc/shadow; ls -A /etc; ls -A {home} {home}/.local"
    printed = await room.text(script)
    assert CANARY not in printed
    assert f"{home}:\n.local\n\n{home}/.local:\nbin\n" in printed
    assert "\nshadow\n" not in printed


async def test_system_and_tools_cannot_be_written(room: Room) -> None:
    places = ("/usr", "/etc", "/", "/sweeper", "/dev", sys.prefix, sys.base_prefix, "/usr/bin", "/proc/sys/kernel")
    script = "; ".join(f"touch {place}/{CANARY} 2>/dev/null && echo wrote {place}" for place in places)
    assert await room.text(script) == ""
    assert (await room.sh("rm -f /usr/bin/env")).exit_code != 0
    assert Path("/usr/bin/env").exists()


async def test_a_given_file_cannot_be_changed(room: Room) -> None:
    result = await room.sh(
        "echo evil >/sweeper/task; rm -f /sweeper/task; mv /sweeper/task x; cat /sweeper/task", files={"task": b"told"}
    )
    assert result.output.endswith(b"told")


async def test_nothing_but_the_workspace_outlives_a_run(room: Room) -> None:
    await room.sh("touch /tmp/left /dev/shm/left $HOME/left kept")
    assert await room.text("find /tmp /dev/shm $HOME -name left; ls") == "kept\n"


async def test_the_tree_left_behind_can_be_told_from_the_workers_own(room: Room) -> None:
    await room.sh("mkdir d; touch d/f; chmod 000 d/f; mkfifo pipe")
    owner = room.sandbox.owner() or (os.geteuid(), os.getegid())
    for path in (room.path / "d", room.path / "pipe"):
        assert path.lstat().st_uid == owner[0]
    assert stat.S_ISFIFO((room.path / "pipe").lstat().st_mode)
