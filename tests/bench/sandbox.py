"""Starting a command in the sandbox, beside starting it bare."""

from functools import partial
from pathlib import Path

from adapters.sandbox import Unsandboxed, choose_sandbox
from sweeper.ports import Sandbox, SandboxRun
from tests.bench.measure import Compared, Row, side_by_side, timed
from tests.bench.processes import must

BENCH = "Starting a command that does nothing"
GOES = 15


async def rows(root: Path) -> list[Row]:
    """`true`, three ways. Raises MissingTool where there is no sandbox."""
    real = await choose_sandbox(allow_unsandboxed=False)
    workspace = root / "workspace"
    workspace.mkdir()
    return await side_by_side(
        BENCH,
        ("bare process", lambda: timed(must("true", cwd=workspace))),
        {
            Compared(variant="no sandbox (output, time and process group bounded)"): partial(
                _true, Unsandboxed(), workspace
            ),
            Compared(variant="sandbox (bubblewrap)", at_most=100): partial(_true, real, workspace),
        },
        GOES,
    )


async def _true(sandbox: Sandbox, workspace: Path) -> float:
    return await timed(sandbox.run(SandboxRun(workspace=str(workspace), argv=("true",))))
