"""`sweeper diagnose`: what failed, by a log or annotations at hand or by a run on GitHub. Reads only; runs nothing."""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field, TypeAdapter, ValidationError

from sweeper.cli.command import JsonOption, people, results, run
from sweeper.cli.failing_run import RunReader, harmless, require_repository, with_reader
from sweeper.errors import BadInput
from sweeper.model import (
    Action,
    Annotation,
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
    require_repository(source)
    run(_run_of(source, run_id or 0, as_json), as_json)


async def _file(path: Path, as_json: bool) -> int:
    return _tell(of_file(path), as_json)


async def _run_of(repository: str, run_id: int, as_json: bool) -> int:
    found = await with_reader(lambda reader: of_run(reader, repository, run_id))
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


async def of_run(reader: RunReader, repository: str, run_id: int) -> Diagnosis | None:
    """What a sweep would say of a run; None: no job of it failed. Raises what the host raises."""
    failing = await reader.failing(repository, run_id)
    if not failing.jobs and not failing.facts.has_failed:
        return None
    return (await reader.understood(failing)).diagnosis


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
    yield harmless(f"{report.failure_class}: {report.action.replace('_', ' ')}")
    for label, text in (("job", report.job), ("step", report.step), ("command", report.command)):
        if text:
            yield harmless(f"  {label:<9} " + text.replace("\n", "\n            "))
    rows = (("why", report.reasons), ("said", report.error_lines), ("files", report.files), ("tests", report.tests))
    for label, texts in rows:
        yield from (harmless(f"  {label if n == 0 else '':<9} {text}") for n, text in enumerate(texts))
    yield f"  {'signature':<9} {report.signature}"
