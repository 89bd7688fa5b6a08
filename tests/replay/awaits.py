"""Guards what replay cannot see: a new await exactly where a running sweep is parked.

Replay of a parked history passes although the code has a step more, because the history ends there. So each function
of the workflows has its awaits on record, and what a sweep that began under the record would meet has to be the same:
new awaits stand in an `if workflow.patched("..."):`, the old ones in its `else:`.

    python -m tests.replay.awaits --record

writes the record of the current WORKFLOW_VERSION anew. That is right before the first release, and whenever the
version is raised because no sweep of the old one is running any more; else it defeats the guard.
"""

import argparse
import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import sweeper.workflows
from sweeper.model import WORKFLOW_VERSION

SOURCES = Path(sweeper.workflows.__file__).parent
RECORD = Path(__file__).with_name(f"awaits-{WORKFLOW_VERSION}.json")
Record = Mapping[str, Sequence[str]]

_STARTS_A_TASK = ("asyncio.create_task", "asyncio.ensure_future", "asyncio.gather")
_NAMES_WORK = re.compile(r"names\.[A-Z_]+|\w+Workflow\.run")
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def awaits_of_package(folder: Path = SOURCES) -> dict[str, list[str]]:
    """`module:qualname` of each function to what it awaits, in order."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.py")):
        found |= awaits_of_source(path.read_text(), path.stem)
    return found


def awaits_of_source(source: str, module: str) -> dict[str, list[str]]:
    """As a sweep meets them for which no patch is on. Plain functions that start nothing are left out."""
    return dict(_functions(ast.parse(source).body, f"{module}:"))


def complaints(record: Record, now: Record) -> list[str]:
    """One sentence for each function that would surprise a running sweep.

    A new function is reached by a new await only, which is complained about where it stands; the handlers of a
    workflow class are reached without one.
    """
    expected: dict[str, Sequence[str]] = {name: [] for name in now if _is_handler(name)}
    expected |= record
    return [
        f"{name} awaits {list(now.get(name, []))} where {list(awaits)} is on record: put what is new into "
        f'`if workflow.patched("..."):` and leave what was there in its `else:`.'
        for name, awaits in expected.items()
        if list(now.get(name, [])) != list(awaits)
    ]


def _is_handler(name: str) -> bool:
    owner, _, function = name.partition(":")[2].rpartition(".")
    return owner.endswith("Workflow") and not function.startswith("_")


def _functions(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, list[str]]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            awaits = list(_in_block(node.body))
            if awaits or isinstance(node, ast.AsyncFunctionDef):
                yield f"{prefix}{node.name}", awaits


def _in_block(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The awaits of a block, without those a patch adds, and without those behind one that leaves the block."""
    for statement in body:
        if (old := _old_branch(statement)) is None:
            yield from _in_node(statement)
        else:
            yield from _in_block(old)
            if old and isinstance(old[-1], _LEAVES):
                return


def _old_branch(statement: ast.stmt) -> list[ast.stmt] | None:
    """Of `if workflow.patched("..."):` (or `if not`), what runs where the patch is off; None for anything else."""
    if not isinstance(statement, ast.If):
        return None
    test, old, new = statement.test, statement.orelse, statement.body
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, old, new = test.operand, new, old
    is_patch = isinstance(test, ast.Call) and ast.unparse(test.func) == "workflow.patched"
    return old if is_patch else None


def _in_node(node: ast.AST) -> Iterator[str]:
    """In the order of the text: what is inside an awaited expression first."""
    for _, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else [value]
        if parts and isinstance(parts[0], ast.stmt):
            yield from _in_block(parts)
        else:
            yield from (found for part in parts if isinstance(part, ast.AST) for found in _in_node(part))
    if isinstance(node, ast.Await):
        yield _normal(node.value)
    elif isinstance(node, ast.AsyncFor | ast.AsyncWith):
        yield type(node).__name__
    elif isinstance(node, ast.Call) and ast.unparse(node.func) in _STARTS_A_TASK:
        yield f"{ast.unparse(node.func)}({', '.join(_normal(argument) for argument in node.args)})"


def _normal(node: ast.expr) -> str:
    """The call without its arguments, except for those that name an activity or a workflow."""
    if not isinstance(node, ast.Call):
        return ast.unparse(node)
    named = [word for word in map(ast.unparse, node.args) if _NAMES_WORK.fullmatch(word)]
    return f"{ast.unparse(node.func)}({', '.join(named)})"


def main() -> None:
    """Compare, or write the record."""
    parser = argparse.ArgumentParser(prog="python -m tests.replay.awaits", description=__doc__)
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name} anew")
    now = awaits_of_package()
    if parser.parse_args().record:
        RECORD.write_text(json.dumps(now, indent=2) + "\n")
        print(f"{RECORD.name}: {sum(map(len, now.values()))} awaits in {len(now)} functions")
        return
    found = complaints(json.loads(RECORD.read_text()), now)
    print("\n".join(found) or "as on record")
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
