"""Which untracked files of a tree are not part of a change.

The rules are those of gitignore(5), read from the *base* commit: what an agent writes into a .gitignore cannot hide
its other files. Scratch that tools leave behind is left out as well, unless the repository's own rules re-include it.
"""

from collections.abc import Mapping

from pathspec import GitIgnoreSpec

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
)
MAX_RULES_BYTES = 1 << 20
_NAME = ".gitignore"


class IgnoreRules:
    """Answers for one base commit. `files` maps the path of each of its .gitignore files to the bytes."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._scratch = GitIgnoreSpec.from_lines(SCRATCH)
        self._specs = {path[: -len(_NAME)]: _spec(data) for path, data in files.items() if is_rules_file(path)}

    def ignores(self, path: str, is_directory: bool) -> bool:
        """Whether an untracked path, none of whose parents is ignored, is ignored. The deepest rule file decides."""
        for folder in _folders(path):
            spec = self._specs.get(folder)
            decision = spec.check_file(_subject(path[len(folder) :], is_directory)).include if spec else None
            if decision is not None:
                return decision
        return bool(self._scratch.check_file(_subject(path, is_directory)).include)


def is_rules_file(path: str) -> bool:
    """Whether a path of the base commit holds ignore rules."""
    return path == _NAME or path.endswith("/" + _NAME)


def _subject(path: str, is_directory: bool) -> str:
    return path + "/" if is_directory else path


def _folders(path: str) -> list[str]:
    """Prefixes that end in '/', the deepest first, then the root."""
    ends = [index + 1 for index, char in enumerate(path) if char == "/"]
    return [path[:end] for end in reversed(ends)] + [""]


def _spec(data: bytes) -> GitIgnoreSpec:
    text = data[:MAX_RULES_BYTES].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return GitIgnoreSpec.from_lines(line for line in text.split("\n") if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    """git passes over a line it cannot read; pathspec would refuse the whole file."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
