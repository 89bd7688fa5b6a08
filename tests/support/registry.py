"""A package registry on loopback: real HTTP, tiny packages built on the spot, and a record of who asked for what."""

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

JSON_PAGE = "application/vnd.pypi.simple.v1+json"

_YEAR_2001 = 1_000_000_000  # zip files know no time before 1980
_BACKEND = """
import base64, hashlib, zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "{name}-{version}-py3-none-any.whl"
    info = "{name}-{version}.dist-info"
    with zipfile.ZipFile(directory + "/" + name, "w") as wheel:
        wheel.write("{name}.py")
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        tags = "Root-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\n" + tags)
        wheel.writestr(info + "/RECORD", "")
    return name
"""


@dataclass(frozen=True)
class Reply:
    """What a path gives. `held`: the body's second half waits for this."""

    body: bytes
    media_type: str = "application/octet-stream"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    held: threading.Event | None = None


@dataclass(frozen=True)
class Asked:
    """A request that came in."""

    path: str
    authorization: str | None


class LoopbackRegistry:
    """Use as a context. `replies` by path; `asked` in order; with `password` set nobody else is answered."""

    def __init__(self, password: str | None = None) -> None:
        self.replies: dict[str, Reply] = {}
        self.asked: list[Asked] = []
        self.expected = f"Basic {base64.b64encode(f'ann:{password}'.encode()).decode()}" if password else None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "LoopbackRegistry":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Nobody answers any more. Twice is a no-op."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [asked.path for asked in self.asked]

    def publish_python(self, project: str, files: Mapping[str, bytes], as_json: bool = True) -> None:
        """A project's page and its files, as the simple repository API has them."""
        for name, content in files.items():
            self.replies[f"/files/{name}"] = Reply(content)
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        if as_json:
            listed = [{"filename": n, "url": f"../../files/{n}", "hashes": {"sha256": d}} for n, d in digests.items()]
            page = json.dumps({"meta": {"api-version": "1.0"}, "name": project, "files": listed})
            self.replies[f"/simple/{project}/"] = Reply(page.encode(), JSON_PAGE)
        else:
            links = "".join(f'<a href="../../files/{n}#sha256={d}">{n}</a>' for n, d in digests.items())
            self.replies[f"/simple/{project}/"] = Reply(f"<html>{links}</html>".encode(), "text/html")

    def publish_npm(self, name: str, version: str, code: str) -> str:
        """A package of one file; its integrity, for a lock file."""
        content = npm_package(name, version, code)
        path = f"/{name}/-/{name}-{version}.tgz"
        integrity = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
        dist = {"tarball": f"{self.url}{path}", "integrity": integrity}
        page = {
            "name": name,
            "dist-tags": {"latest": version},
            "versions": {version: {"name": name, "version": version, "dist": dist}},
        }
        self.replies[path] = Reply(content)
        self.replies[f"/{name}"] = Reply(json.dumps(page).encode(), "application/json")
        return integrity


def _handler(registry: LoopbackRegistry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            authorization = self.headers.get("authorization")
            registry.asked.append(Asked(self.path, authorization))
            reply = registry.replies.get(self.path, Reply(b"not here", "text/plain", 404))
            if registry.expected not in (None, authorization):
                reply = Reply(b"who are you", "text/plain", 401)
            self.send_response(reply.status)
            for name, value in {"Content-Type": reply.media_type, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.send_header("Connection", "close")
            self.end_headers()
            half = len(reply.body) // 2 if reply.held else 0
            self.wfile.write(reply.body[:half])
            self.wfile.flush()
            if reply.held:
                reply.held.wait(60)
            self.wfile.write(reply.body[half:])

        def log_message(self, *_: object) -> None:
            return

    return Handler


def wheel(name: str, version: str, code: str, requires: Sequence[str] = ()) -> dict[str, bytes]:
    """One module as a wheel, by its file name."""
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
    parts = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    parts[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in parts)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in parts.items():
            archive.writestr(path, text)
    return {f"{name}-{version}-py3-none-any.whl": buffer.getvalue()}


def sdist(name: str, version: str, code: str) -> dict[str, bytes]:
    """One module as a source distribution that brings its own build backend, by its file name."""
    root = f"{name}-{version}"
    project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    parts = {
        f"{root}/pyproject.toml": project,
        f"{root}/backend.py": _BACKEND.format(name=name, version=version),
        f"{root}/{name}.py": code,
        f"{root}/PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    }
    return {f"{root}.tar.gz": _tar(parts)}


def npm_package(name: str, version: str, code: str) -> bytes:
    """A package of one file."""
    manifest = json.dumps({"name": name, "version": version, "main": "index.js"})
    return _tar({"package/package.json": manifest, "package/index.js": code})


def _tar(parts: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in parts.items():
            item = tarfile.TarInfo(path)
            item.size, item.mode, item.mtime = len(text.encode()), 0o644, _YEAR_2001
            archive.addfile(item, io.BytesIO(text.encode()))
    return buffer.getvalue()
