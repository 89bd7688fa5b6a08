"""Go modules: the GOPROXY protocol, https://go.dev/ref/mod#goproxy-protocol.

The checksum database is not asked, as it could not be offline; go.sum is checked by go itself.
"""

import re
from collections.abc import Mapping

from adapters.egress.kinds import Page, Pages, Wanted

_PATH = r"(?:[A-Za-z0-9!~._-]+/)+"
_FILE = re.compile(_PATH + r"@v/v\d+\.\d+\.\d+[A-Za-z0-9!+.-]*\.(?:info|mod|zip)")
_PAGE = re.compile(_PATH + r"(?:@latest|@v/list|@v/[A-Za-z0-9!+._-]+\.info)")


class Go:
    """`Kind` for go."""

    name = "go"
    public = "https://proxy.golang.org"
    hosts = ()

    def env(self, here: str) -> Mapping[str, str]:
        """No way around the proxy, and no other toolchain than the one that is here."""
        return {"GOPROXY": here, "GOSUMDB": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw"}

    async def find(self, path: str, pages: Pages) -> Wanted | None:
        """A version's files never change; lists, the latest and what a branch means do."""
        if _FILE.fullmatch(path):
            return Wanted(f"{pages.base}/{path}")
        if _PAGE.fullmatch(path):
            return Wanted(f"{pages.base}/{path}", render=_as_it_is)
        return None


def _as_it_is(page: Page, _: str) -> tuple[bytes, str]:
    return page.content, page.content_type
