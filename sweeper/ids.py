"""Names that carry identity: workflow ids, branches, effect keys and signed markers, and the way back.

Rules: ARCHITECTURE.md, "Why nothing happens twice". Nothing here is drawn by chance, so asking
twice for the same run gives the same names.
"""

import hashlib
import hmac
import re
from urllib.parse import urlsplit

from sweeper.model import RunRef

BRANCH_PREFIX = "sweeper/"
SWEEP_PREFIX = "sweep-"
_PUBLIC_HOSTS = frozenset({"github.com", "api.github.com"})
_MARKER = re.compile(r"<!-- sweeper:(?P<key>[\w./:-]{1,200}) mac=(?P<mac>[0-9a-f]{64}) -->")
_SWEEP = r"sweep-(?:.+-)?(?P<run>\d+)-(?P<attempt>\d+)(?:-m(?P<request>[A-Za-z0-9]{1,40}))?"
_WORKSPACE = re.compile(rf"(?P<sweep>{_SWEEP})(?:\.[a-z][a-z0-9]*)?")
_SUFFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}")


def sweep_id(run: RunRef, api_url: str, request_id: str | None = None) -> str:
    """`sweep-<run>-<attempt>` on github.com, `sweep-<host>-<run>-<attempt>` elsewhere; `-m<request>` if asked anew."""
    host = urlsplit(api_url).hostname or ""
    parts = [] if host in _PUBLIC_HOSTS else [_word(host)]
    parts += [str(run.run_id), str(run.run_attempt)]
    if request_id:
        parts.append("m" + (request_id if re.fullmatch(r"[A-Za-z0-9]{1,40}", request_id) else _short(request_id)))
    return SWEEP_PREFIX + "-".join(parts)


def _word(host: str) -> str:
    """A host name as part of a branch name, where `..` or a leading dot (from `::1`) are not allowed."""
    word = re.sub(r"[^A-Za-z0-9]+", ".", host).strip(".")
    return word if 0 < len(word) <= 60 else _short(host)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def branch_of(workflow_id: str) -> str:
    """The proposal's branch: `sweeper/<workflow id without its prefix>`."""
    return BRANCH_PREFIX + workflow_id.removeprefix(SWEEP_PREFIX)


def is_our_branch(branch: str | None) -> bool:
    """Whether a branch lies in our namespace. CI of such a branch never starts a sweep."""
    return bool(branch) and str(branch).startswith(BRANCH_PREFIX)


def sweep_id_of_branch(branch: str | None) -> str | None:
    """The sweep a branch of ours belongs to; None for anybody else's branch."""
    if branch is None or not is_our_branch(branch):
        return None
    suffix = branch.removeprefix(BRANCH_PREFIX)
    return SWEEP_PREFIX + suffix if _SUFFIX.fullmatch(suffix) else None


def sweep_id_of_workspace(name: str) -> str | None:
    """The sweep a workspace (`<sweep>` or `<sweep>.<what>`) belongs to; None for any other name."""
    found = _WORKSPACE.fullmatch(name)
    return found["sweep"] if found else None


def run_of_sweep(workflow_id: str, repository: str, repository_id: int, api_url: str) -> RunRef | None:
    """The run a sweep is for; None if the id is no sweep's, or one of another GitHub."""
    found = re.fullmatch(_SWEEP, workflow_id)
    if found is None:
        return None
    run = RunRef(
        repository=repository,
        repository_id=repository_id,
        run_id=int(found["run"]),
        run_attempt=int(found["attempt"]),
    )
    return run if sweep_id(run, api_url, found["request"]) == workflow_id else None


def request_of_sweep(workflow_id: str) -> str | None:
    """What tells a sweep that was asked for anew from the first one of its run; the same id comes of it again."""
    found = re.fullmatch(_SWEEP, workflow_id)
    return found["request"] if found else None


def target_of(head_repository_id: int, branch: str) -> str:
    """The target (head repository id, branch) a fix is for, as one searchable word."""
    return f"{head_repository_id}:{branch}"


def target_id(head_repository_id: int, branch: str) -> str:
    """The target's workflow id."""
    return f"target-{head_repository_id}-{_short(branch)}"


def spending_id(api_url: str) -> str:
    """The workflow that knows what agents used today, of all that work for one GitHub."""
    return f"spending-{_word(urlsplit(api_url).hostname or '')}"


def places_id(host: str) -> str:
    """The workflow that shares out a machine's places for attempts."""
    return f"places-{host}"


def effect_key(workflow_id: str, step: str, ordinal: int) -> str:
    """`<workflow id>/<step>/<ordinal>`: the same write asked again has the same key."""
    return f"{workflow_id}/{step}/{ordinal}"


def upkeep_key(workflow_id: str, step: str, subject: str | int) -> str:
    """`upkeep/<workflow id>/<step>/<subject>`: what upkeep writes after the end of a sweep, once per subject."""
    return f"upkeep/{workflow_id}/{step}/{subject}"


def sweep_of_effect(effect: str) -> str | None:
    """The sweep that made an effect; None if it was upkeep, or nobody of ours."""
    workflow_id = effect.partition("/")[0]
    return workflow_id if re.fullmatch(_SWEEP, workflow_id) else None


def marker(effect: str, marker_key: bytes, repository_id: int) -> str:
    """A hidden line for a body: the effect key and an HMAC over (key, repository id): not to be forged or moved."""
    return f"<!-- sweeper:{effect} mac={_mac(effect, marker_key, repository_id)} -->"


def _mac(effect: str, marker_key: bytes, repository_id: int) -> str:
    return hmac.new(marker_key, f"{effect}\n{repository_id}".encode(), hashlib.sha256).hexdigest()


def claims_an_effect(body: str | None) -> bool:
    """Whether a text has a marker in it, true or forged."""
    return _MARKER.search(body or "") is not None


def effect_of_body(body: str | None, marker_key: bytes, repository_id: int) -> str | None:
    """The effect key of the first marker whose HMAC holds; forged or foreign ones are passed over."""
    for found in _MARKER.finditer(body or ""):
        if hmac.compare_digest(found["mac"], _mac(found["key"], marker_key, repository_id)):
            return found["key"]
    return None
