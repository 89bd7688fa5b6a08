"""A whole HTTP answer, caught from an ASGI application before anything is sent."""

from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]


@dataclass
class Answer:
    """Status, headers and body."""

    status: int = 0
    headers: Headers = field(default_factory=list)
    body: bytes = b""

    def header(self, name: bytes) -> bytes | None:
        """The first header of that (lower case) name."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    def set_header(self, name: bytes, value: bytes) -> None:
        """Replace a header."""
        self.headers = [(key, old) for key, old in self.headers if key.lower() != name] + [(name, value)]

    async def send(self, send: Send) -> None:
        """Send it whole."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


async def read_body(receive: Receive) -> bytes:
    """The whole request body."""
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(chunks)
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


async def catch(app: ASGIApp, scope: Scope, body: bytes) -> Answer:
    """Run the application on a request that is read already. A client that went away does not stop it."""
    answer = Answer()
    given = False

    async def receive() -> Message:
        nonlocal given
        if given:
            return {"type": "http.disconnect"}
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = list(message.get("headers", []))
        elif message["type"] == "http.response.body":
            answer.body += message.get("body", b"")

    await app(scope, receive, send)
    return answer
