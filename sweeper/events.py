"""The webhook edge without IO: bytes and headers in, one typed event out.

`verify` before `parse`, always. Only the fields used are parsed, leniently: GitHub's own examples fail GitHub's own
schema, and unknown fields and actions are normal. Field rules: GitHub's webhook documentation, "Webhook events and
payloads" and "Validating webhook deliveries".
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, TypeAlias
from urllib.parse import parse_qs

from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import from_json

from sweeper.errors import BadInput
from sweeper.model import RunRef
from sweeper.model.run import FAILING_CONCLUSIONS

DISPATCH_TYPE = "ci-sweeper"
MAX_DISPATCH_KEYS = 10
_REVIEW_ACTIONS = frozenset({"submitted", "edited", "dismissed"})
_PULL_ACTIONS = frozenset(
    ("closed", "reopened", "synchronize", "edited", "ready_for_review", "converted_to_draft", "enqueued", "dequeued")
)
_USED_KEYS = ("workflow_run", "pull_request", "repository", "sender")

_Id = Annotated[int, Field(strict=True, gt=0, lt=2**63)]
_Name = Annotated[str, Field(pattern=r"^[\w-]+/(?:[\w-]|\.[\w-]|\.\.[\w.-])[\w.-]*$", max_length=200)]
"""`owner/name`, where the name may begin with dots but is never `.` or `..`: it becomes part of a URL path."""

_Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40,64}$")]


class _Told(BaseModel):
    """Read straight from GitHub's nested body by alias; built by field name everywhere else."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    repository: _Name = Field(validation_alias=AliasPath("repository", "full_name"))
    repository_id: _Id = Field(validation_alias=AliasPath("repository", "id"))


class BranchEvent(_Told):
    """What all events about a branch carry: whose repository, and which branch of which repository it is about."""

    head_branch: str | None
    head_repository_id: _Id | None = None

    @property
    def is_fork(self) -> bool:
        """Whether the branch lies elsewhere (also when the fork is deleted): its name then says nothing to us."""
        return self.head_repository_id != self.repository_id


class _RunEvent(BranchEvent):
    head_branch: str | None = Field(validation_alias=AliasPath("workflow_run", "head_branch"))
    head_repository_id: _Id | None = Field(None, validation_alias=AliasPath("workflow_run", "head_repository", "id"))


class RunFailed(_RunEvent):
    """workflow_run.completed with a failing conclusion: may start a sweep."""

    run_id: _Id = Field(validation_alias=AliasPath("workflow_run", "id"))
    run_attempt: _Id = Field(1, validation_alias=AliasPath("workflow_run", "run_attempt"))
    conclusion: str = Field(validation_alias=AliasPath("workflow_run", "conclusion"))
    head_sha: _Sha = Field(validation_alias=AliasPath("workflow_run", "head_sha"))
    actor: str | None = Field(
        None,
        validation_alias=AliasChoices(
            AliasPath("workflow_run", "triggering_actor", "login"), AliasPath("workflow_run", "actor", "login")
        ),
    )

    @property
    def run(self) -> RunRef:
        """The run attempt as the rest of the product names it."""
        return RunRef(
            repository=self.repository,
            repository_id=self.repository_id,
            run_id=self.run_id,
            run_attempt=self.run_attempt,
        )


class RunEnded(_RunEvent):
    """workflow_run.completed without failing: starts nothing, but open sweeps of the branch may want to look."""

    conclusion: str | None = Field(validation_alias=AliasPath("workflow_run", "conclusion"))


class _PullEvent(BranchEvent):
    """Carries ids only: what a review or a pull request says is read by API."""

    number: _Id = Field(validation_alias=AliasPath("pull_request", "number"))
    head_branch: str | None = Field(validation_alias=AliasPath("pull_request", "head", "ref"))
    head_repository_id: _Id | None = Field(None, validation_alias=AliasPath("pull_request", "head", "repo", "id"))


class ReviewSubmitted(_PullEvent):
    """pull_request_review submitted, edited or dismissed."""


class ProposalChanged(_PullEvent):
    """pull_request closed, reopened, pushed to, retargeted, drafted, made ready, queued or taken out of the queue."""


class BranchPushed(BranchEvent):
    """push to a branch, its deletion included."""


class SweepRequested(_Told):
    """repository_dispatch of type `ci-sweeper`: somebody with write access asks for a sweep of a run."""

    run_id: _Id
    request_id: str
    reason: str = ""
    actor: str | None = Field(None, validation_alias=AliasPath("sender", "login"))


class Ping(BaseModel):
    """GitHub's hello after a webhook is set up."""

    model_config = ConfigDict(frozen=True)


class Ignored(BaseModel):
    """Nothing we act on; the reason is told to the caller."""

    model_config = ConfigDict(frozen=True)

    reason: str


Event: TypeAlias = (
    RunFailed | RunEnded | SweepRequested | ReviewSubmitted | ProposalChanged | BranchPushed | Ping | Ignored
)


class _Ask(BaseModel):
    """Our own client_payload: free-form and untrusted, so anything unexpected is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: _Id
    request_id: str | None = Field(default=None, min_length=1, max_length=100)
    reason: str = Field(default="", max_length=1000)


def verify(body: bytes, signature: str | None, secrets: Sequence[bytes | SecretStr]) -> bool:
    """Whether `X-Hub-Signature-256` was made from these very bytes with one of the secrets.

    Every secret is tried in constant time, so the answer's duration does not tell which one fits. No secret, an empty
    secret or no signature verifies nothing.
    """
    given = (signature or "").encode(errors="replace")
    matches = False
    for secret in secrets:
        key = secret.get_secret_value().encode() if isinstance(secret, SecretStr) else secret
        expected = b"sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest().encode()
        matches |= hmac.compare_digest(expected, given) and bool(key)
    return matches


def parse(headers: Mapping[str, str], body: bytes) -> Event:
    """The event a verified delivery tells of. Unknown events, actions and fields are fine.

    Raises BadInput if the body is no JSON object, or misses or mistypes a field that is used.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    payload = _payload(lowered.get("content-type", ""), body)
    name = lowered.get("x-github-event")
    if not name:
        raise BadInput("The delivery names no event; send it with the header X-GitHub-Event.")
    reader = _READERS.get(name)
    if reader is None:
        return Ignored(reason=f"unused_event: nothing here acts on {name[:50]!r}")
    try:
        return reader(payload, lowered.get("x-github-delivery"))
    except ValidationError as error:
        raise BadInput(f"The {name} body cannot be used, {_first_fault(error)}; send it as GitHub does.") from None


def _payload(content_type: str, body: bytes) -> dict[str, object]:
    media_type = content_type.partition(";")[0].strip().lower()
    text: bytes | str = body
    if media_type == "application/x-www-form-urlencoded":
        text = _form_field(body)
    elif media_type not in ("", "application/json"):
        raise BadInput("The body has an unknown content type; send application/json.")
    try:
        payload = from_json(text)
    except ValueError:
        raise BadInput("The body is not JSON; send the webhook's body unchanged.") from None
    if not isinstance(payload, dict):
        raise BadInput("The body is not a JSON object; send the webhook's body unchanged.")
    return payload


def _form_field(body: bytes) -> str:
    try:
        return parse_qs(body.decode(), max_num_fields=20)["payload"][0]
    except (ValueError, KeyError):
        raise BadInput("The form has no readable field `payload`; send the webhook as application/json.") from None


def _first_fault(error: ValidationError) -> str:
    """Place and kind of the first fault. Never the value: it may be large or secret."""
    fault = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in fault["loc"])[:100] or "as a whole"
    return f"{place}: {fault['msg'][0].lower()}{fault['msg'][1:]}"


def _used(payload: dict[str, object]) -> dict[str, object]:
    """Only GitHub's own top-level keys, so that none is mistaken for the name of a field of ours."""
    return {key: payload[key] for key in _USED_KEYS if key in payload}


def _action(payload: dict[str, object]) -> str:
    action = payload.get("action")
    if not isinstance(action, str):
        raise BadInput("The body has no `action`; send the webhook's body unchanged.")
    return action


def _read_run(payload: dict[str, object], _: str | None) -> Event:
    if _action(payload) != "completed":
        return Ignored(reason="not_ended: only completed runs are looked at")
    ended = RunEnded.model_validate(_used(payload))
    return RunFailed.model_validate(_used(payload)) if ended.conclusion in FAILING_CONCLUSIONS else ended


def _read_pull(
    actions: frozenset[str], kind: type[ReviewSubmitted | ProposalChanged], payload: dict[str, object], _: str | None
) -> Event:
    if _action(payload) not in actions:
        return Ignored(reason="unused_action: this action changes nothing we wait for")
    return kind.model_validate(_used(payload))


def _read_push(payload: dict[str, object], _: str | None) -> Event:
    ref = payload.get("ref")
    if not isinstance(ref, str):
        raise BadInput("The push names no `ref`; send the webhook's body unchanged.")
    if not ref.startswith("refs/heads/"):
        return Ignored(reason="not_a_branch: only pushes to branches are looked at")
    told = _Told.model_validate(_used(payload))
    return BranchPushed(
        repository=told.repository,
        repository_id=told.repository_id,
        head_branch=ref.removeprefix("refs/heads/"),
        head_repository_id=told.repository_id,
    )


def _read_dispatch(payload: dict[str, object], delivery: str | None) -> Event:
    """GitHub puts the event type into `action`."""
    if _action(payload) != DISPATCH_TYPE:
        return Ignored(reason=f"other_dispatch: only dispatches of type {DISPATCH_TYPE} are ours")
    ask = _read_ask(payload.get("client_payload"))
    request_id = ask.request_id or delivery
    if not request_id:
        raise BadInput("The dispatch has no request_id and no X-GitHub-Delivery header; give one of them.")
    return SweepRequested.model_validate(
        {**_used(payload), "run_id": ask.run_id, "request_id": request_id, "reason": ask.reason}
    )


def _read_ask(client_payload: object) -> _Ask:
    if not isinstance(client_payload, dict):
        raise BadInput("The dispatch has no client_payload object; send {run_id, request_id?, reason?}.")
    if len(client_payload) > MAX_DISPATCH_KEYS:
        raise BadInput(f"The client_payload has more than {MAX_DISPATCH_KEYS} keys; send run_id, request_id, reason.")
    try:
        return _Ask.model_validate(client_payload)
    except ValidationError as error:
        raise BadInput(
            f"The client_payload is refused, {_first_fault(error)}; send {{run_id, request_id?, reason?}}."
        ) from None


_READERS: dict[str, Callable[[dict[str, object], str | None], Event]] = {
    "workflow_run": _read_run,
    "pull_request_review": partial(_read_pull, _REVIEW_ACTIONS, ReviewSubmitted),
    "pull_request": partial(_read_pull, _PULL_ACTIONS, ProposalChanged),
    "push": _read_push,
    "repository_dispatch": _read_dispatch,
    "ping": lambda _payload, _delivery: Ping(),
}
