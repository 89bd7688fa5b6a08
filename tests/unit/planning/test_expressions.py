"""Expressions: values, operators, functions, and what is left for later or never known."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.errors import Unverifiable
from sweeper.policy.planning.evaluation import Context, Mark, Scope, evaluate, fill, literally, settle
from sweeper.policy.planning.syntax import MOST_LENGTH, Literal, Node, parse, write
from sweeper.policy.planning.values import MOST_TEXT, Value

SCOPE = Scope(
    {
        "github": Context({"ref": "refs/heads/main", "event": Context({"n": 7.0}, rest=Mark.NEVER)}, rest=Mark.NEVER),
        "matrix": Context({"python": "3.12", "os": {"Name": "ubuntu", "tags": ["a", "b"]}, "fast": True}),
        "env": Context({"known": "yes"}, rest=Mark.LATER),
        "steps": Context({"build": Context({"outputs": Mark.LATER, "outcome": "success"})}),
        "secrets": Context(rest=Mark.NEVER),
    }
)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("true", True),
        ("null", None),
        ("'it''s'", "it's"),
        ("-1.5e2", -150.0),
        ("0xff", 255.0),
        ("matrix.python", "3.12"),
        ("MATRIX['PYTHON']", "3.12"),
        ("matrix.os.name", "ubuntu"),
        ("matrix.os.tags[1]", "b"),
        ("matrix.os.tags[9]", None),
        ("matrix.gone.deeper", None),
        ("github.event.n == 7", True),
        ("'ABC' == 'abc'", True),
        ("'1' == 1", True),
        ("'' == 0", True),
        ("null == 0", True),
        ("'x' == 0", False),
        ("matrix.os == matrix.os.tags", False),
        ("1 < 2 && 'b' > 'A'", True),
        ("2 <= 2 && 3 >= 4", False),
        ("'x' < 1 || 'x' > 1", False),
        ("!matrix.fast || matrix.python", "3.12"),
        ("false || '' || 'last'", "last"),
        ("true && 'a' && 'b'", "b"),
        ("false == (1 == 2)", True),
        ("1 == 1 != false", True),
        ("contains('Hello', 'ELL') && !contains(fromJSON('[\"a\"]'), 'b')", True),
        ("startsWith(github.ref, 'refs/heads/') && endsWith('a.py', '.PY')", True),
        ("format('{0}-{1}{{}}', 'a', 3.10)", "a-3.1{}"),
        ("join(matrix.os.tags, '+')", "a+b"),
        ('fromJSON(\'{"a": [1, {"b": true}]}\').a[1].b', True),
        ("toJSON(matrix.os.tags)", '[\n  "a",\n  "b"\n]'),
        ("success() && always() && !failure() && !cancelled()", True),
        ("true || secrets.TOKEN", True),
        ("false && steps.build.outputs.x", False),
        ("steps.build.outcome == 'success'", True),
        ("steps.nowhere.outputs.x", None),
    ],
)
def test_is_worked_out_as_github_does(expression: str, value: Value) -> None:
    assert evaluate(expression, SCOPE) == value


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("no expression", "no expression"),
        ("py${{ matrix.python }}-${{matrix.fast}}", "py3.12-true"),
        ("${{ 'a }} b' }}", "a }} b"),
        ("${{ null }}|${{ matrix.os }}|${{ matrix.os.tags }}", "|Object|Array"),
        ("${{ env.KNOWN }} ${{ env.LATER }}", "yes ${{ env['LATER'] }}"),
        ("${{ steps.build.outputs.a-b }}", "${{ steps['build']['outputs']['a-b'] }}"),
        ("${{ format('{0}', steps.build.outputs.x) }}", "${{ format('{0}', steps['build']['outputs']['x']) }}"),
        ("${{ matrix.fast && env.X == matrix.python }}", "${{ (env['X'] == '3.12') }}"),
        ("${{ env.X || matrix.python }}", "${{ (env['X'] || '3.12') }}"),
        ("${{ !env.X }}", "${{ !(env['X']) }}"),
        ("${{ hashFiles('**/a', matrix.python) }}", "${{ hashfiles('**/a', '3.12') }}"),
        ("${{ contains(matrix.os.tags, env.X) }}", """${{ contains(fromjson('["a", "b"]'), env['X']) }}"""),
    ],
)
def test_what_is_known_is_filled_in_and_the_rest_left_for_later(text: str, filled: str) -> None:
    assert fill(text, SCOPE) == filled


def test_what_looks_like_an_expression_once_filled_in_is_only_text() -> None:
    for name, text in (("a${{secrets.TOKEN}}b", "${{ github.x }}"), ("$", "${{ github.x }}{{ secrets.TOKEN }}")):
        planned = fill(text, Scope({"github": Context({"x": name})}))
        assert settle(planned, Scope({})) == text.replace("${{ github.x }}", name)
        assert fill(planned, Scope({})) == planned


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("secrets.TOKEN", "secrets.TOKEN"),
        ("secrets.TOKEN && 'a' || 'b'", "secrets.TOKEN"),
        ("github.token", "github.token"),
        ("github.event.head.label", "github.event.head.label"),
        ("needs.build.outputs.x", "needs.build.outputs.x"),
        ("unheard_of.thing", "unheard_of.thing"),
        ("toJSON(github)", "toJSON(github)"),
        ("matrix.os.tags.*", "matrix.os.tags.*"),
        ("a b", "no expression"),
        ("f(", "no expression"),
        ("", "no expression"),
        ("1 +", "no expression"),
        ("unknown(1)", "unknown"),
        ("contains('a')", "does not take 1"),
        ("format('{0} {1}', 'a')", "not filled"),
        ("fromJSON('{')", "no JSON"),
        ("(" * 60 + "1" + ")" * 60, "nested deeper"),
        ("!" * 60 + "1", "nested deeper"),
        ("a" + ".b" * 60, "nested deeper"),
        (" == ".join(["1"] * 60), "nested deeper"),
        ("'" + "x" * MOST_LENGTH + "'", "longer than"),
    ],
    ids=lambda value: value[:30],
)
def test_what_cannot_be_known_or_read_is_named(expression: str, named: str) -> None:
    with pytest.raises(Unverifiable) as refused:
        fill("x ${{ " + expression + " }}", SCOPE)
    assert named in str(refused.value)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize("text", ["${{ 1", "a ${{ 'x }}", "${{ 'a' }} ${{"])
def test_an_expression_without_an_end_is_refused(text: str) -> None:
    with pytest.raises(Unverifiable, match="has no end"):
        fill(text, SCOPE)


def test_what_grows_is_stopped_before_it_is_made() -> None:
    nested = "'" + "x" * 100 + "'"
    for _ in range(14):
        nested = f"format('{{0}}{{0}}{{0}}', {nested})"
    many = "${{ matrix.big }}" * 200
    scope = Scope({"matrix": Context({"big": "x" * 1000})})
    for text in ("${{ " + nested + " }}", many, "${{ join(fromJSON('[" + "1," * 900 + "1]'), '" + "y" * 900 + "') }}"):
        with pytest.raises(Unverifiable, match=f"more than {MOST_TEXT // 1024} KiB"):
            fill(text, scope)


def test_long_chains_are_read() -> None:
    assert evaluate(" || ".join(["false"] * 2000 + ["'end'"]), SCOPE) == "end"


_KNOWN = ("true", "null", "1", "-2.5", "'a'", "'it''s'", "''", "'1'", "0", "matrix.python", "matrix.os", "github.ref")
_OTHERS = ("env.LATER", "steps.build.outputs.x", "secrets.X", "hashFiles('a')")
_LEAVES = st.sampled_from(_KNOWN + _OTHERS)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair: Callable[[str], st.SearchStrategy[str]] = lambda sign: st.tuples(inner, inner).map(f" {sign} ".join)  # noqa: E731
    return st.one_of(
        inner.map("({})".format),
        inner.map("!{}".format),
        st.sampled_from(["&&", "||", "==", "!=", "<", ">="]).flatmap(pair).map("({})".format),
        st.tuples(inner, inner).map(lambda two: f"contains({two[0]}, {two[1]})"),
        inner.map("toJSON({})".format),
        inner.map(lambda one: f"matrix[{one}]"),
    )


def _result(expression: str) -> Value | str:
    try:
        return fill("${{ " + expression + " }}", SCOPE)
    except Unverifiable:
        return "unverifiable"


@given(st.recursive(_LEAVES, _larger, max_leaves=12))
def test_written_out_and_read_again_it_means_the_same(expression: str) -> None:
    assert _result(write(parse(expression))) == _result(expression)


@given(st.recursive(_LEAVES, _larger, max_leaves=12))
def test_what_is_left_for_later_comes_out_as_if_it_had_been_known_at_once(expression: str) -> None:
    known = Scope(
        {
            **SCOPE.contexts,
            "env": Context({"later": "L", "known": "yes"}),
            "steps": Context({"build": Context({"outputs": Context({"x": "1"}), "outcome": "success"})}),
        },
        files=Mark.NEVER,
    )
    text = "${{ " + expression + " }}"
    try:
        planned = fill(text, SCOPE)
        later: str | None = settle(planned, known)
    except Unverifiable:
        return
    assert later == _at_once(text, known)


def _at_once(text: str, scope: Scope) -> str | None:
    try:
        return settle(text, scope)
    except Unverifiable:
        return None


@given(st.text(max_size=200) | st.text("${}'()[].,!=<>&|*ab01- \n", max_size=200))
def test_no_text_makes_it_fail_otherwise(text: str) -> None:
    for source in (text, "${{" + text + "}}", "${{ " + text):
        with suppress(Unverifiable):
            assert isinstance(fill(source, SCOPE), str)


@given(st.text() | st.text("${}' ", max_size=20))
def test_a_text_taken_literally_comes_out_as_it_was(text: str) -> None:
    assert settle(literally(text), SCOPE) == text


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(), st.lists, max_leaves=8))
def test_every_value_can_be_written_and_read(value: Value) -> None:
    node: Node = Literal(value)
    assert write(parse(write(node))) == write(node)
