"""The whole command line: one layer, or two when the worker is root.

Everything outside the sandbox is started with an empty environment, and the command's own comes by --setenv: a
variable such as LD_PRELOAD, which a workflow file may set, must not reach a program that runs outside.

A root worker must not run the command as root, and another uid cannot reach tools below a directory like /root
(mode 0700). So a first layer, still root, lays everything needed side by side on a private mount; then setpriv
becomes the other uid for good, and bwrap is started as by any ordinary user.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adapters.sandbox import layout
from adapters.sandbox.binary import Binary
from adapters.sandbox.identity import Identity
from adapters.sandbox.layout import Control, Data, Mount
from adapters.sandbox.problems import NO_UTIL_LINUX
from adapters.sandbox.tools import is_system
from sweeper.errors import MissingTool

STAGE = Path("/run/sweeper-stage")
"""Where the first layer mounts, in a mount namespace of its own; outside it is an empty directory for ever."""

_SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_LAY_SIDE_BY_SIDE = f"""
set -e
PATH={_SYSTEM_PATH}
stage=$1; shift
mount -t tmpfs -o mode=755,size=1m,nosuid,nodev stage "$stage"
n=0
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir "$stage/$n"; else : >"$stage/$n"; fi
  mount --rbind "$1" "$stage/$n"
  n=$((n + 1)); shift
done
shift
exec "$@"
"""


@dataclass(frozen=True)
class Inside:
    """A command as it is to be found inside. `filters`: descriptors of system call filters, one at most."""

    argv: Sequence[str]
    directory: str
    env: Mapping[str, str]
    mounts: Sequence[Mount]
    data: Sequence[Data]
    filters: Sequence[int] = ()


def command_line(binary: Binary, identity: Identity, control: Control, inside: Inside) -> list[str]:
    """Arguments for exec. Raises MissingTool when the worker is root and util-linux is not there."""
    if not identity.switches:
        return [str(binary.path), *_bwrap(identity, control, inside, inside.mounts)]
    staged = [Mount(str(STAGE / str(n)), mount.target, mount.writable) for n, mount in enumerate(inside.mounts, 1)]
    return [
        *_lay_side_by_side([str(binary.home), *(mount.source for mount in inside.mounts)]),
        *_become(identity),
        _reachable(binary),
        *_bwrap(identity, control, inside, staged),
    ]


def make_stage() -> None:
    """Make the mount point of the first layer. Twice is a no-op; /run is root's own, so nobody can be there first."""
    STAGE.mkdir(mode=0o755, exist_ok=True)


def _bwrap(identity: Identity, control: Control, inside: Inside, mounts: Sequence[Mount]) -> list[str]:
    settings = [word for name, value in inside.env.items() for word in ("--setenv", name, value)]
    return [
        *layout.isolation(identity, control),
        *settings,
        *layout.root_filesystem(mounts, inside.data),
        *(word for descriptor in inside.filters for word in ("--seccomp", str(descriptor))),
        *("--chdir", inside.directory, "--", *inside.argv),
    ]


def _lay_side_by_side(sources: Sequence[str]) -> list[str]:
    """unshare and sh exec what comes after them, so that the worker itself stays the parent of bwrap.

    A parent's death signal obeys the permissions of kill(2): a layer in between that is root without capabilities,
    as another bwrap would be, could not signal a process of another uid, and a killed worker would leave it running.
    """
    script = ("/bin/sh", "-c", _LAY_SIDE_BY_SIDE, "stage", str(STAGE), *sources, "--")
    return [_program("unshare"), "--mount", "--", *script]


def _become(identity: Identity) -> list[str]:
    ids = ("--reuid", str(identity.uid), "--regid", str(identity.gid), "--clear-groups")
    return [_program("setpriv"), *ids, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"]


def _program(name: str) -> str:
    found = shutil.which(name, path=_SYSTEM_PATH)
    if found is None:
        raise MissingTool(NO_UTIL_LINUX.format(name=name))
    return found


def _reachable(binary: Binary) -> str:
    if is_system(binary.path):
        return str(binary.path)  # by its own path, to which a distribution's AppArmor profile is attached
    return str(PurePosixPath(STAGE, "0") / binary.path.relative_to(binary.home))
