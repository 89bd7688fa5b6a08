"""What expressions of a failing run may name, before it is run again.

Source: GitHub's "Contexts reference". Of `github.event` only what RunFacts hold is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sweeper.model import RunFacts
from sweeper.policy.planning.evaluation import Context, Mark, Scope
from sweeper.policy.planning.values import Value

ACTOR = "ci-sweeper"
"""Stands for `github.actor`: who pushed is nothing a check may depend on."""

_PULL_EVENTS = ("pull_request", "pull_request_target")
_NEVER = Context(rest=Mark.NEVER)


@dataclass(frozen=True, slots=True)
class Row:
    """One job made from a matrix: its values by key, and its place among the others."""

    values: Mapping[str, Value]
    index: int = 0
    total: int = 1
    strategy: Mapping[str, Value | Mark] | None = None


def run_scope(facts: RunFacts) -> Scope:
    """What is the same for all jobs of a run. Every other context is unknown."""
    is_dispatch = facts.event in ("workflow_dispatch", "workflow_call")
    return Scope(
        {
            "github": _github(facts),
            "inputs": _NEVER if is_dispatch else Context(),
            "secrets": _NEVER,
            "vars": _NEVER,
            "needs": _NEVER,
        }
    )


def job_scope(outer: Scope, row: Row) -> Scope:
    """With what belongs to one job."""
    return outer.having(
        matrix=Context({key.lower(): value for key, value in row.values.items()}),
        strategy=Context(
            {
                "job-index": float(row.index),
                "job-total": float(row.total),
                "fail-fast": True,
                "max-parallel": float(row.total),
                **(row.strategy or {}),
            }
        ),
        job=Context({"status": "success"}, rest=Mark.NEVER),
        runner=Context(
            {
                "os": "Linux",
                "arch": "X64",
                "environment": "github-hosted",
                "debug": "",
                "temp": Mark.LATER,
                "tool_cache": Mark.LATER,
                "workspace": Mark.LATER,
            },
            rest=Mark.NEVER,
        ),
        env=Context(rest=Mark.LATER),
        steps=Context(),
    )


def _github(facts: RunFacts) -> Context:
    owner = facts.run.repository.partition("/")[0]
    branch = facts.head_branch or ""
    known: dict[str, Value | Context | Mark] = {
        "event_name": facts.event,
        "event": _event(facts),
        "repository": facts.run.repository,
        "repository_owner": owner,
        "repository_id": str(facts.run.repository_id),
        "actor": ACTOR,
        "triggering_actor": ACTOR,
        "workflow": facts.workflow_name,
        "run_id": str(facts.run.run_id),
        "run_attempt": str(facts.run.run_attempt),
        "server_url": "https://github.com",
        "api_url": "https://api.github.com",
        "workspace": Mark.LATER,
        **_refs(facts, branch),
    }
    return Context(known, rest=Mark.NEVER)


def _refs(facts: RunFacts, branch: str) -> dict[str, "Value | Context | Mark"]:
    """In a pull request `sha` is a merge that GitHub made and has dropped since."""
    if facts.event in _PULL_EVENTS and facts.pull is not None:
        name = f"{facts.pull.number}/merge"
        return {
            "ref": f"refs/pull/{name}",
            "ref_name": name,
            "ref_type": "branch",
            "head_ref": branch,
            "base_ref": facts.pull.base_ref,
        }
    if facts.event in _PULL_EVENTS:
        return {"head_ref": branch, "ref_type": "branch"}
    return {
        "ref": f"refs/heads/{branch}",
        "ref_name": branch,
        "ref_type": "branch",
        "head_ref": "",
        "base_ref": "",
        "sha": facts.head_sha,
    }


def _event(facts: RunFacts) -> Context:
    repository = Context({"full_name": facts.run.repository, "fork": Mark.NEVER}, rest=Mark.NEVER)
    known: dict[str, Value | Context | Mark] = {"repository": repository}
    if facts.event not in _PULL_EVENTS:
        known |= {"pull_request": None, "after": facts.head_sha if facts.event == "push" else Mark.NEVER}
    elif facts.pull is not None:
        head = Context(
            {
                "sha": facts.head_sha,
                "ref": facts.head_branch,
                "repo": Context({"full_name": facts.head_repository, "fork": facts.is_fork}, rest=Mark.NEVER),
            },
            rest=Mark.NEVER,
        )
        base = Context({"ref": facts.pull.base_ref, "sha": facts.pull.base_sha or Mark.NEVER}, rest=Mark.NEVER)
        pull = Context({"number": float(facts.pull.number), "head": head, "base": base}, rest=Mark.NEVER)
        known |= {"pull_request": pull, "number": float(facts.pull.number)}
    return Context(known, rest=Mark.NEVER)
