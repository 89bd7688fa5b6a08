"""Which untracked files of a tree are not part of a change.

The rules are those of gitignore(5), read from the *base* commit: what an agent writes into a .gitignore cannot hide
its other files. Scratch that tools leave behind is left out as well, unless the repository's own rules re-include it.
"""

from collections.abc import Mapping

from worktrees.patterns import Pattern, parse

SCRATCH = (
    "__pycache__/",
    "*.py[cod]",
    ".pytest_cache/",
    ".ruff_cache/",
    ".mypy_cache/",
    ".hypothesis/",
    ".tox/",
    ".nox/",
    ".venv/",
    "*.egg-info/",
    ".coverage",
    "node_modules/",
    ".npm/",
    ".cache/",
    ".DS_Store",
    ".env",
    ".env.local",
    ".aider*",
    ".claude/",
    ".codex/",
    ".cursor/",
    ".gemini/",
)
"""The last are what coding agents, and people who try them, keep for themselves: logins, transcripts, settings."""

MAX_RULES_BYTES = 1 << 20
_NAME = ".gitignore"


class IgnoreRules:
    """Answers for one base commit. `files` maps the path of each of its .gitignore files to the bytes."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._scratch = _patterns("\n".join(SCRATCH).encode())
        self._rules = {path[: -len(_NAME)]: _patterns(data) for path, data in files.items() if is_rules_file(path)}

    def ignores(self, path: str, is_directory: bool) -> bool:
        """Whether an untracked path, none of whose parents is ignored, is ignored.

        The deepest rule file that says anything decides, and in it the last line.
        """
        for folder in _folders(path):
            for pattern in self._rules.get(folder, ()):
                if pattern.fits(path[len(folder) :], is_directory):
                    return not pattern.negated
        return any(pattern.fits(path, is_directory) for pattern in self._scratch)


def is_rules_file(path: str) -> bool:
    """Whether a path of the base commit holds ignore rules."""
    return path == _NAME or path.endswith("/" + _NAME)


def _folders(path: str) -> list[str]:
    """Prefixes that end in '/', the deepest first, then the root."""
    ends = [index + 1 for index, char in enumerate(path) if char == "/"]
    return [path[:end] for end in reversed(ends)] + [""]


def _patterns(data: bytes) -> tuple[Pattern, ...]:
    """The last line first."""
    text = data[:MAX_RULES_BYTES].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    parsed = [parse(line) for line in text.split("\n")]
    return tuple(pattern for pattern in reversed(parsed) if pattern is not None)
