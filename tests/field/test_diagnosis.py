"""What went wrong elsewhere when a failure was understood wrongly, as far as the diagnosis prevents it."""

import pytest

from sweeper.model import (
    Action,
    Annotation,
    ArtifactRef,
    Check,
    CheckPlan,
    Diagnosis,
    FailureClass,
    JobEvidence,
)
from sweeper.policy.triage import diagnose, excerpt, failing_script, read_log
from tests.support.values import job, run_facts

STAMP = "2026-07-30T10:55:18.2467887Z "
PLAN = CheckPlan(checks=(Check(name="test", command="pytest", job="test"),), source="workflow file")


def _log(*output: str, script: str = "pytest", exit_code: int = 1) -> bytes:
    header = (f"##[group]Run {script}", f"\x1b[36;1m{script}\x1b[0m", "shell: /usr/bin/bash -e {0}", "##[endgroup]")
    ended = f"##[error]Process completed with exit code {exit_code}."
    return "".join(f"{STAMP}{line}\n" for line in (*header, *output, ended)).encode()


def _failing(name: str = "test", *notes: str, conclusion: str | None = "failure", missing: str = "") -> JobEvidence:
    found = job(name)
    return found.model_copy(
        update={
            "job": found.job.model_copy(update={"conclusion": conclusion}),
            "log": None if missing else ArtifactRef(digest="sha256:0", size=1),
            "log_missing": missing or None,
            "annotations": tuple(Annotation(level="failure", message=note) for note in notes),
        }
    )


def _diagnose(log: bytes | None, plan: CheckPlan = PLAN, evidence: JobEvidence | None = None) -> Diagnosis:
    return diagnose(run_facts(), [evidence or _failing()], [log], plan)


def test_one_cause_in_four_jobs_of_a_matrix_is_one_failure_that_names_all_four() -> None:
    names = [f"test ({version}, ubuntu-latest)" for version in ("3.9", "3.10", "3.11", "3.12")]
    logs = [
        _log(
            f"/opt/hostedtoolcache/Python/{n}/x64/lib/python3.{n}/json/__init__.py:35{n}: TypeError",
            f"FAILED tests/test_a.py::test_one - TypeError: at 0x7fea0d9b948{n} after {n}.2{n}s",
        )
        for n in (9, 1, 2, 3)
    ]
    found = diagnose(run_facts(), [_failing(name) for name in names], logs, PLAN)
    assert found.jobs == tuple(sorted(names))
    assert found.signature == diagnose(run_facts(), [_failing(names[2])], [logs[2]], PLAN).signature
    assert len(found.reasons) == 1
    assert all(name in found.reasons[0] for name in names)


@pytest.mark.parametrize(
    ("conclusion", "action"),
    [
        ("failure", Action.FIX),
        ("timed_out", Action.RERUN_ONCE),
        ("cancelled", Action.TELL_HUMAN),
        ("startup_failure", Action.FIX),
        ("action_required", Action.FIX),
        ("stale", Action.FIX),
        ("neutral", Action.FIX),
        (None, Action.FIX),
        ("invented_in_the_future", Action.FIX),
    ],
)
def test_every_conclusion_of_a_job_leads_to_an_action_and_none_to_silence(conclusion: str, action: Action) -> None:
    found = _diagnose(_log("FAILED a.py::b"), evidence=_failing(conclusion=conclusion))
    assert found.action is action
    assert found.reasons


def test_a_run_that_a_newer_push_cancelled_leads_to_no_fix() -> None:
    log = _log("FAILED a.py::b").replace(b"Process completed with exit code 1.", b"The operation was canceled.")
    found = _diagnose(log, evidence=_failing(conclusion="cancelled"))
    assert (found.failure_class, found.action) == (FailureClass.UNKNOWN, Action.TELL_HUMAN)
    assert "cancelled by a person or a newer push" in found.reasons[0]


def test_a_time_limit_that_shows_as_cancelled_is_not_taken_for_a_person() -> None:
    note = "The job has exceeded the maximum execution time of 20m0s"
    found = _diagnose(None, evidence=_failing("test", note, conclusion="cancelled", missing="404"))
    assert (found.failure_class, found.action) == (FailureClass.INFRASTRUCTURE, Action.RERUN_ONCE)


def test_a_check_of_the_pull_requests_text_is_nobodys_code() -> None:
    found = _diagnose(
        _log('##[error]No release type found in pull request title "Add x".', script="./lint-title"),
        CheckPlan(checks=(Check(name="test", command="./lint-title", job="test"),), source="workflow file"),
    )
    assert (found.failure_class, found.action) == (FailureClass.OUTSIDE_CODE, Action.TELL_HUMAN)


@pytest.mark.parametrize("missing", ["404: not found", "410: gone", "empty"])
def test_without_a_log_nothing_is_changed_at_random(missing: str) -> None:
    note = "Process completed with exit code 1."
    found = _diagnose(None, evidence=_failing("test", note, missing=missing))
    assert (found.failure_class, found.action) == (FailureClass.UNKNOWN, Action.TELL_HUMAN)
    assert found.reasons[0].startswith("no evidence: ")
    assert missing in found.reasons[0]


def test_a_check_that_the_operator_names_needs_no_log() -> None:
    plan = CheckPlan(checks=(Check(name="check 1", command="pytest"),), source="operator's checks")
    assert _diagnose(None, plan, _failing(missing="410: gone")).action is Action.FIX


def test_the_error_in_the_middle_of_a_long_log_is_in_the_excerpt_and_what_is_cut_is_said() -> None:
    noise = f"{STAMP}downloading something\n".encode() * 40_000
    error = f"{STAMP}FAILED tests/test_a.py::test_one - KeyError: 'x'\n".encode()
    log = noise + _log("x").replace(b"\n", b"\n" + error, 4) + noise
    shown = excerpt(log)
    assert len(shown) <= 4096
    assert error in shown
    assert shown.count(b"bytes cut") == 2


def test_the_exit_code_decides_not_the_word_failed() -> None:
    passed = (
        f"{STAMP}##[group]Run lint\n{STAMP}##[endgroup]\n{STAMP}FAILED tests/x.py::y\n{STAMP}1 failed in 1s\n".encode()
    )
    log = passed + _log("0 failed", "100 passed in 2s", "coverage is too low")
    assert failing_script(log, None) == "pytest"
    found = _diagnose(log)
    assert found.tests == ()
    assert found.failure_class is FailureClass.TEST
    step = read_log([log]).failing_step()
    assert step is not None
    assert step.exit_code == 1
