"""Whether a preset's program is there, asked where it would run: in the sandbox."""

import os
import tempfile

from adapters.agents.presets import Preset
from sweeper.errors import MissingTool
from sweeper.ports import Sandbox, SandboxLimits, SandboxRun

_ASK = 'command -v "$1" && "$1" --version 2>/dev/null | tail -n 1'
_SECONDS = 60.0
_MISSING = (
    "{program}, which the preset {name} needs, is not in the sandbox; install it ({install}) and name the directory it"
    " lies in in PATH or SWEEPER_AGENT_PATH, not one below a home directory"
)


async def find_program(preset: Preset, sandbox: Sandbox) -> str:
    """Its path and version. Raises MissingTool. Asking twice is safe: it runs in an empty directory."""
    with tempfile.TemporaryDirectory(prefix="sweeper-") as place:
        if owner := sandbox.owner():
            os.chown(place, *owner)
        asked = SandboxRun(
            workspace=place,
            argv=("sh", "-c", _ASK, "sh", preset.program),
            env=dict(preset.env),
            limits=SandboxLimits(seconds=_SECONDS),
        )
        lines = (await sandbox.run(asked)).output.decode(errors="replace").splitlines()
    if not lines or not lines[0].startswith("/"):
        raise MissingTool(_MISSING.format(program=preset.program, name=preset.name, install=preset.install))
    return f"{preset.name}: {' '.join(reversed(lines))}"
