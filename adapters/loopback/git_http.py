"""Git smart HTTP at `<git_url>/{owner}/{name}.git`, through git's own `git http-backend` (CGI)."""

import asyncio
import os
from http.client import parse_headers
from io import BytesIO

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from adapters.loopback.acts import pushes
from adapters.loopback.auth import Caller, Kind, identify
from adapters.loopback.core.bare import ZERO
from adapters.loopback.core.git import TIMEOUT_S, environment
from adapters.loopback.core.lookup import may
from adapters.loopback.core.refusals import Moved, Refused
from adapters.loopback.core.state import Permission, Repo
from adapters.loopback.hooks.events import RefChange
from adapters.loopback.hub import Hub
from adapters.loopback.recorder import NOTES

_SERVICES = ("info/refs", "git-upload-pack", "git-receive-pack")


class GitDoor:
    """The ASGI face of the bare repositories. A push is one turn of the store; fetches take none."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one call."""
        request = Request(scope, receive)
        try:
            response = await self._handle(request)
        except Refused as refused:
            headers = {"www-authenticate": 'Basic realm="GitHub"'} if refused.status == 401 else {}
            # git shows a refusal to its user only if it is plain text.
            response = Response(refused.message, refused.status, headers, "text/plain; charset=utf-8")
        await response(scope, receive, send)

    async def _handle(self, request: Request) -> Response:
        name, separator, service = request.url.path.removeprefix("/git/").partition(".git/")
        if not separator or service not in _SERVICES:
            request.scope[NOTES].unknown = True
            raise Refused(404, "Not Found")
        caller = identify(self._hub, request.headers.get("authorization"))
        if caller.kind is Kind.APP:
            raise Refused(401, "Bad credentials")
        repo = self._find(name)
        self._check(repo, caller, writes="git-receive-pack" in (service, request.query_params.get("service")))
        if service != "git-receive-pack":
            return await self._backend(request, repo, service, await request.body())
        body = await request.body()
        async with self._hub.store.turn():
            return await self._push(request, repo, caller, body)

    def _find(self, name: str) -> Repo:
        """A former name still works, as on GitHub."""
        try:
            return self._hub.repo(name)
        except Moved as moved:
            return self._hub.state.repos[moved.repository_id]

    def _check(self, repo: Repo, caller: Caller, writes: bool) -> None:
        ours = caller.user.id == self._hub.app.bot_id
        limited = caller.repositories is not None and repo.id not in caller.repositories
        outside = ours and not (repo.installed and self._hub.app.installed)
        if limited or outside or not may(self._hub.state, repo, caller.user, Permission.READ):
            raise Refused(404, "Repository not found.")
        if writes and not may(self._hub.state, repo, caller.user, Permission.WRITE):
            raise Refused(403, f"Permission to {self._hub.repo_name(repo)}.git denied to {caller.user.login}.")

    async def _push(self, request: Request, repo: Repo, caller: Caller, body: bytes) -> Response:
        before = await pushes.all_refs(self._hub.bare(repo))
        response = await self._backend(request, repo, "git-receive-pack", body)
        changes = await pushes.after_push(self._hub, repo, before, caller.user)
        request.scope[NOTES].effects += [
            _effect(self._hub.repo_name(repo), change) for change in changes if change.ref.startswith("refs/heads/")
        ]
        return response

    async def _backend(self, request: Request, repo: Repo, service: str, body: bytes) -> Response:
        process = await asyncio.create_subprocess_exec(
            "git",
            "http-backend",
            env=environment(self._cgi(request, f"/{repo.id}.git/{service}", len(body))),
            # A pipe as stdin of a GET raced and gave a 500 now and then; there it must be /dev/null.
            stdin=asyncio.subprocess.PIPE if request.method == "POST" else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            out, _ = await asyncio.wait_for(process.communicate(body if request.method == "POST" else None), TIMEOUT_S)
        finally:
            if process.returncode is None:
                process.kill()
        return _from_cgi(out)

    def _cgi(self, request: Request, path: str, length: int) -> dict[str, str]:
        headers = request.headers
        return {
            "GIT_PROJECT_ROOT": str(self._hub.store.directory / "git"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": path,
            "QUERY_STRING": request.url.query,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(length),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
            "REMOTE_USER": "push",
            "REMOTE_ADDR": "127.0.0.1",
            "PATH": os.environ.get("PATH", os.defpath),
        }


def _effect(name: str, change: RefChange) -> tuple[str, str]:
    if change.after == ZERO:
        return "branch.delete", f"{name} {change.ref} {change.before}"
    return "branch.push", f"{name} {change.ref} {change.after}"


def _from_cgi(out: bytes) -> Response:
    head, separator, body = out.partition(b"\r\n\r\n")
    if not separator:
        return Response("git http-backend gave no answer", 500)
    headers = parse_headers(BytesIO(head + b"\r\n\r\n"))
    status = int((headers.get("Status") or "200").split(" ")[0])
    return Response(body, status, {name: value for name, value in headers.items() if name.lower() != "status"})
