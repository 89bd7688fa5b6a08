"""Having the failed jobs of a run run again."""

from adapters.github.client import Client
from adapters.github.replies import RunReply
from adapters.github.runs import home_of
from sweeper.errors import PolicyDenied, Transient
from sweeper.model import Effect, EffectState, RunRef


def rerun_failed(client: Client, run: RunRef, effect_key: str) -> Effect:
    """Natural key: the attempt counter. A later attempt than ours was asked for already, by whomever.

    GitHub refuses a second request while an attempt runs (403), so two of us at once start one.
    """
    there = home_of(client, run)
    path = f"actions/runs/{run.run_id}"
    newest, state = there.get(RunReply, path), EffectState.DEDUPLICATED
    if newest.run_attempt <= run.run_attempt:
        try:
            there.act("POST", f"{path}/rerun-failed-jobs", {})
            state = EffectState.CREATED
        except PolicyDenied:
            newest = there.get(RunReply, path)
            if newest.run_attempt <= run.run_attempt and newest.status == "completed":
                raise
            if newest.run_attempt <= run.run_attempt:
                raise Transient(
                    f"Look at run {run.run_id} again: it runs, and GitHub shows no new attempt yet."
                ) from None
    attempt = max(newest.run_attempt, run.run_attempt + 1)
    ref = f"{there.name}/actions/runs/{run.run_id}/attempts/{attempt}"
    return Effect(key=effect_key, name="run.rerun", state=state, ref=ref)
