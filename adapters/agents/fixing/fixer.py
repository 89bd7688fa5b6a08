"""A row of the catalogue: how a tool's checking form becomes its mending form."""

from dataclasses import dataclass

from sweeper.model import FailureClass

STYLE = frozenset({FailureClass.LINT, FailureClass.FORMAT, FailureClass.CONFIGURATION, FailureClass.UNKNOWN})
"""What a formatter or a linter complains about. Behind a failing test or type check they stand only by chance."""
LOCK = frozenset({FailureClass.DEPENDENCY, FailureClass.BUILD, FailureClass.CONFIGURATION, FailureClass.UNKNOWN})

CLEAN = frozenset({0})
WITH_REST = frozenset({0, 1})
"""Linters end with 1 when something is left that they cannot mend; what they mended still counts."""


@dataclass(frozen=True)
class Fixer:
    """`tool subcommand arguments` as it stands in a failing command, and how it has to read to mend instead.

    `subcommands`: how the tool is asked for what this row mends; of a tool with `others`, the first of all these words
    is the subcommand, and a later one is a path of that name. `becomes`: stands in place of the subcommand.
    `flags` are dropped, `options` are dropped with their value, `adds` come right after the subcommand.
    `needs`: one of these has to be there, or the command is no check. `keeps`: if not None, only these stay (`--name=`
    with its value), and everything else goes.
    `classes`: of which diagnoses. `symptom`: a pattern that the log has to show besides.
    `fine`: exit codes after which its edits count. `again`: run once more if it fails. `downloads`: asks registries.
    """

    name: str
    tool: str
    subcommands: tuple[str, ...] = ()
    others: frozenset[str] = frozenset()
    becomes: tuple[str, ...] | None = None
    flags: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    adds: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()
    keeps: frozenset[str] | None = None
    classes: frozenset[FailureClass] = STYLE
    symptom: str = ""
    fine: frozenset[int] = CLEAN
    again: bool = False
    downloads: bool = False


def words(text: str) -> frozenset[str]:
    """The words of a text, for rows that are easy to read."""
    return frozenset(text.split())
