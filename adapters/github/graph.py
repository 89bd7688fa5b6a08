"""Mutations that only GraphQL has. Its errors come with status 200 and a type; they mean what the REST status does."""

from dataclasses import dataclass

from pydantic import JsonValue

from adapters.github.errors import Refused
from adapters.github.transport import Answer

_STATUS = {"RATE_LIMITED": 429, "FORBIDDEN": 403, "INSUFFICIENT_SCOPES": 403, "NOT_FOUND": 404}
_LOST, _REFUSED = 502, 422


@dataclass(frozen=True)
class Mutation:
    """A mutation by its name, with one field of its payload: a query has to ask for something."""

    name: str
    payload: str

    def body(self, inputs: dict[str, JsonValue]) -> JsonValue:
        """What to send."""
        kind = self.name[0].upper() + self.name[1:] + "Input"
        query = f"mutation($input: {kind}!) {{ {self.name}(input: $input) {{ {self.payload} }} }}"
        return {"query": query, "variables": {"input": inputs}}


DRAFT = Mutation("convertPullRequestToDraft", "pullRequest { isDraft }")


def refusal_in(answer: Answer) -> Refused | None:
    """The first error as the REST face would have answered it. One without a type is a failure of GitHub's own."""
    if not isinstance(answer.data, dict):
        return Refused(_LOST, "empty")
    errors = answer.data.get("errors")
    if not isinstance(errors, list) or not errors:
        return None
    first = errors[0] if isinstance(errors[0], dict) else {}
    kind, said = first.get("type"), str(first.get("message") or "").strip(" .")[:300]
    status = _STATUS.get(str(kind), _REFUSED) if kind else _LOST
    return Refused(status, said, {name.lower(): value for name, value in answer.headers.items()})
