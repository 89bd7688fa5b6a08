"""`sweeper diagnose`: what failed, by a log or annotations at hand or by a run on GitHub. Reads only; runs nothing."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import Field, TypeAdapter, ValidationError

from sweeper.cli.command import JsonOption, people, results, run
from sweeper.config import load_settings, prepare_state_dir
from sweeper.errors import BadInput
from sweeper.model import (
    Action,
    Annotation,
    Background,
    CheckPlan,
    Diagnosis,
    FailureClass,
    JobEvidence,
    JobFacts,
    RunFacts,
    RunRef,
    Strict,
    Wire,
)
from sweeper.model.run import FAILING_CONCLUSIONS

if TYPE_CHECKING:  # loaded by the command that needs it
    from sweeper.ports import CodeHost

MOST_BYTES = 256 * 1024 * 1024
_ZIP = b"PK\x03\x04"


class DiagnosisReport(Strict):
    """What `diagnose --json` writes."""

    job: str
    step: str
    command: str
    failure_class: FailureClass = Field(serialization_alias="class")
    action: Action
    reasons: tuple[str, ...]
    error_lines: tuple[str, ...]
    files: tuple[str, ...]
    tests: tuple[str, ...]
    signature: str


class _Note(Wire):
    """An annotation as GitHub's REST API has it."""

    message: str
    annotation_level: str = "failure"
    path: str = ""
    start_line: int | None = None
    title: str | None = None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("diagnose")(diagnose)


def diagnose(
    source: Annotated[
        str,
        typer.Argument(metavar="LOGFILE|OWNER/REPO", help="A job's log, its annotations as .json, or a repository."),
    ],
    run_id: Annotated[int | None, typer.Argument(metavar="[RUN_ID]", min=1, help="A failed run on GitHub.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what failed, of what class, and why; a LOGFILE needs no login."""
    if run_id is None:
        run(_file(Path(source), as_json), as_json)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", source):
        raise typer.BadParameter(f"{source!r} is no repository; write OWNER/REPO", param_hint="OWNER/REPO")
    run(_run_of(source, run_id or 0, as_json), as_json)


async def _file(path: Path, as_json: bool) -> int:
    return _tell(of_file(path), as_json)


async def _run_of(repository: str, run_id: int, as_json: bool) -> int:
    from sweeper.cli.composition import code_host

    settings = load_settings()
    host = code_host(settings, prepare_state_dir(settings))
    try:
        found = await of_run(host, repository, run_id)
    finally:
        host.close()
    if found is None:
        people.print(f"Nothing failed in run {run_id}; there is nothing to diagnose.", markup=False)
        if as_json:
            sys.stdout.write("null\n")
        return 0
    return _tell(found, as_json)


def of_file(path: Path) -> Diagnosis:
    """What one job's log tells, or, of a `.json` file, its annotations. Raises BadInput for what is neither."""
    from sweeper.policy.redaction import redact
    from sweeper.policy.triage import diagnose as decide
    from sweeper.policy.triage import read_log

    content = _content(path)
    if path.suffix == ".json":
        job = JobEvidence(
            job=JobFacts(id=0, name=""), log_missing="only annotations", annotations=_notes(path, content)
        )
        return decide(_nothing_but_a_file(), [job], [None], CheckPlan())
    log = redact(content)
    missing = None if log.strip() else "the file is empty"
    job = JobEvidence(job=JobFacts(id=0, name=read_log([log]).name), log_missing=missing)
    return decide(_nothing_but_a_file(), [job], [None if missing else log], CheckPlan())


async def of_run(host: "CodeHost", repository: str, run_id: int) -> Diagnosis | None:
    """What a sweep would say of a run; None: no job of it failed. Raises what the host raises."""
    from sweeper.policy.redaction import redact
    from sweeper.policy.triage import diagnose as decide

    facts = await host.find_run(repository, run_id)
    if facts.conclusion is None:
        raise BadInput(f"Run {run_id} of {repository} has not ended; try again when it has.")
    failing = [job for job in await host.read_jobs(facts.run) if _has_failed(job, facts)]
    if not failing and not facts.has_failed:
        return None
    jobs: list[JobEvidence] = []
    logs: list[bytes | None] = []
    for job in failing:
        said = await host.read_log(facts.run, job.id)
        notes = await host.read_annotations(facts.run, job.id)
        jobs.append(JobEvidence(job=job, log_missing=None if said.text else said.missing or "empty", annotations=notes))
        logs.append(redact(said.text) if said.text else None)
    background = await _background(host, facts, {job.name for job in failing})
    return decide(facts, jobs, logs, await _plan(host, facts, jobs, logs), background)


async def _plan(
    host: "CodeHost", facts: RunFacts, jobs: Sequence[JobEvidence], logs: Sequence[bytes | None]
) -> CheckPlan:
    """The plan that a sweep would make, because the action depends on whether there is a check."""
    from sweeper.policy.planning import check_plan
    from sweeper.policy.repository_config import CONFIG_PATH, read_config
    from sweeper.policy.triage import failing_script

    config = read_config(await host.default_branch_file(facts.run.repository, CONFIG_PATH))
    workflow = None
    if facts.workflow_path:
        workflow = await host.read_file(facts.run.repository, facts.workflow_path, facts.head_sha)
    steps = [evidence.job.failing_step() for evidence in jobs]
    scripts = [
        failing_script(log, step.name if step else None) if log else None for log, step in zip(logs, steps, strict=True)
    ]
    return check_plan(jobs, scripts, workflow, facts, config)


async def _background(host: "CodeHost", facts: RunFacts, failing: set[str]) -> Background:
    history = await host.read_history(facts)
    on_head = history.head_failing_jobs
    return Background(
        head_fails_alike=None if on_head is None else bool(failing & {*on_head}),
        green_attempts=history.green_attempts,
        last_green=history.last_green,
        red_since=history.last_green_at,
        commits_since_green=history.commits_since[-20:],
    )


def _has_failed(job: JobFacts, facts: RunFacts) -> bool:
    return job.conclusion in FAILING_CONCLUSIONS or (facts.conclusion == "cancelled" and job.conclusion == "cancelled")


def _nothing_but_a_file() -> RunFacts:
    """A log does not say of which run it is: the first attempt of some failed run."""
    return RunFacts(
        run=RunRef(repository="", repository_id=0, run_id=0),
        status="completed",
        conclusion="failure",
        event="push",
        head_sha="",
        head_branch=None,
        created_at=datetime.now(UTC),
    )


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise BadInput(f"{path} is a directory; give the log of one job, or OWNER/REPO and a run id.")
    if not path.is_file():
        raise BadInput(f"There is no file {path}; give the log of one job, or OWNER/REPO and a run id.")
    with path.open("rb") as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise BadInput(f"{path} has more than {MOST_BYTES >> 20} MiB; cut it to the steps round the failing one.")
    if content.startswith(_ZIP):
        raise BadInput(f"{path} is a zip archive; unpack it and give the log of one job.")
    return content


def _notes(path: Path, content: bytes) -> tuple[Annotation, ...]:
    from sweeper.policy.redaction import redact_text

    try:
        read: object = json.loads(content)
        found = TypeAdapter(list[_Note]).validate_python(read)
    except (ValueError, RecursionError, ValidationError) as problem:
        raise BadInput(f"{path} is no list of annotations as GitHub's API gives it; give that, or a log.") from problem
    return tuple(
        Annotation(
            level=note.annotation_level,
            message=redact_text(note.message)[:1000],
            path=note.path,
            line=note.start_line,
            title=note.title or "",
        )
        for note in found[:100]
    )


def _tell(found: Diagnosis, as_json: bool) -> int:
    report = DiagnosisReport.model_validate(found.model_dump(include=set(DiagnosisReport.model_fields)))
    if as_json:
        sys.stdout.write(report.model_dump_json(by_alias=True) + "\n")
    else:
        for line in lines(report):
            results.print(line, markup=False, soft_wrap=True)
    return 0


def lines(report: DiagnosisReport) -> Iterator[str]:
    """The diagnosis for people; what would steer a terminal is left out of foreign text."""
    yield _harmless(f"{report.failure_class}: {report.action.replace('_', ' ')}")
    for label, text in (("job", report.job), ("step", report.step), ("command", report.command)):
        if text:
            yield _harmless(f"  {label:<9} " + text.replace("\n", "\n            "))
    rows = (("why", report.reasons), ("said", report.error_lines), ("files", report.files), ("tests", report.tests))
    for label, texts in rows:
        yield from (_harmless(f"  {label if n == 0 else '':<9} {text}") for n, text in enumerate(texts))
    yield f"  {'signature':<9} {report.signature}"


def _harmless(text: str) -> str:
    return "".join(char for char in text if char.isprintable() or char == "\n")
