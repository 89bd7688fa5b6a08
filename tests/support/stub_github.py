"""A web server that answers what it is told to: for answers that no GitHub on loopback gives."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pydantic import JsonValue

JSON_HEADERS = {"content-type": "application/json"}


@dataclass
class Script:
    """One answer, to requests of a method whose path matches; `times`: how often before the next one that matches."""

    method: str
    path: str
    status: int = 200
    body: JsonValue | bytes = None
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int | None = None

    def fits(self, method: str, path: str) -> bool:
        return self.times != 0 and self.method == method and re.search(self.path, path) is not None

    def use(self) -> bytes:
        if self.times is not None:
            self.times -= 1
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Asked:
    """A request that came."""

    method: str
    path: str
    body: JsonValue
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class StubGitHub:
    """`asked`: all that came, in order. Without a script that fits the answer is 404."""

    url: str
    scripts: list[Script]
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def stub_github(*scripts: Script) -> Iterator[StubGitHub]:
    """Runs on a free port as long as the block lasts."""
    server = _Server(list(scripts))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, scripts: list[Script]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stub = StubGitHub(f"http://127.0.0.1:{self.server_port}", scripts)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        assert isinstance(self.server, _Server)
        stub = self.server.stub
        sent = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        stub.asked.append(Asked(self.command, self.path, json.loads(sent) if sent else None, headers))
        found = next((one for one in stub.scripts if one.fits(self.command, self.path)), None)
        script = found or Script(self.command, "", 404, {"message": "Not Found"})
        body = script.use()
        self.send_response(script.status)
        for name, value in {**JSON_HEADERS, "content-length": str(len(body)), **script.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = int(script.headers.get("content-length", 0)) > len(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""
