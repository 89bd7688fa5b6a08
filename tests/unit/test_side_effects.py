"""What a job's commands wrote besides: what judges is never theirs to write, what they always write is no news."""

import pytest

from adapters.sandbox.layout import WORK_AT
from sweeper.model import Check, CheckPlan, FailureClass, Finding, PlanStep, Severity, Touched
from sweeper.policy.proof.side_effects import MOST_SHOWN, SideEffects, side_effect_findings
from sweeper.policy.tampering import Exam
from tests.support.values import diagnosis

STEPS = (
    PlanStep(name="Set", command='echo "PYTHONPATH=src" >>"$GITHUB_ENV"; echo "$HOME/.local/bin" >>"$GITHUB_PATH"'),
)
CHECK = Check(name="test", command="make test && sh ci/run.sh >docs/badge.svg", before=STEPS)
FAILING = diagnosis(tests=("tests/test_app.py::test_answer",), failure_class=FailureClass.TEST)


def found(effects: SideEffects, failure_class: FailureClass = FailureClass.TEST) -> tuple[Finding, ...]:
    failing = FAILING.model_copy(update={"failure_class": failure_class})
    return side_effect_findings(effects, CHECK, Exam(plan=CheckPlan(checks=(CHECK,)), diagnosis=failing))


def rejected(effects: SideEffects) -> list[str]:
    return [finding.place for finding in found(effects) if finding.severity is Severity.REJECT]


JUDGES = ["tests/test_other.py", "conftest.py", "pytest.ini", "pyproject.toml", "Makefile", "ci/run.sh"]
OTHERS = ["app.py", "docs/badge.svg", "tests/data.json", "src/lib.rs"]


@pytest.mark.parametrize("path", JUDGES)
def test_what_judges_may_not_be_written_even_if_it_is_put_back(path: str) -> None:
    assert rejected(SideEffects(touched=Touched(changed=(path,)))) == [path]
    assert rejected(SideEffects(touched=Touched(rewritten=(path,)))) == [path]


@pytest.mark.parametrize("path", OTHERS)
def test_other_files_are_shown_if_they_are_other_than_they_were(path: str) -> None:
    shown = found(SideEffects(touched=Touched(changed=(path,))))
    assert [(finding.place, finding.severity) for finding in shown] == [(path, Severity.SHOW)]
    assert found(SideEffects(touched=Touched(rewritten=(path,), added=("new.txt",)))) == ()


@pytest.mark.parametrize("path", ["tests/conftest.py", "pytest.ini", "setup.cfg", "GNUmakefile", "lib/a.pth"])
def test_new_files_that_tools_look_for_by_name_take_part(path: str) -> None:
    assert rejected(SideEffects(touched=Touched(added=(path,)))) == [path]


def test_new_tests_and_reports_take_nothing_away() -> None:
    assert found(SideEffects(touched=Touched(added=("tests/test_made.py", "docs/badge.svg", "report.xml")))) == ()


def test_many_files_are_told_as_few() -> None:
    shown = found(SideEffects(touched=Touched(changed=tuple(f"out/{n}.txt" for n in range(40)))))
    assert len(shown) == MOST_SHOWN
    assert shown[-1].detail.endswith("(and 35 more)")


def test_what_the_untouched_tree_does_as_well_is_not_held_against_a_change() -> None:
    usual = SideEffects(
        touched=Touched(changed=("conftest.py",), rewritten=("pytest.ini",), added=("setup.cfg",)),
        env={"PYTHONHOME": "/a"},
        path=("/tool/bin",),
    )
    assert found(usual.without(usual)) == ()
    assert rejected(usual.without(SideEffects(env={"PYTHONHOME": "/b"}))) == [
        *("conftest.py", "pytest.ini", "setup.cfg"),
        *("PYTHONHOME", "/tool/bin"),
    ]


def test_what_commands_of_the_plan_set_themselves_steers_nothing() -> None:
    assert found(SideEffects(env={"PYTHONPATH": "src", "VERSION": "1.2"}, path=("/sweeper/home/.local/bin",))) == ()
    assert rejected(SideEffects(env={"PYTEST_ADDOPTS": "-k mul"}, path=(f"{WORK_AT}/lib",))) == [
        *("PYTEST_ADDOPTS", f"{WORK_AT}/lib")
    ]


def test_a_variable_is_set_by_a_command_only_where_it_is_assigned_there() -> None:
    assert rejected(SideEffects(env={"PATH": "/evil", "ENV": "x"})) == ["PATH", "ENV"]


def test_where_settings_failed_a_script_that_sets_them_is_shown() -> None:
    steered = SideEffects(env={"PYTEST_ADDOPTS": "-k mul"})
    assert [one.severity for one in found(steered, FailureClass.CONFIGURATION)] == [Severity.SHOW]
