"""Reading the shell lines of a workflow: which simple commands are in them, as raw words, and what leads up to each.

Raw, because quoting anew would change what a glob or a variable means. Words and operators are those of POSIX's "Shell
Command Language", with bash's `<(...)`; what cannot be read (here documents, open quotes) ends the reading.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

MOST_CHARACTERS = 64 << 10
MOST_CALLS = 500
"""A longer script is not read, nor one with more commands: it is generated, or made to be slow."""
_DEEPEST = 3
"""Of commands within commands."""

_TOKEN = re.compile(
    r"""
      (?P<blank>(?:[ \t\r]|\\\r?\n)+)
    | (?P<comment>(?<![^\s;&|()])\#[^\n]*)
    | (?P<unreadable><<)
    | (?P<redirect>\d*(?:>>|>&|<&|>\||<>|[<>](?!\())|&>>?)
    | (?P<operator>\|\||&&|\|&|;;|[;&|\n()])
    | (?P<word>(?:\\. | '[^']*' | "(?:\\.|[^"\\])*" | [$<>]\((?:[^()]|\([^()]*\))*\) | `[^`]*` | \$\{[^}]*\}
        | [^\s;&|<>()'"`\\])+)
    """,
    re.VERBOSE | re.DOTALL,
)
_SINGLE_QUOTED = re.compile(r"""("(?:\\.|[^"\\])*")|'[^']*'""", re.DOTALL)
_WITHIN = re.compile(r"[$<>]\(((?:[^()]|\([^()]*\))*)\)|`([^`]*)`", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*|[0-9@*])")
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(?!=).*", re.DOTALL)

_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "command"})
_ASKS = frozenset({"if", "elif", "while", "until"})
_GOES_ELSEWHERE = frozenset({"cd", "pushd", "popd"})
_CHANGES_THE_SHELL = _GOES_ELSEWHERE | {"export", "source", "."}
_INSTALLS: tuple[tuple[str, ...], ...] = (
    *(("pip", "install"), ("pip3", "install"), ("python", "-m", "pip"), ("python3", "-m", "pip")),
    *(("python", "-m", "venv"), ("python3", "-m", "venv"), ("uv", "venv"), ("uv", "sync"), ("uv", "pip")),
    *(("uv", "tool", "install"), ("pipx", "install"), ("poetry", "install"), ("pdm", "install"), ("pdm", "sync")),
    *(("npm", "ci"), ("npm", "i"), ("npm", "install"), ("pnpm", "install"), ("pnpm", "i"), ("yarn", "install")),
    *(("bun", "install"), ("corepack", "enable"), ("go", "install"), ("cargo", "install"), ("bundle", "install")),
)
"""What puts tools where later commands of the same script look for them."""


@dataclass(frozen=True)
class Call:
    """A simple command as raw words, without its redirections.

    `scene`: the commands before it that it needs, as they stand there: where it runs, with which variables and tools.
    `feeds`: the rest of its pipeline, up to it.
    """

    words: tuple[str, ...]
    scene: tuple[str, ...] = ()
    feeds: tuple[str, ...] = ()

    @property
    def moves(self) -> tuple[str, ...]:
        """What of the scene says where it runs."""
        return tuple(step for step in self.scene if step.split()[0] in _GOES_ELSEWHERE)

    def script(self, words: Sequence[str]) -> str:
        """A line that runs `words` in this command's place.

        An install that fails is passed over: what it could not get, the machine may have.
        """
        scene = [f"{{ {step} || true; }}" if _starts(step.split(), _INSTALLS) else step for step in self.scene]
        return " && ".join([*scene, " | ".join([*self.feeds, " ".join(words)])])


def calls(script: str) -> tuple[Call, ...]:
    """Every simple command of a script, those in `$(...)`, backticks and subshells included, in order."""
    if len(script) > MOST_CHARACTERS:
        return ()
    found = tuple(islice(_read(script, (), 0), MOST_CALLS + 1))
    return found if len(found) <= MOST_CALLS else ()


def variables(words: Sequence[str]) -> frozenset[str]:
    """Names of the variables that words ask for."""
    return frozenset(name for word in words for name in _VARIABLE.findall(_SINGLE_QUOTED.sub(_double_quoted, word)))


def assigned(steps: Sequence[str]) -> frozenset[str]:
    """Names of the variables that the commands of a scene set."""
    words = [word for step in steps for word in step.split()]
    return frozenset(found[1] for word in words if (found := ASSIGNMENT.fullmatch(word)))


@dataclass
class _Reader:
    """Where the reading stands. `outer`: the scenes to go back to when a subshell ends.

    `is_to_fail`: a check that is negated, other than to ask for it, wants what it looks at to be broken.
    """

    scene: tuple[str, ...]
    words: list[str] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    outer: list[tuple[str, ...]] = field(default_factory=list)
    is_target: bool = False
    is_to_fail: bool = False
    keyword: str = ""

    def take(self, word: str) -> None:
        if self.is_target:
            self.is_target = False
        elif self.words or word not in _KEYWORDS:
            self.words.append(word)
        else:
            self.is_to_fail = self.is_to_fail or (word == "!" and self.keyword not in _ASKS)
            self.keyword = word

    def end(self, operator: str) -> Iterator[Call]:
        if self.words:
            call = Call(tuple(self.words), self.scene, tuple(self.feeds))
            if not self.is_to_fail:
                yield call
            if operator == "|":
                self.feeds.append(" ".join(self.words))
            elif not self.feeds and _sets_the_scene(call.words):
                self.scene = (*self.scene, " ".join(call.words))
        if operator != "|":
            self.feeds = []
        if operator == "(":
            self.outer.append(self.scene)
        elif operator == ")" and self.outer:
            self.scene = self.outer.pop()
        if operator != "|":
            self.is_to_fail = False
        self.words, self.is_target, self.keyword = [], False, ""


def _read(script: str, scene: tuple[str, ...], depth: int) -> Iterator[Call]:
    reader, place = _Reader(scene), 0
    while place < len(script):
        token = _TOKEN.match(script, place)
        if token is None or token.lastgroup == "unreadable":
            return  # what stands before it on the line belongs to it
        place = token.end()
        if token.lastgroup == "word":
            if depth < _DEEPEST:
                yield from _within(token.group(), reader.scene, depth)
            reader.take(token.group())
        elif token.lastgroup == "redirect":
            reader.is_target = True
        elif token.lastgroup == "operator":
            yield from reader.end(token.group())
    yield from reader.end("\n")


def _within(word: str, scene: tuple[str, ...], depth: int) -> Iterator[Call]:
    for found in _WITHIN.finditer(_SINGLE_QUOTED.sub(_double_quoted, word)):
        yield from _read(found[1] or found[2] or "", scene, depth + 1)


def _double_quoted(found: re.Match[str]) -> str:
    return found[1] or ""


def _sets_the_scene(words: Sequence[str]) -> bool:
    is_assignment = all(ASSIGNMENT.fullmatch(word) for word in words)
    return is_assignment or words[0] in _CHANGES_THE_SHELL or _starts(words, _INSTALLS)


def _starts(words: Sequence[str], beginnings: Sequence[tuple[str, ...]]) -> bool:
    return any(tuple(words[: len(one)]) == one for one in beginnings)
