"""Which files a shell command runs or takes its orders from, as opposed to those it only looks at.

`./check.sh` and `python tools/check.py` run a file, `pytest -c ci.ini` is told by one; `ruff check app.py` and
`grep -q good notes.txt` look at theirs, and those are the answer, not the exam.
"""

import re
import shlex
from collections.abc import Iterator, Sequence

_ENDS_A_COMMAND = re.compile(r"\|\||&&|[;|&\n(){}`]|\$\(")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_INTERPRETER = re.compile(r"(?:ba|da|z|k)?sh|python[\d.]*|node|nodejs|deno|bun|ruby|perl|php|Rscript|pwsh|source|\.")
_IN_FRONT = frozenset(
    {"env", "exec", "time", "nice", "nohup", "sudo", "command", "timeout", "stdbuf", "xvfb-run", "coverage", "run"}
    | {"if", "while", "until", "then", "else", "do", "!"}
)
"""What stands before the command that matters; `uv run`, `poetry run` and their like end with `run`."""
_RUNNERS = frozenset({"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "npx", "pnpx", "bundle", "dotenv"})
_ORDERS = re.compile(
    r"-(?:c|f|p)|--(?:config|config-file|configuration|rcfile|conf|settings|project|file|makefile|confcutdir)"
)
_LONGEST = 20_000


def files_that_decide(command: str) -> Iterator[str]:
    """Words of the command that name a file it runs, or one it takes its orders from. Linear in its length."""
    for part in _ENDS_A_COMMAND.split(command[:_LONGEST]):
        words = _words(part)
        yield from _orders(words)
        if (run := _run(words)) is not None:
            yield run


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part, comments=True)
    except ValueError:  # a quote that was opened in another part
        return part.split()


def _orders(words: Sequence[str]) -> Iterator[str]:
    """Of `-c ci.ini` and `--config=ci.ini` the file."""
    for before, word in zip(("", *words), words, strict=False):
        option, _, value = word.partition("=")
        if value and _ORDERS.fullmatch(option):
            yield value
        elif _ORDERS.fullmatch(before):
            yield word


def _run(words: Sequence[str]) -> str | None:
    """The file that is started, if it is one: by its own path, or as the script of an interpreter."""
    rest = list(words)
    while rest and _is_in_front(rest[0]):
        rest.pop(0)
    if not rest:
        return None
    program, arguments = rest[0], rest[1:]
    if not _INTERPRETER.fullmatch(program.rpartition("/")[2]):
        return program
    return _script(program.rpartition("/")[2], arguments)


def _script(interpreter: str, arguments: Sequence[str]) -> str | None:
    """The first word that is no option; none if the code stands in the command itself."""
    is_python, is_shell = interpreter.startswith("python"), interpreter.endswith("sh")
    code = ("-c", "-m") if is_python else ("-c",) if is_shell else ("-e", "-p")
    with_value = ("-X", "-W") if is_python else ("-o", "-O") if is_shell else ("-r", "-I")
    rest = iter(arguments)
    for word in rest:
        if word in code:
            return None
        if word in with_value:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


def _is_in_front(word: str) -> bool:
    return word in _IN_FRONT or word in _RUNNERS or word.isdecimal() or bool(_ASSIGNMENT.match(word))
