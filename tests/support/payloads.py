"""Webhook bodies: real ones where they are at hand, and small ones of our own for everything else."""

import hashlib
import hmac
import json
import os
from pathlib import Path
from typing import Any

import pytest

Body = dict[str, Any]
SHA = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
REPOSITORY = {"id": 4711, "full_name": "octo/app"}
FORK = {"id": 9999, "full_name": "stranger/app"}


def real_payload(name: str) -> Body:
    """A saved body by file name without ending; skips the test where the collection is not at hand."""
    root = Path(os.environ.get("SWEEPER_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = root / "payloads" / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"the collection of real webhook bodies is not here ({path.name})")
    body: Body = json.loads(path.read_text())
    return body


def real_payload_names() -> list[str]:
    """All saved bodies; none where the collection is not at hand."""
    root = Path(os.environ.get("SWEEPER_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
    return sorted(path.stem for path in (root / "payloads").glob("*.json"))


def headers(event: str, delivery: str = "0b989ba4-242f-11e5-81e1-c7b6966d2516") -> dict[str, str]:
    return {"X-GitHub-Event": event, "X-GitHub-Delivery": delivery, "Content-Type": "application/json"}


def encode(body: Body) -> bytes:
    return json.dumps(body).encode()


def sign(body: bytes, secret: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def run_body(conclusion: object = "failure", branch: str | None = "main", **run: object) -> Body:
    """workflow_run.completed; keywords replace fields of the run."""
    return {
        "action": "completed",
        "workflow_run": {
            "id": 77,
            "run_attempt": 1,
            "status": "completed",
            "conclusion": conclusion,
            "head_branch": branch,
            "head_sha": SHA,
            "head_repository": REPOSITORY,
            "actor": {"login": "ann"},
            "triggering_actor": {"login": "bea"},
            **run,
        },
        "repository": REPOSITORY,
        "sender": {"login": "bea"},
    }


def pull_body(action: str, branch: str, head_repository: Body | None = REPOSITORY) -> Body:
    """pull_request or pull_request_review, which share what is read of them."""
    return {
        "action": action,
        "pull_request": {"number": 7, "head": {"ref": branch, "sha": SHA, "repo": head_repository}},
        "repository": REPOSITORY,
    }


def push_body(ref: str) -> Body:
    return {"ref": ref, "after": SHA, "repository": REPOSITORY}


def dispatch_body(client_payload: object, event_type: str = "ci-sweeper") -> Body:
    return {
        "action": event_type,
        "client_payload": client_payload,
        "repository": REPOSITORY,
        "sender": {"login": "ann"},
    }
