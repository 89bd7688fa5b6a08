"""JavaScript packages: the registry API, https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md.

A package's page names its files by full addresses; those below the registry's own lead through us, others stay as they
are, which means that they cannot be reached. npm itself checks a file against the page or the lock file.
"""

import json
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import JsonValue

from adapters.egress.kinds import Page, Pages, Wanted

_ACCEPT = ("application/vnd.npm.install-v1+json", "application/json;q=0.8")
_PACKAGE = re.compile(r"(?:@[a-z0-9~._-]+/)?[A-Za-z0-9~._-]+(?:/[A-Za-z0-9+~._-]+)?")
_FILE = re.compile(r"(?:@?[A-Za-z0-9+~._-]+/)+[A-Za-z0-9+~._-]+\.(?:tgz|tar\.gz)")


class Npm:
    """`Kind` for npm, and for pnpm, which reads the same settings."""

    name = "npm"
    public = "https://registry.npmjs.org"
    hosts = ()

    def env(self, here: str) -> Mapping[str, str]:
        """Lock files name other addresses of the same files: they are told to use this one; nothing else is asked."""
        return {
            "npm_config_registry": f"{here}/",
            "npm_config_replace_registry_host": "always",
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "npm_config_update_notifier": "false",
            "npm_config_fetch_timeout": "600000",
        }

    async def find(self, path: str, pages: Pages) -> Wanted | None:
        """`<package>`, `@<scope>/<package>`, either with a version or tag behind, or a file's path.

        A lock file made with a registry below a path repeats that path behind ours.
        """
        path = path.removeprefix(f"{urlsplit(pages.base).path.strip('/')}/")
        if _FILE.fullmatch(path):
            return Wanted(f"{pages.base}/{path}")
        if path.startswith("-/") or not _PACKAGE.fullmatch(path):
            return None
        scope, slash, name = path.partition("/")
        escaped = f"{scope}%2f{name}" if path.startswith("@") and slash else path
        base = pages.base
        return Wanted(f"{base}/{escaped}", render=lambda page, here: _render(page, base, here), accept=_ACCEPT)


def _render(page: Page, base: str, here: str) -> tuple[bytes, str]:
    package: JsonValue = json.loads(page.content)
    if not isinstance(package, dict):
        raise ValueError("the page is no package")
    versions = package.get("versions")
    for version in [package, *(versions.values() if isinstance(versions, dict) else ())]:
        _lead_here(version, base, here)
    return json.dumps(package).encode(), "application/json"


def _lead_here(version: JsonValue, base: str, here: str) -> None:
    dist = version.get("dist") if isinstance(version, dict) else None
    address = dist.get("tarball") if isinstance(dist, dict) else None
    if isinstance(dist, dict) and isinstance(address, str) and address.startswith(f"{base}/"):
        dist["tarball"] = here + address.removeprefix(base)
