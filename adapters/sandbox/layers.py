"""The whole command line: one layer, or two when the worker is root.

bwrap itself is started with an empty environment, and the command's own comes by --setenv: a variable such as
LD_PRELOAD, which a workflow file may set, must not reach a program that runs outside the sandbox.

A root worker must not run the command as root, and the other uid cannot reach tools below a directory like /root
(mode 0700). So the outer layer, still root, only lays everything needed side by side under a private /tmp; then
setpriv becomes the other uid for good, and the inner layer is the same as for any ordinary user.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from adapters.sandbox import layout
from adapters.sandbox.binary import Binary
from adapters.sandbox.identity import Identity
from adapters.sandbox.layout import Control, Data, Mount
from adapters.sandbox.problems import NO_SETPRIV
from adapters.sandbox.tools import is_system
from sweeper.errors import MissingTool

_STAGE = "/tmp"  # noqa: S108  the outer layer's own tmpfs; every host has the directory to mount it on
_BINARY_STAGE = f"{_STAGE}/bwrap"


@dataclass(frozen=True)
class Inside:
    """A command as it is to be found inside."""

    argv: Sequence[str]
    directory: str
    env: Mapping[str, str]
    mounts: Sequence[Mount]
    data: Sequence[Data]


def command_line(binary: Binary, identity: Identity, control: Control, inside: Inside) -> list[str]:
    """Arguments for exec. Raises MissingTool when the worker is root and setpriv is not there."""
    if not identity.switches:
        return [str(binary.path), *_inner(identity, control, inside, inside.mounts)]
    staged = [Mount(f"{_STAGE}/{n}", mount.target, mount.writable) for n, mount in enumerate(inside.mounts)]
    return [
        *_outer(binary, inside.mounts, staged),
        *_become(identity),
        _reachable(binary),
        *_inner(identity, control, inside, staged),
    ]


def _inner(identity: Identity, control: Control, inside: Inside, mounts: Sequence[Mount]) -> list[str]:
    settings = [word for name, value in inside.env.items() for word in ("--setenv", name, value)]
    return [
        *layout.isolation(identity, control),
        *settings,
        *layout.root_filesystem(mounts, inside.data),
        *("--chdir", inside.directory, "--", *inside.argv),
    ]


def _outer(binary: Binary, mounts: Sequence[Mount], staged: Sequence[Mount]) -> list[str]:
    arguments = [str(binary.path), "--die-with-parent", "--dev-bind", "/", "/", "--tmpfs", _STAGE]
    arguments += ["--ro-bind", str(binary.home), _BINARY_STAGE]
    for mount, stage in zip(mounts, staged, strict=True):
        arguments += ["--bind" if mount.writable else "--ro-bind", mount.source, stage.source]
    return [*arguments, "--"]


def _become(identity: Identity) -> list[str]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise MissingTool(NO_SETPRIV)
    ids = ("--reuid", str(identity.uid), "--regid", str(identity.gid), "--clear-groups")
    # changing the uid clears the parent-death signal, so it has to be kept by name
    return [setpriv, *ids, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--pdeathsig", "keep", "--"]


def _reachable(binary: Binary) -> str:
    if is_system(binary.path):
        return str(binary.path)  # by its own path, to which a distribution's AppArmor profile is attached
    return str(PurePosixPath(_BINARY_STAGE) / binary.path.relative_to(binary.home))
