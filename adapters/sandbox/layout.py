"""What a sandboxed command sees: bubblewrap's arguments for its namespaces and its root filesystem."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.sandbox.identity import Identity
from sweeper.errors import BadInput
from sweeper.ports import SandboxRun

FILES_AT = "/sweeper"
WORK_AT = "/sweeper/work"
"""The workspace, under a name of ours: a tool's own path on the host can never lie below it by chance, as it could
below /work or /workspace."""
TMP_AT = "/tmp"  # noqa: S108  the sandbox's own, not the host's
HOME_AT = f"{TMP_AT}/home"
GATE_AT = "/sweeper/gate"

HOST_NAME = "sweeper-sandbox"

TMP_BYTES = 1 << 30
SHM_BYTES = 256 << 20

NO_PROGRAM_EXIT = 127
"""As shells say it: the program is not there."""
NO_DIRECTORY_EXIT = 1
NO_DIRECTORY = b"The working directory does not exist in the workspace.\n"

_OUR_NAMES = tuple(posixpath.basename(path) for path in (WORK_AT, GATE_AT))
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_ARGUMENT = re.compile("[\0\ud800-\udfff]")
_LINKED_ROOTS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_HARMLESS_ETC = (
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
    "/etc/mime.types",
    "/etc/protocols",
    "/etc/services",
)


@dataclass(frozen=True)
class Mount:
    """A host path shown at a path inside."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Control:
    """Descriptors by which we and bwrap talk: it reports pid and exit code to `status`, it waits at `gate`."""

    status: int
    gate: int


@dataclass(frozen=True)
class Data:
    """A file that exists only inside: the descriptor to read it from, and its path."""

    descriptor: int
    target: str


def synthetic_etc(identity: Identity) -> dict[str, bytes]:
    """The few files of /etc that programs ask for, without anything of this host in them."""
    user, group = identity.uid, identity.gid
    return {
        "/etc/passwd": (
            "root:x:0:0:root:/:/bin/sh\n"
            f"sweeper:x:{user}:{group}:sweeper:{HOME_AT}:/bin/sh\n"
            "nobody:x:65534:65534:nobody:/:/bin/sh\n"
        ).encode(),
        "/etc/group": f"root:x:0:\nsweeper:x:{group}:\nnogroup:x:65534:\n".encode(),
        "/etc/hosts": f"127.0.0.1 localhost {HOST_NAME}\n::1 localhost\n".encode(),
        "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files\n",
    }


def environment(
    search_path: Sequence[str], asked: Mapping[str, str], tmp: str = TMP_AT, home: str = HOME_AT
) -> dict[str, str]:
    """A plain one, with what the run asks for on top. Byte code goes to `tmp`, not into the tree under test."""
    return {
        "PATH": ":".join(search_path),
        "HOME": home,
        "TMPDIR": tmp,
        "USER": "sweeper",
        "LANG": "C.UTF-8",
        "PYTHONPYCACHEPREFIX": f"{tmp}/pycache",
        **asked,
    }


def working_directory(relative: str) -> str:
    """Where the command starts; a link or `..` in it leads nowhere that is not in the sandbox anyway."""
    return posixpath.normpath(posixpath.join(WORK_AT, relative))


def refuse_bad_names(run: SandboxRun) -> None:
    """Raises BadInput for a file or a variable that could not be given to the command as asked."""
    for name in run.files:
        if not _FILE_NAME.fullmatch(name) or name in _OUR_NAMES:
            raise BadInput(f"{name!r} cannot be the name of a file for the sandbox; use letters, digits, '.', '_', '-'")
    for name, value in run.env.items():
        if not _ENV_NAME.fullmatch(name) or "\0" in value:
            raise BadInput(f"The environment variable {name!r} cannot be set; rename it or take the zero byte out")
    if any(_NO_ARGUMENT.search(text) for text in (*run.argv, run.working_directory, *run.env.values())):
        raise BadInput("A command with a zero byte or half a character cannot be run; take that out of it")


def refuse_bad_home(home: str) -> None:
    """Raises BadInput unless it is a directory, and no link to one."""
    if Path(home).is_symlink() or not Path(home).is_dir():
        raise BadInput(f"{home} cannot be the home of a command; make a directory there first")


def isolation(identity: Identity, control: Control) -> list[str]:
    """Namespaces, no capability, no further user namespace, dies with the worker."""
    uid, gid = str(identity.uid), str(identity.gid)
    return [
        *("--unshare-user", "--uid", uid, "--gid", gid, "--disable-userns", "--cap-drop", "ALL"),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--hostname", HOST_NAME, "--new-session", "--die-with-parent", "--clearenv"),
        *("--json-status-fd", str(control.status), "--block-fd", str(control.gate)),
    ]


def root_filesystem(mounts: Sequence[Mount], data: Sequence[Data]) -> list[str]:
    """/usr and `mounts`, small private /tmp and /dev/shm; everything else is read-only or not there."""
    arguments = ["--ro-bind", "/usr", "/usr", *_system_roots()]
    for path in _HARMLESS_ETC:
        arguments += ["--ro-bind-try", path, path]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    arguments += ["--size", str(SHM_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    arguments += ["--size", str(TMP_BYTES), "--perms", "1777", "--tmpfs", TMP_AT, "--dir", HOME_AT]
    for mount in mounts:
        arguments += ["--bind" if mount.writable else "--ro-bind", mount.source, mount.target]
    for item in data:
        arguments += ["--perms", "0444", "--ro-bind-data", str(item.descriptor), item.target]
    return [*arguments, "--remount-ro", "/"]


def _system_roots() -> list[str]:
    arguments: list[str] = []
    for name in _LINKED_ROOTS:
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    return arguments
