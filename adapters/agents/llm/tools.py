"""The tools a model has. They run in the workflow and have their work done by the core's activities.

Names, parameters and descriptions are what the model is sent: a change of them is a new version of the schema file.
"""

from collections.abc import Callable

from pydantic_ai import FunctionToolset, RunContext
from pydantic_ai.exceptions import ToolFailed
from temporalio.exceptions import ActivityError

from adapters.agents.llm.desk import Deps
from adapters.agents.llm.hands import as_data
from sweeper.activities import names, toolbox
from sweeper.activities.names import Activity, In
from sweeper.activities.toolbox import Bench, ToolAnswer
from sweeper.errors import BadInput, PolicyDenied
from sweeper.workflows.calls import is_a, sentence_of

_ANSWERABLE = (BadInput, PolicyDenied)
IN_WORKFLOW = {"temporal": False}
"""To pydantic-ai: these only call activities, and need none round them."""

TOOLS: FunctionToolset[Deps] = FunctionToolset(
    id="repository", metadata=IN_WORKFLOW, require_parameter_descriptions=True, docstring_format="google"
)


async def _use(ctx: RunContext[Deps], act: Activity[In, ToolAnswer], ask: Callable[[Bench], In], scale: int = 1) -> str:
    """What the model asked for wrongly is an answer to it; every other trouble ends the attempt."""
    try:
        answer = await ctx.deps.desk.hands.use(act, ask, scale)
    except ActivityError as error:
        if any(is_a(error, family) for family in _ANSWERABLE):
            raise ToolFailed(sentence_of(error)) from None
        raise
    if answer.is_error:
        raise ToolFailed(answer.text)
    return as_data(answer.text)


@TOOLS.tool
async def list_files(ctx: RunContext[Deps], under: str = "") -> str:
    """List the files of the repository with their sizes.

    Args:
        under: A folder, to list only what is below it; empty for everything.
    """
    return await _use(ctx, names.LIST_FILES, lambda bench: toolbox.ListFiles(bench=bench, under=under))


@TOOLS.tool
async def read_file(ctx: RunContext[Deps], path: str, first: int = 1, last: int | None = None) -> str:
    """Read a text file, each line behind its number.

    Args:
        path: The file, from the root of the repository.
        first: The first line to show, counted from 1.
        last: The last line to show; leave it out to read to the end.
    """
    return await _use(
        ctx, names.READ_FILE, lambda bench: toolbox.ReadFile(bench=bench, path=path, first=first, last=last)
    )


@TOOLS.tool
async def search_files(ctx: RunContext[Deps], pattern: str, under: str = "") -> str:
    """Find lines that match an extended regular expression.

    Args:
        pattern: What to look for.
        under: A folder, to look only below it; empty for everywhere.
    """
    return await _use(
        ctx, names.SEARCH_FILES, lambda bench: toolbox.SearchFiles(bench=bench, pattern=pattern, under=under)
    )


@TOOLS.tool
async def edit_file(ctx: RunContext[Deps], path: str, old: str, new: str) -> str:
    """Replace text that stands in a file exactly once. Everything else in the file stays as it is.

    Args:
        path: The file, from the root of the repository.
        old: The text as it is in the file, with enough around it to be there only once.
        new: What stands there afterwards.
    """
    return await _use(ctx, names.EDIT_FILE, lambda bench: toolbox.EditFile(bench=bench, path=path, old=old, new=new))


@TOOLS.tool
async def write_file(ctx: RunContext[Deps], path: str, content: str) -> str:
    """Write a whole file, new or not. Prefer edit_file for a file that exists.

    Args:
        path: The file, from the root of the repository.
        content: All of it.
    """
    return await _use(ctx, names.WRITE_FILE, lambda bench: toolbox.WriteFile(bench=bench, path=path, content=content))


@TOOLS.tool
async def delete_file(ctx: RunContext[Deps], path: str) -> str:
    """Remove a file.

    Args:
        path: The file, from the root of the repository.
    """
    return await _use(ctx, names.DELETE_FILE, lambda bench: toolbox.DeleteFile(bench=bench, path=path))


@TOOLS.tool
async def run_check(ctx: RunContext[Deps], check: str) -> str:
    """Run one of the task's checks on the files as they are now, and show how it ended.

    Args:
        check: The check's name as the task gives it.
    """
    checks = {one.name: one for one in ctx.deps.desk.plan.checks}
    wanted = checks.get(check)
    if wanted is None:
        raise ToolFailed(f"There is no such check. The checks are: {', '.join(map(repr, checks)) or 'none'}.")
    return await _use(
        ctx,
        names.RUN_CHECK,
        lambda bench: toolbox.RunCheck(bench=bench, check=wanted),
        scale=1 + len(wanted.before),
    )
