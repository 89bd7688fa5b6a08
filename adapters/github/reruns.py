"""Having the failed jobs of a run run again.

It takes `actions: write`. Without that right it is skipped with a note: then a person starts the next attempt.
"""

from adapters.github.ci_replies import RunReply
from adapters.github.client import Client
from adapters.github.errors import Refused
from adapters.github.runs import home_of
from sweeper.errors import Transient
from sweeper.model import Effect, EffectState, RunRef

NO_RIGHT = "our login may not re-run jobs here: grant actions=write"
_RIGHT_IS_MISSING = ("not accessible", "must have")
_RUNS_NOW = "already running"


def rerun_failed(client: Client, run: RunRef, effect_key: str) -> Effect:
    """Natural key: the attempt counter. A later attempt than ours was asked for already, by whomever.

    GitHub refuses a second request while an attempt runs (403), so two of us at once start one.
    """
    there = home_of(client, run)
    newest, state, note = there.get(RunReply, _path(run)), EffectState.DEDUPLICATED, ""
    if newest.run_attempt <= run.run_attempt:
        try:
            there.act("POST", f"{_path(run)}/rerun-failed-jobs", {}, refusable={403})
            state = EffectState.CREATED
        except Refused as refused:
            newest = there.get(RunReply, _path(run))
            if newest.run_attempt <= run.run_attempt:
                state, note = EffectState.SKIPPED, _why(refused, newest)
    attempt = newest.run_attempt if state is EffectState.SKIPPED else max(newest.run_attempt, run.run_attempt + 1)
    ref = f"{there.name}/actions/runs/{run.run_id}/attempts/{attempt}"
    return Effect(key=effect_key, name="run.rerun", state=state, ref=ref, note=note)


def _path(run: RunRef) -> str:
    return f"actions/runs/{run.run_id}"


def _why(refused: Refused, newest: RunReply) -> str:
    """What a refusal means. Raises Transient if it only means that an attempt runs which GitHub does not show yet."""
    if any(refused.says(words) for words in _RIGHT_IS_MISSING):
        return NO_RIGHT
    if newest.status != "completed" or refused.says(_RUNS_NOW):
        raise Transient(f"Look at run {newest.id} again: it runs, and GitHub shows no new attempt yet.") from None
    return f"GitHub does not re-run it: {refused.reason}"
