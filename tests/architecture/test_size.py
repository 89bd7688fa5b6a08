"""Small modules, small functions, few parameters: what fits on a screen is read."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import PACKAGES, ROOT, functions, modules

MODULE, TEST_MODULE, FUNCTION, PARAMETERS = 400, 500, 60, 6


@pytest.mark.parametrize(
    ("folders", "limit"), [(PACKAGES, MODULE), (("tests",), TEST_MODULE)], ids=["product", "tests"]
)
def test_no_module_is_too_long(folders: tuple[str, ...], limit: int) -> None:
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in modules(*folders)}
    assert {path: lines for path, lines in lengths.items() if lines > limit} == {}


def test_no_function_is_too_long() -> None:
    lengths = {
        f"{path}:{function.name}": (function.end_lineno or 0) - function.lineno + 1
        for path in modules(*PACKAGES, "tests")
        for function in functions(path)
    }
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION} == {}


def test_no_function_has_too_many_parameters() -> None:
    counts = {
        f"{path}:{function.name}": len(list(_parameters(function)))
        for path in modules(*PACKAGES)
        for function in functions(path)
    }
    assert {name: count for name, count in counts.items() if count > PARAMETERS} == {}


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """All but self and cls, and but a command's options, which are an interface of its own."""
    arguments = function.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        kind = ast.unparse(argument.annotation) if argument.annotation else ""
        is_option = "typer." in kind or kind.endswith("Option")
        if argument.arg not in ("self", "cls") and not is_option:
            yield argument.arg


def test_the_count_of_parameters_counts() -> None:
    (function,) = ast.parse("def f(self, a: int, *, b: str = '', c: Annotated[str, typer.Option()] = ''): ...").body
    assert isinstance(function, ast.FunctionDef)
    assert list(_parameters(function)) == ["a", "b"]
