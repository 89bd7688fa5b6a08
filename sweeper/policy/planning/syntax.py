"""Expressions as trees: read, and written out again.

Grammar: GitHub's "Evaluate expressions in workflows and actions". Written by whoever may push, so length and depth are
bounded; within these bounds reading is linear.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sweeper.errors import Unverifiable
from sweeper.policy.planning.values import Value, number, text

MOST_LENGTH = 21_000
MOST_DEPTH = 50
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="))
_WORDS: dict[str, Value] = {
    "true": True,
    "false": False,
    "null": None,
    "nan": float("nan"),
    "infinity": float("inf"),
}
_TOKEN = re.compile(
    r"(?P<string>'(?:[^']|'')*')"
    r"|(?P<number>[-+]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?))"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_-]*)"
    r"|(?P<sign>&&|\|\||==|!=|<=|>=|[!<>()\[\].,*])"
)
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is known."""

    value: Value


@dataclass(frozen=True, slots=True)
class Name:
    """A context: `github`, `matrix`."""

    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """`base.key` or `base[key]`; the key `*` of a filter is None."""

    base: "Node"
    key: "Node | None"


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments; its name is in lower case."""

    function: str
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`!operand`."""

    operand: "Node"


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands joined by one operator, `&&` or `||`; with a comparison there are two."""

    operator: str
    operands: tuple["Node", ...]


Node = Literal | Name | Index | Call | Not | Chain


def parse(expression: str) -> Node:
    """The tree of what stands between `${{` and `}}`. Raises Unverifiable for what is no expression."""
    if len(expression) > MOST_LENGTH:
        raise Unverifiable(f"an expression is longer than {MOST_LENGTH} characters")
    return _Reader(expression).whole()


def write(node: Node) -> str:
    """The text that reads as this tree."""
    match node:
        case Literal(value):
            return _write_value(value)
        case Name(name):
            return name
        case Index(base, key):
            return f"{write(base)}.*" if key is None else f"{write(base)}[{write(key)}]"
        case Call(function, arguments):
            return f"{function}({', '.join(write(argument) for argument in arguments)})"
        case Not(operand):
            return f"!{write(operand)}" if isinstance(operand, Chain) else f"!({write(operand)})"
        case Chain(operator, operands):
            return "(" + f" {operator} ".join(write(operand) for operand in operands) + ")"


def _write_value(value: Value) -> str:
    if isinstance(value, list | dict):
        return f"fromjson({_quoted(json.dumps(value))})"
    if isinstance(value, str):
        return _quoted(value)
    return "null" if value is None else text(value).replace("-Infinity", "-1e999")


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = list(self._read_tokens())
        self._at = 0
        self._depth = 0

    def _read_tokens(self) -> Iterator[_Token]:
        at = 0
        while (at := _end(_SPACE.match(self._expression, at), at)) < len(self._expression):
            found = _TOKEN.match(self._expression, at)
            if found is None or found.lastgroup is None:
                raise self._mistake()
            yield _Token(found.lastgroup, found.group())
            at = found.end()

    def whole(self) -> Node:
        node = self._level(0)
        if self._at < len(self._tokens):
            raise self._mistake()
        return node

    def _level(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        node = self._level(level + 1)
        length = 1
        while (sign := self._take(*_LEVELS[level])) is not None:
            right = self._level(level + 1)
            length += 1
            if level < 2 and isinstance(node, Chain) and length > 2:
                node = Chain(sign, (*node.operands, right))
            else:
                node = Chain(sign, (node, right))
                self._refuse_depth(length if level >= 2 else 0)
        return node

    def _unary(self) -> Node:
        if self._take("!") is None:
            return self._postfix()
        self._depth += 1
        self._refuse_depth(0)
        operand = self._unary()
        self._depth -= 1
        return Not(operand)

    def _postfix(self) -> Node:
        node, length = self._primary(), 0
        while (sign := self._take(".", "[")) is not None:
            length += 1
            self._refuse_depth(length)
            node = Index(node, self._key(sign))
        return node

    def _key(self, sign: str) -> Node | None:
        if self._take("*") is not None:
            key: Node | None = None
        elif sign == ".":
            key = Literal(self._next("word").text)
        else:
            key = self._nested(0)
        if sign == "[":
            self._expect("]")
        return key

    def _primary(self) -> Node:
        if self._take("(") is not None:
            node = self._nested(0)
            self._expect(")")
            return node
        token = self._next("string", "number", "word")
        if token.kind == "string":
            return Literal(token.text[1:-1].replace("''", "'"))
        if token.kind == "number":
            return Literal(number(token.text))
        if self._take("(") is not None:
            return Call(token.text.lower(), self._arguments())
        word = token.text.lower()
        return Literal(_WORDS[word]) if word in _WORDS else Name(word)

    def _arguments(self) -> tuple[Node, ...]:
        found: list[Node] = []
        while self._take(")") is None:
            if found:
                self._expect(",")
            found.append(self._nested(0))
        return tuple(found)

    def _nested(self, level: int) -> Node:
        self._depth += 1
        self._refuse_depth(0)
        node = self._level(level)
        self._depth -= 1
        return node

    def _take(self, *signs: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at].kind == "sign":
            sign = self._tokens[self._at].text
            if sign in signs:
                self._at += 1
                return sign
        return None

    def _expect(self, sign: str) -> None:
        if self._take(sign) is None:
            raise self._mistake()

    def _next(self, *kinds: str) -> _Token:
        if self._at >= len(self._tokens) or self._tokens[self._at].kind not in kinds:
            raise self._mistake()
        self._at += 1
        return self._tokens[self._at - 1]

    def _refuse_depth(self, more: int) -> None:
        if self._depth + more > MOST_DEPTH:
            raise Unverifiable(f"an expression is nested deeper than {MOST_DEPTH} levels")

    def _mistake(self) -> Unverifiable:
        return Unverifiable(f"{shortened(self._expression)!r} is no expression that could be read")


def _end(found: re.Match[str] | None, otherwise: int) -> int:
    return found.end() if found else otherwise


def shortened(words: str, limit: int = 80) -> str:
    """On one line and at most that long, the cut marked."""
    line = " ".join(words[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
