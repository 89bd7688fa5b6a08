"""The API of one GitHub, repository by repository. Blocking: call it in a thread."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import quote

import requests
from github.Requester import Requester
from pydantic import JsonValue, SecretStr

from adapters.github.auth import RepositoryAuth, Tokens
from adapters.github.errors import Call, Refused, meaning
from adapters.github.graph import Mutation, refusal_in
from adapters.github.pacer import Pacer
from adapters.github.replies import RefReply
from adapters.github.settings import GitHubAccess
from adapters.github.transport import Answer, Connections, Reply, ask, read, requester
from sweeper.errors import AuthBroken, BadInput, Permanent

MOST_PAGES = 100


class Client:
    """Requests to one GitHub under one identity."""

    def __init__(self, access: GitHubAccess, tokens: Tokens) -> None:
        self.tokens = tokens
        self._access = access
        self.pacer = Pacer(access.pause_between_writes)
        self._connections: dict[str, Connections] = {}

    def repository(self, name: str) -> "Repository":
        """Calls on `owner/name`. Raises BadInput for what cannot be a name; asks nothing yet."""
        return Repository(self, checked_name(name), name)

    @property
    def graphql_url(self) -> str:
        """Beside the REST face: GitHub Enterprise Server has `/api/v3` and `/api/graphql`."""
        return self._access.api_url.rstrip("/").removesuffix("/v3") + "/graphql"

    def call(
        self,
        call: Call,
        repository: str,
        params: Mapping[str, str] | None = None,
        body: JsonValue = None,
        refusable: Collection[int] = (),
    ) -> Answer:
        """Send it, a write in its turn. An app's token that is refused is renewed and tried once more: a 401 has done
        nothing.
        """
        if call.writes:
            self.pacer.wait(self.tokens.payer(repository))
        with self._lend(repository) as connection:
            try:
                return ask(connection, call, params, body, refusable)
            except AuthBroken:
                used = connection.auth.used if isinstance(connection.auth, RepositoryAuth) else SecretStr("")
                if not self.tokens.forget(repository, used):
                    raise
            return ask(connection, call, params, body, refusable)

    def _lend(self, repository: str) -> AbstractContextManager[Requester]:
        def connect() -> Requester:
            return requester(self._access, RepositoryAuth(self.tokens, repository))

        return self._connections.setdefault(repository, Connections(connect)).borrow()

    def close(self) -> None:
        """Close idle connections and the identity's own."""
        for connections in list(self._connections.values()):
            connections.close()
        self.tokens.close()


class Repository:
    """Calls below `/repos/<name>`; paths are relative to it. `scope` names the repository whose token is used."""

    def __init__(self, client: Client, name: str, scope: str) -> None:
        self._client = client
        self._scope = scope
        self.name = name

    @property
    def owner(self) -> str:
        """The first half of the name."""
        return self.name.partition("/")[0]

    def fork(self, name: str) -> "Repository":
        """Calls on another repository with the rights we have on this one: an app is seldom installed on forks."""
        return Repository(self._client, checked_name(name), self._scope)

    def get(self, model: type[Reply], path: str = "", params: Mapping[str, str] | None = None) -> Reply:
        """Read one thing. Raises NotFound."""
        call = self._name_call("GET", path)
        return read(model, self._client.call(call, self._scope, params).data, call)

    def find(
        self,
        model: type[Reply],
        path: str,
        params: Mapping[str, str] | None = None,
        absent: Collection[int] = (404,),
    ) -> Reply | None:
        """Read one thing that may be absent: None for the statuses in `absent`."""
        call = self._name_call("GET", path)
        try:
            return read(model, self._client.call(call, self._scope, params, refusable=absent).data, call)
        except Refused:
            return None

    def pages(
        self, model: type[Reply], path: str, params: Mapping[str, str] | None = None, within: str | None = None
    ) -> Iterator[Reply]:
        """Read a list to its end, a hundred at a time; `within`: the field that holds it. Raises Permanent if endless.

        PyGithub drops the query when it follows a rename, so callers with `params` use the repository's current name
        or check each item.
        """
        call = self._name_call("GET", path)
        page, query = call, {"per_page": "100", **(params or {})}
        for _ in range(MOST_PAGES):
            answer = self._client.call(page, self._scope, query)
            yield from (read(model, item, call) for item in _items(answer.data, within))
            following = next_page(answer.headers)
            if following is None:
                return
            page, query = replace(call, page=following), {}
        raise Permanent(f"Look at {call} by hand: it has more than {MOST_PAGES} pages.")

    def send(
        self, model: type[Reply], verb: str, path: str, body: Mapping[str, JsonValue], refusable: Collection[int] = ()
    ) -> Reply:
        """Write once. Raises OutcomeUnknown when the answer is lost, `Refused` for statuses in `refusable`."""
        call = self._name_call(verb, path, writes=True)
        return read(model, self._client.call(call, self._scope, body=dict(body), refusable=refusable).data, call)

    def act(self, verb: str, path: str, body: Mapping[str, JsonValue], refusable: Collection[int] = ()) -> None:
        """Write once, where the status is the whole answer. Raises as `send` does."""
        call = self._name_call(verb, path, writes=True)
        self._client.call(call, self._scope, body=dict(body), refusable=refusable)

    def mutate(self, mutation: Mutation, inputs: dict[str, JsonValue], refusable: Collection[int] = ()) -> None:
        """Write once by GraphQL. Raises as `send` does, with the status that REST would have answered."""
        call = Call("POST", f"/graphql {mutation.name}", writes=True, page=self._client.graphql_url)
        answer = self._client.call(call, self._scope, body=mutation.body(inputs), refusable=refusable)
        refused = refusal_in(answer)
        if refused is None:
            return
        raise refused if refused.status in refusable else meaning(refused, call, datetime.now(UTC))

    def delete(self, path: str) -> None:
        """Delete; gone already is fine."""
        try:
            self._client.call(self._name_call("DELETE", path, writes=True), self._scope, refusable={404})
        except Refused:
            return

    def branch_head(self, branch: str) -> str | None:
        """Where a branch is now; None: it is gone, or the repository is empty (409)."""
        found = self.find(RefReply, f"git/ref/heads/{quote(branch)}", absent={404, 409})
        return found.object.sha if found else None

    def _name_call(self, verb: str, path: str, writes: bool = False) -> Call:
        return Call(verb, f"/repos/{self.name}/{path}".rstrip("/"), writes)


def checked_name(name: str) -> str:
    """`owner/name` as GitHub allows it, so that it cannot reach another path. Raises BadInput."""
    owner, _, repository = name.partition("/")
    for part in (owner, repository):
        if part in ("", ".", "..") or not part.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise BadInput(f"Give the repository as OWNER/NAME, not {name[:100]!r}.")
    return name


def next_page(headers: Mapping[str, str]) -> str | None:
    """The URL of the next page, from the Link header."""
    links = requests.utils.parse_header_links(headers.get("link", ""))
    return next((link["url"] for link in links if link.get("rel") == "next"), None)


def _items(data: JsonValue, within: str | None) -> list[JsonValue]:
    found = data.get(within) if within is not None and isinstance(data, dict) else data
    return found if isinstance(found, list) else []
