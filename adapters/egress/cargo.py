"""Rust crates: a sparse index, https://doc.rust-lang.org/cargo/reference/registry-index.html.

cargo checks a crate against the index. It takes another source from a configuration file alone, not from a variable,
so the variable here is ours: the step that prepares a home writes the file from it.
"""

import json
import re
from collections.abc import Mapping

from pydantic import BaseModel

from adapters.egress.kinds import Page, Pages, Wanted
from sweeper.policy.environment import CARGO_INDEX_VARIABLE

_CONFIG = "config.json"
_INDEX = re.compile(r"index/(?:[12]|3/[a-z0-9_-]|[a-z0-9_-]{2}/[a-z0-9_-]{2})/([a-z0-9_-]+)")
_CRATE = re.compile(r"crates/([A-Za-z0-9_-]+)/([A-Za-z0-9+._-]+)/download")


class _Config(BaseModel):
    dl: str


class Cargo:
    """`Kind` for cargo."""

    name = "cargo"
    public = "https://index.crates.io"
    hosts = ("static.crates.io", "crates.io")

    def env(self, here: str) -> Mapping[str, str]:
        """Where the index is, for the configuration file."""
        return {
            CARGO_INDEX_VARIABLE: f"sparse+{here}/index/",
            "CARGO_HTTP_TIMEOUT": "600",
            "CARGO_HTTP_MULTIPLEXING": "false",
        }

    async def find(self, path: str, pages: Pages) -> Wanted | None:
        """`index/config.json`, `index/<prefix>/<crate>`, `crates/<crate>/<version>/download`."""
        config = Wanted(f"{pages.base}/{_CONFIG}", render=_render_config, accept=("application/json",))
        if path == f"index/{_CONFIG}":
            return config
        if _INDEX.fullmatch(path):
            return Wanted(f"{pages.base}/{path.removeprefix('index/')}", render=_as_it_is, accept=("text/plain",))
        crate = _CRATE.fullmatch(path)
        if crate is None or (page := await pages.read(config)) is None:
            return None
        return Wanted(_download(_Config.model_validate_json(page.content).dl, crate[1], crate[2]))


def _download(template: str, crate: str, version: str) -> str:
    """As the index format says; markers of the crate's prefix are rare and not known here."""
    if "{" not in template:
        return f"{template.rstrip('/')}/{crate}/{version}/download"
    return template.replace("{crate}", crate).replace("{version}", version)


def _render_config(_: Page, here: str) -> tuple[bytes, str]:
    return json.dumps({"dl": f"{here}/crates"}).encode(), "application/json"


def _as_it_is(page: Page, _: str) -> tuple[bytes, str]:
    return page.content, "text/plain; charset=utf-8"
