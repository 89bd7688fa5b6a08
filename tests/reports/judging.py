"""Asking the diagnosis about a saved log, as a run of one failing job, and holding the answer against the truth."""

from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from sweeper.model import CheckPlan, Diagnosis, JobEvidence, JobFacts, RunFacts, RunRef
from sweeper.policy.triage import diagnose
from tests.reports.truth import Truth

WHEN = datetime(2026, 9, 1, 12, tzinfo=UTC)


class Judged(BaseModel):
    """A log, what the diagnosis says of it, and where that is not the truth."""

    log: str
    job: str
    step: str
    failure_class: str
    action: str
    error_lines: tuple[str, ...]
    files: tuple[str, ...]
    tests: tuple[str, ...]
    signature: str
    wrong: tuple[str, ...]


def saved_log(root: Path, truth: Truth) -> bytes | None:
    """The log as it is stored; None for what is known from notes alone."""
    return None if truth.annotations else (root / "logs" / f"{truth.log}.log").read_bytes()


def answer(truth: Truth, log: bytes | None, *, run_id: int = 1, job: str = "") -> Diagnosis:
    """What the diagnosis says of the log, were it the only failing job of a run."""
    facts = RunFacts(
        run=RunRef(repository="acme/app", repository_id=1, run_id=run_id),
        status="completed",
        conclusion=truth.conclusion,
        event="push",
        workflow_name="ci",
        workflow_path=".github/workflows/ci.yml",
        head_sha=f"{run_id:040x}",
        head_branch="main",
        created_at=WHEN,
    )
    failing = JobFacts(id=run_id, name=job or truth.job or "job", conclusion=truth.conclusion, steps=truth.steps)
    evidence = JobEvidence(
        job=failing, log_missing=None if log else "the log was not found", annotations=truth.annotations
    )
    return diagnose(facts, [evidence], [log], CheckPlan())


def judge(truth: Truth, log: bytes | None) -> Judged:
    """One row of the report."""
    said = answer(truth, log)
    return Judged(
        log=truth.title,
        job=said.job,
        step=said.step,
        failure_class=said.failure_class,
        action=said.action,
        error_lines=said.error_lines,
        files=said.files,
        tests=said.tests,
        signature=said.signature,
        wrong=tuple(_wrong(truth, said)),
    )


def _wrong(truth: Truth, said: Diagnosis) -> list[str]:
    """Where the answer differs, a phrase each."""
    wrong = [
        f"{what} is {found!r}, not {right!r}"
        for what, found, right in (
            ("class", said.failure_class.value, truth.failure_class.value),
            ("action", said.action.value, truth.action.value),
            ("step", said.step, truth.step),
            ("job", said.job, truth.job or "job"),
        )
        if found != right
    ]
    everything = "\n".join(said.error_lines)
    wrong += [f"no error line has {line!r}" for line in truth.lines if line not in everything]
    wrong += [f"an error line has {line!r}" for line in truth.not_lines if line in everything]
    wrong += [f"file {file!r} was not found" for file in truth.files if file not in said.files]
    wrong += [f"test {test!r} was not found" for test in truth.tests if test not in said.tests]
    return wrong
