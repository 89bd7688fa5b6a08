"""The documents scripts rely on: exact field names, and nothing lost on the way."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from rich.console import Console

from sweeper.cli.tables import sweep_story
from sweeper.model import VERIFIER_VERSION, WORKFLOW_VERSION, Budget, Outcome, Spent, WaitingFor
from sweeper.ports import WorkerLife
from sweeper.reporting import HealthReport, list_report, show_report
from tests.support.stories import STORY, tell_story
from tests.support.sweeps import START, FakeSweeps


@pytest.fixture
async def sweeps() -> FakeSweeps:
    sweeps = FakeSweeps()
    await tell_story(sweeps)
    return sweeps


async def test_a_list_has_exactly_the_fields_scripts_rely_on(sweeps: FakeSweeps) -> None:
    document = json.loads(list_report(await sweeps.list(), await sweeps.worker_life()).model_dump_json())
    assert document["worker"] == {"alive": True, "since": "2026-11-29T12:00:00Z"}
    assert document["sweeps"] == [
        {
            "id": STORY,
            "repository": "octo/app",
            "branch": "feature:x",
            "run_id": 77,
            "attempt": 2,
            "step": "admit",
            "outcome": None,
            "reason": "",
            "proposal": 7,
            "proposal_url": "https://github.com/octo/app/pull/7",
            "waiting_for": None,
            "started_at": "2026-11-29T12:00:00Z",
            "updated_at": "2026-11-29T12:00:00Z",
            "stuck": None,
        }
    ]


async def test_an_ended_sweep_is_listed_with_outcome_and_reason(sweeps: FakeSweeps) -> None:
    sweeps.finish(STORY, Outcome.EXPIRED, "nobody answered for 7 days")
    line = list_report(await sweeps.list(), WorkerLife(alive=False)).sweeps[0]
    assert (line.step, line.outcome, line.reason) == ("done", "expired", "nobody answered for 7 days")


async def test_waiting_and_stuck_are_told_in_both_documents(sweeps: FakeSweeps) -> None:
    record = await sweeps.show(STORY)
    waiting = WaitingFor(what="review", since=START, until=START + timedelta(days=7))
    view = record.view.model_copy(
        update={
            "checkpoint": record.view.checkpoint.model_copy(update={"waiting_for": waiting}),
            "stuck": "No worker has answered since noon; start one.",
        }
    )
    line = list_report([view], WorkerLife(alive=True)).sweeps[0]
    shown = show_report(record.model_copy(update={"view": view}))
    assert line.waiting_for == shown.waiting_for == waiting
    assert line.stuck == shown.stuck == "No worker has answered since noon; start one."


async def test_a_shown_sweep_has_its_checkpoint_and_its_record(sweeps: FakeSweeps) -> None:
    document = json.loads(show_report(await sweeps.show(STORY)).model_dump_json())
    checkpoint = {
        "run", "workflow_version", "current_step", "goal", "artifacts", "pending_action", "budget",
        "last_evidence_version", "waiting_for",
    }  # fmt: skip
    record = {"outcome", "reason", "triggers", "effects", "attempts", "proposal", "reviews", "versions", "spent"}
    assert checkpoint | record <= set(document)
    assert document["effects"] == [
        {
            "key": f"{STORY}/propose/1",
            "name": "pull.create",
            "state": "deduplicated",
            "ref": "octo/app#7",
            "note": "",
        }
    ]
    assert [(line["n"], line["agent"], line["verdict"]) for line in document["attempts"]] == [
        (1, "autofix", "not_fixed"),
        (2, "autofix", "fixed"),
    ]
    assert document["attempts"][0]["findings"][0]["name"] == "checker_config_touched"
    assert document["proposal"]["number"] == 7
    assert document["triggers"][0]["request_id"] == "r1"
    assert document["reviews"] == [
        {"id": 31, "user": "ann", "state": "CHANGES_REQUESTED", "commit_id": "a" * 40, "is_answered": True}
    ]
    assert document["versions"] == {"workflow": WORKFLOW_VERSION, "verifier": VERIFIER_VERSION}
    used = {"model_calls": 0, "input_tokens": 0, "output_tokens": 0, "micro_usd": 0, "agent_seconds": 0.0}
    assert document["spent"] == {"attempts": 2, "seconds": {"fix": 1.5}, **used}
    kinds = ("model_calls", "tokens", "micro_usd", "seconds")
    assert document["budget"] == {"attempts_remaining": 1} | {f"{kind}_remaining": None for kind in kinds}


async def test_what_agents_used_and_have_left_is_told_to_scripts_and_to_people(sweeps: FakeSweeps) -> None:
    record = await sweeps.show(STORY)
    first, *others = record.state.attempts
    spent = Spent(model_calls=3, input_tokens=1000, output_tokens=500, micro_usd=12_300)
    used = first.model_copy(update={"fix": first.fix.model_copy(update={"spent": spent, "seconds": 1.5})})
    left = Budget(attempts_remaining=1, model_calls_remaining=97, tokens_remaining=1_998_500, micro_usd_remaining=5000)
    told = record.view.checkpoint.model_copy(update={"budget": left})
    view = record.view.model_copy(update={"checkpoint": told})
    state = record.state.model_copy(update={"attempts": (used, *others)})
    report = show_report(record.model_copy(update={"view": view, "state": state}))
    assert (report.spent.model_calls, report.spent.input_tokens, report.spent.micro_usd) == (3, 1000, 12_300)
    assert report.attempts[0].spent == spent.model_copy(update={"seconds": 1.5})
    paper = Console(width=200, file=StringIO())
    paper.print(sweep_story(report))
    assert isinstance(paper.file, StringIO)
    assert (
        "Used 3 model calls, 1,500 tokens, $0.0123, 1.5 s of agents' time; "
        "left: 1 attempt(s), 97 model calls, 1,998,500 tokens, $0.0050."
    ) in paper.file.getvalue()


def test_health_tells_its_parts_and_nothing_else() -> None:
    report = HealthReport(temporal=True, worker=False, version="1", ready=True)
    assert report.model_dump() == {"web": True, "temporal": True, "worker": False, "version": "1"}


def test_times_are_told_with_their_zone() -> None:
    since = datetime(2026, 11, 29, 13, tzinfo=UTC)
    assert json.loads(WorkerLife(alive=True, since=since).model_dump_json())["since"].endswith("Z")
