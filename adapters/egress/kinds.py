"""What a kind of registry is: how its paths are read, what they stand for outside, how its clients are told of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Page:
    """An index page as the registry gave it. `url`: where it was found."""

    content: bytes
    content_type: str
    url: str


Render = Callable[[Page, str], tuple[bytes, str]]
"""A page and the address of its registry as seen inside -> what is served there, and its media type. May raise
ValueError for a page that makes no sense."""


@dataclass(frozen=True)
class Wanted:
    """What a path stands for. `render` set: an index page, which changes; else a file, which never does.

    `sha256`: what the index says of the file. `accept`: media types to ask for, of a page.
    """

    url: str
    render: Render | None = None
    sha256: str | None = None
    accept: Sequence[str] = ()

    @property
    def is_page(self) -> bool:
        """Whether it changes."""
        return self.render is not None


class Pages(Protocol):
    """Reads further pages of the same registry, from the cache or from outside, as the gate allows."""

    @property
    def base(self) -> str:
        """The registry's own address, without a slash at its end."""
        ...

    async def read(self, wanted: Wanted) -> Page | None:
        """None: the registry has no such page."""
        ...


class Kind(Protocol):
    """A kind of registry. `public`: the well-known one. `hosts`: where that one's files lie, besides."""

    @property
    def name(self) -> str:
        """As the operator writes it, and the first part of its paths inside."""
        ...

    @property
    def public(self) -> str:
        """Address of the well-known registry."""
        ...

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts of the well-known registry's files."""
        ...

    def env(self, here: str) -> Mapping[str, str]:
        """What makes its clients use `here`, the registry's address inside."""
        ...

    async def find(self, path: str, pages: Pages) -> Wanted | None:
        """What a plain path (no slash at either end) stands for; None: this kind has no such path."""
        ...
