"""Which rows of a table a line can fit at all, by the texts that they need; a table of hundreds stays affordable.

Most lines of a log fit none, so that has to be found out soon. Needed texts share pieces (`rror`, `fail`): the few
pieces are looked for first, and what is needed only where a piece of it was found. A log repeats itself, but for its
numbers: what a line can fit is remembered for lines that differ in nothing else.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

PIECE = 4
MOST_REMEMBERED = 4096
LONGEST_REMEMBERED = 300
_NUMBER = re.compile(r"[0-9]+")


class Sieve:
    """Lets through what can fit. `needed`: for each row sets of texts; it needs one of each, the first tells most."""

    def __init__(self, needed: Sequence[Sequence[frozenset[str]]]) -> None:
        self._needed = [[{_without_numbers(text.lower()) for text in texts} for texts in row] for row in needed]
        users: dict[str, list[int]] = {}
        for row, sets in enumerate(self._needed):
            for text in sets[0] if sets else {""}:
                users.setdefault(text, []).append(row)
        self._always = users.pop("", [])
        self._by_piece = _shared_pieces(users)
        self._remembered: dict[str, tuple[int, ...]] = {}

    def rows(self, text: str) -> Iterable[int]:
        """Rows that can fit the text, in order; all that do fit are among them."""
        shape = _NUMBER.sub("0", text.lower())
        known = self._remembered.get(shape)
        if known is None:
            known = self._sifted(shape)
            if len(shape) <= LONGEST_REMEMBERED:
                if len(self._remembered) >= MOST_REMEMBERED:
                    self._remembered.clear()
                self._remembered[shape] = known
        return known

    def _sifted(self, shape: str) -> tuple[int, ...]:
        found = set(self._always)
        for piece, needed in self._by_piece.items():
            if piece in shape:
                for text, rows in needed:
                    if text in shape:
                        found.update(rows)
        return tuple(row for row in sorted(found) if all(_has_one(shape, texts) for texts in self._needed[row]))


def _has_one(shape: str, texts: Iterable[str]) -> bool:
    return any(text in shape for text in texts)


def _without_numbers(text: str) -> str:
    """Its longest part without digits: numbers differ where lines do not."""
    return max(_NUMBER.split(text), key=len)


def _shared_pieces(users: Mapping[str, list[int]]) -> dict[str, list[tuple[str, list[int]]]]:
    """Each text under a piece of it, the most shared pieces first."""
    left, pieces = set(users), {}
    while left:
        counted = Counter(piece for text in sorted(left) for piece in _pieces(text))
        piece = max(counted, key=lambda one: (counted[one], one))
        with_it = sorted(text for text in left if piece in text)
        pieces[piece] = [(text, users[text]) for text in with_it]
        left.difference_update(with_it)
    return pieces


def _pieces(text: str) -> set[str]:
    return {text[at : at + PIECE] for at in range(len(text) - PIECE + 1)} or {text}
