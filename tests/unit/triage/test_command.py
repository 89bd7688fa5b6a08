"""`sweeper diagnose`: from files and from a GitHub in memory."""

import json
from pathlib import Path

import pytest

from sweeper.cli.diagnose import DiagnosisReport, lines, of_file, of_run
from sweeper.cli.failing_run import RunReader
from sweeper.errors import BadInput
from sweeper.model import Action, Annotation, FailureClass
from tests.support.code_host import FakeCodeHost
from tests.support.code_host_state import FakeJob
from tests.unit.triage.test_reader import actions_log, run_step

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def _file(folder: Path, content: bytes, name: str = "job.log") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_log_is_enough(tmp_path: Path) -> None:
    log = actions_log("Complete job name: test (3.12)", *run_step("pytest", "FAILED a.py::b", exit_code=1))
    found = of_file(_file(tmp_path, log))
    assert (found.job, found.step, found.command) == ("test (3.12)", "Run pytest", "pytest")
    assert (found.failure_class, found.action, found.tests) == (FailureClass.TEST, Action.FIX, ("a.py::b",))


def test_annotations_are_enough(tmp_path: Path) -> None:
    notes = [{"annotation_level": "failure", "message": "The hosted runner lost communication with the server."}]
    found = of_file(_file(tmp_path, json.dumps(notes).encode(), "notes.json"))
    assert (found.failure_class, found.action) == (FailureClass.INFRASTRUCTURE, Action.RERUN_ONCE)


def test_an_empty_log_is_no_evidence(tmp_path: Path) -> None:
    found = of_file(_file(tmp_path, b"\n"))
    assert found.action is Action.TELL_HUMAN
    assert found.reasons[0].startswith("no evidence: ")


def test_a_secret_in_the_log_is_not_shown(tmp_path: Path) -> None:
    log = actions_log(*run_step(f"deploy {TOKEN}", f"FAILED a.py::b - Error: {TOKEN}", exit_code=1))
    assert TOKEN not in of_file(_file(tmp_path, log)).model_dump_json()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("logs.zip", b"PK\x03\x04rest"),
        ("notes.json", b"{"),
        ("notes.json", b'{"message": "no list"}'),
        ("notes.json", b'[{"level": "no message"}]'),
        ("notes.json", b"[" * 100_000),
        ("notes.json", b"\xff\xfe"),
    ],
)
def test_what_is_neither_is_refused_in_one_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(BadInput, match=r"; (?:unpack it and )?give [^\n]*\.$"):
        of_file(_file(tmp_path, content, name))


def test_what_is_not_there_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a directory; give"):
        of_file(tmp_path)
    with pytest.raises(BadInput, match="There is no file"):
        of_file(tmp_path / "none.log")


def test_foreign_text_cannot_steer_a_terminal(tmp_path: Path) -> None:
    found = of_file(
        _file(tmp_path, actions_log(*run_step("pytest", "FAILED a.py::b - \x1b]0;x\x07\x9b2J\u202e", exit_code=1)))
    )
    report = DiagnosisReport.model_validate(found.model_dump(include=set(DiagnosisReport.model_fields)))
    shown = "\n".join(lines(report))
    assert "FAILED a.py::b" in shown
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)


def test_the_document_names_the_class_as_class(tmp_path: Path) -> None:
    found = of_file(_file(tmp_path, b"words"))
    report = DiagnosisReport.model_validate(found.model_dump(include=set(DiagnosisReport.model_fields)))
    assert list(json.loads(report.model_dump_json(by_alias=True))) == [
        "job",
        "step",
        "command",
        "class",
        "action",
        "reasons",
        "error_lines",
        "files",
        "tests",
        "signature",
    ]


RED = actions_log(*run_step("pytest", "FAILED a.py::b", exit_code=1))
LIMIT = Annotation(level="failure", message="The job has exceeded the maximum execution time of 20m0s", path=".github")


async def test_a_run_is_diagnosed_by_its_failing_jobs() -> None:
    github = FakeCodeHost("octo/app", 4711)
    run = github.add_run(jobs=(FakeJob("lint", conclusion="success"), FakeJob("test", log=RED)))
    found = await of_run(RunReader(github), "octo/app", run.run_id)
    assert found is not None
    assert (found.job, found.jobs, found.failure_class) == ("test", ("test",), FailureClass.TEST)
    assert (found.command, found.action) == ("pytest", Action.FIX)


async def test_a_run_whose_log_is_lost_is_diagnosed_by_its_annotations() -> None:
    github = FakeCodeHost("octo/app", 4711)
    lost = FakeJob("test", conclusion="cancelled", steps=(), log=None, annotations=(LIMIT,))
    found = await of_run(RunReader(github), "octo/app", github.add_run(conclusion="cancelled", jobs=(lost,)).run_id)
    assert found is not None
    assert (found.failure_class, found.action) == (FailureClass.INFRASTRUCTURE, Action.RERUN_ONCE)


async def test_a_run_that_passed_has_nothing_to_diagnose_and_one_that_runs_not_yet() -> None:
    github = FakeCodeHost("octo/app", 4711)
    passed = github.add_run(conclusion="success", jobs=(FakeJob("test", conclusion="success"),))
    assert await of_run(RunReader(github), "octo/app", passed.run_id) is None
    with pytest.raises(BadInput, match="has not ended; try again"):
        await of_run(RunReader(github), "octo/app", github.add_run(conclusion=None).run_id)
