"""Python packages: the simple repository API, https://packaging.python.org/specifications/simple-repository-api/.

A page is taken as JSON or HTML, whichever the registry gives, and served as HTML with links that lead through us. A
file is found by looking it up on its project's page, so nothing can be fetched that the index does not name.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import quote, unquote, urljoin, urlsplit

from pydantic import BaseModel, Field

from adapters.egress.kinds import Page, Pages, Wanted

_JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = (_JSON, "application/vnd.pypi.simple.v1+html;q=0.2", "text/html;q=0.1")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_METADATA = ".metadata"
_SHA256 = re.compile(r"sha256=([0-9a-f]{64})")


@dataclass(frozen=True)
class ProjectFile:
    """A file of a project. `metadata`: the digest of its metadata file, empty if only known to exist."""

    name: str
    url: str
    sha256: str | None = None
    requires_python: str | None = None
    yanked: str | None = None
    metadata: str | None = None


class _JsonFile(BaseModel):
    filename: str
    url: str
    hashes: dict[str, str] = {}
    requires_python: str | None = Field(default=None, alias="requires-python")
    yanked: bool | str = False
    core_metadata: bool | dict[str, str] | None = Field(default=None, alias="core-metadata")
    dist_info_metadata: bool | dict[str, str] | None = Field(default=None, alias="dist-info-metadata")


class _JsonPage(BaseModel):
    files: list[_JsonFile]


class Pypi:
    """`Kind` for pip and uv."""

    name = "pypi"
    public = "https://pypi.org/simple"
    hosts = ("files.pythonhosted.org",)

    def env(self, here: str) -> Mapping[str, str]:
        """Variables of pip's and uv's configuration; files already there come through us, which may take a while."""
        index = f"{here}/simple/"
        return {
            "PIP_INDEX_URL": index,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PIP_DEFAULT_TIMEOUT": "600",
            "UV_DEFAULT_INDEX": index,
            "UV_HTTP_TIMEOUT": "600",
            "UV_PYTHON_DOWNLOADS": "never",
        }

    async def find(self, path: str, pages: Pages) -> Wanted | None:
        """`simple/<project>` or `files/<project>/<file>`."""
        place, _, rest = path.partition("/")
        project, _, file = rest.partition("/")
        if not _NAME.fullmatch(project):
            return None
        page = Wanted(f"{pages.base}/{_normalized(project)}/", render=_render, accept=_ACCEPT)
        if place == "simple" and not file:
            return page
        if place == "files" and file and (found := await pages.read(page)) is not None:
            return _file_of(found, file)
        return None


def _normalized(project: str) -> str:
    return re.sub(r"[-_.]+", "-", project).lower()


def _file_of(page: Page, name: str) -> Wanted | None:
    for file in project_files(page):
        if file.name == name:
            return Wanted(file.url, sha256=file.sha256)
        if file.metadata is not None and f"{file.name}{_METADATA}" == name:
            return Wanted(f"{file.url}{_METADATA}", sha256=file.metadata or None)
    return None


def _render(page: Page, here: str) -> tuple[bytes, str]:
    project = page.url.rstrip("/").rpartition("/")[2]
    lines = [_link(file, f"{here}/files/{project}/{quote(file.name)}") for file in project_files(page)]
    text = "\n".join(["<!DOCTYPE html>", '<meta name="pypi:repository-version" content="1.0">', *lines, ""])
    return text.encode(), "text/html; charset=utf-8"


def _link(file: ProjectFile, url: str) -> str:
    attributes = {
        "href": url + (f"#sha256={file.sha256}" if file.sha256 else ""),
        "data-requires-python": file.requires_python,
        "data-yanked": file.yanked,
        "data-core-metadata": (f"sha256={file.metadata}" if file.metadata else "true")
        if file.metadata is not None
        else None,
    }
    said = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items() if value is not None)
    return f"<a{said}>{html.escape(file.name)}</a><br>"


def project_files(page: Page) -> Iterator[ProjectFile]:
    """The files on a project's page. Raises ValueError if it is neither the JSON nor the HTML of the specification."""
    if "json" in page.content_type:
        yield from _from_json(page)
    else:
        reader = _Links(page.url)
        reader.feed(page.content.decode(errors="replace"))
        yield from reader.files


def _from_json(page: Page) -> Iterator[ProjectFile]:
    for file in _JsonPage.model_validate(json.loads(page.content)).files:
        metadata = file.core_metadata if file.core_metadata is not None else file.dist_info_metadata
        yield ProjectFile(
            name=file.filename,
            url=urljoin(page.url, file.url),
            sha256=file.hashes.get("sha256"),
            requires_python=file.requires_python,
            yanked=file.yanked if isinstance(file.yanked, str) else ("" if file.yanked else None),
            metadata=(metadata.get("sha256", "") if isinstance(metadata, dict) else "") if metadata else None,
        )


class _Links(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base
        self.files: list[ProjectFile] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An anchor is a file, named by the last part of its address."""
        said = dict(attrs)
        if tag == "base" and (base := said.get("href")):
            self._base = urljoin(self._base, base)
        href = said.get("href") if tag == "a" else None
        if href:
            self.files.append(self._file(urljoin(self._base, href), said))

    def _file(self, url: str, said: Mapping[str, str | None]) -> ProjectFile:
        parts = urlsplit(url)
        digest = _SHA256.search(parts.fragment)
        metadata = said.get("data-core-metadata", said.get("data-dist-info-metadata", "false"))
        metadata_digest = _SHA256.search(metadata or "")
        return ProjectFile(
            name=unquote(parts.path.rpartition("/")[2]),
            url=parts._replace(fragment="").geturl(),
            sha256=digest[1] if digest else None,
            requires_python=said.get("data-requires-python"),
            yanked=(said["data-yanked"] or "") if "data-yanked" in said else None,
            metadata=None if metadata == "false" else (metadata_digest[1] if metadata_digest else ""),
        )
