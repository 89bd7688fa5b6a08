"""`Sandbox`: bubblewrap, or nothing at all where the operator explicitly wants that."""

from collections.abc import Sequence
from pathlib import Path

from adapters.sandbox.bubblewrap import Bubblewrap
from adapters.sandbox.none import Unsandboxed
from adapters.sandbox.tools import HostView, find_tools
from sweeper.errors import MissingTool

__all__ = ["Bubblewrap", "Unsandboxed", "choose_sandbox"]

OPT_IN = "SWEEPER_ALLOW_UNSANDBOXED=1"


async def choose_sandbox(
    allow_unsandboxed: bool, private: Sequence[Path] = (), also: Sequence[Path] = ()
) -> Bubblewrap | Unsandboxed:
    """The real one if its probe holds; else none, if allowed. `also`: directories of programs besides those of PATH.

    Raises MissingTool with cause, remedy and way out.
    """
    real = Bubblewrap(private, find_tools(HostView.of_this_process(tuple(private), tuple(also))))
    facts = await real.probe()
    if facts.problem is None:
        return real
    if allow_unsandboxed:
        return Unsandboxed(also)
    raise MissingTool(f"{facts.problem}; or run code of the repository without any isolation by setting {OPT_IN}.")
