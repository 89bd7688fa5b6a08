"""What a change took away, so that a test which is gone can be told from one that was hidden."""

import re
from collections.abc import Collection, Iterator, Sequence

from sweeper.model import FileChange, Strict
from sweeper.policy.proof.names import forms

_DEFINED = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)


class Removed(Strict):
    """What a change took from files that are not put back: their paths, and names that they no longer define."""

    paths: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()

    def explains(self, test: str) -> bool:
        """Whether it is this change that no longer has the test. Paths count from the top, tests from their root."""
        name = forms(test)[0]
        words = name.partition("[")[0].split(".")
        return not self.names.isdisjoint(words) or any(_is_below(name, path) for path in self.paths)


def removed_by(changes: Sequence[FileChange], restored: Collection[str]) -> Removed:
    """A new file took nothing away, and neither did one whose old version is what is run."""
    kept = [change for change in changes if change.old_mode and (change.old_path or change.path) not in restored]
    paths = {change.old_path or change.path for change in kept}
    return Removed(paths=tuple(sorted(paths)), names=frozenset(name for change in kept for name in _undefined(change)))


def _undefined(change: FileChange) -> Iterator[str]:
    old, new = (set(_DEFINED.findall(side or b"")) for side in (change.old, change.new))
    yield from (name.decode("utf-8", "replace") for name in old - new)


def _is_below(name: str, path: str) -> bool:
    """Whether a dotted test lies in a file, wherever the folder lies that its name starts from."""
    parts = path.removesuffix(".py").split("/")
    tails = (".".join(parts[start:]) for start in range(len(parts)))
    return any(name == tail or name.startswith((f"{tail}.", f"{tail}[")) for tail in tails)
