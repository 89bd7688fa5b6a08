"""The report is only worth something if a wrong answer makes it red."""

from dataclasses import replace
from pathlib import Path

from sweeper.model import Action, FailureClass
from tests.reports.diagnosis import Report, markdown, report, unjudged
from tests.reports.judging import judge
from tests.reports.truth import Truth

LOG = b"##[group]Run ruff check\n##[endgroup]\napp/a.py:1:8: F401 [*] `os` imported but unused\n"
END = b"##[error]Process completed with exit code 1.\n"
TRUTH = Truth(
    "made_up", FailureClass.LINT, Action.FIX, "Run ruff check", ("F401",), "an unused import", files=("app/a.py",)
)


def test_a_right_answer_has_nothing_wrong() -> None:
    assert judge(TRUTH, LOG + END).wrong == ()


def test_each_part_of_an_answer_is_held_against_the_truth() -> None:
    wrong = {
        "class": replace(TRUTH, failure_class=FailureClass.TEST),
        "action": replace(TRUTH, action=Action.WAIT),
        "step": replace(TRUTH, step="Run mypy"),
        "no error line": replace(TRUTH, lines=("E501",)),
        "an error line": replace(TRUTH, not_lines=("F401",)),
        "file": replace(TRUTH, files=("app/b.py",)),
        "test": replace(TRUTH, tests=("tests/test_a.py::test_b",)),
    }
    for part, truth in wrong.items():
        found = judge(truth, LOG + END).wrong
        assert len(found) == 1
        assert found[0].startswith(part)


def test_without_saved_logs_there_is_nothing_to_report(tmp_path: Path) -> None:
    assert report(tmp_path) == Report()


def test_a_saved_log_that_nobody_has_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "99_new.log").write_bytes(LOG)
    assert unjudged(tmp_path) == ["99_new.log"]


def test_a_wrong_row_is_told_with_what_is_wrong_about_it() -> None:
    row = judge(replace(TRUTH, action=Action.WAIT), LOG + END)
    told = markdown(Report(rows=(row,), passed=0, failed=1))
    assert "NO: action is 'fix', not 'wait'" in told
    assert "0 of 1 as a person reads them." in told
