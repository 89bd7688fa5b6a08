"""Tests by name: how they are read, kept, and held against those of the untouched tree."""

import pytest

from sweeper.model import FileChange, Severity
from sweeper.policy.proof.collecting import Collection, Listing, listing
from sweeper.policy.proof.comparing import Compared, Expected, compare
from sweeper.policy.proof.names import Names, matched, names_in
from sweeper.policy.proof.removed import Removed, removed_by
from sweeper.policy.proof.reports import End, Report, dotted, read_report

P, S, F = End.PASSED, End.SKIPPED, End.FAILED
ADD, MUL, SUM = (f"tests/test_calc.py::test_{name}" for name in ("add", "mul", "sum"))
LISTED, COUNTED = Collection.LISTED, Collection.COUNTED


def names(
    collected: dict[str, End | None] | None = None, others: dict[str, End] | None = None, **more: object
) -> Names:
    """As after a run in which these were collected."""
    found = collected or {}
    known = {"collection": LISTED, "count": len(found), "collected": found, "others": others or {}, **more}
    return Names.model_validate(known)


def held(before: Names | tuple[Names, ...] | None, after: Names, **more: object) -> Compared:
    known = before if isinstance(before, tuple) else () if before is None else (before,)
    return compare(Expected.model_validate({"check": "test", "before": known, **more}), after)


def told(compared: Compared, severity: Severity = Severity.REJECT) -> list[str]:
    return [finding.name for finding in compared.findings if finding.severity is severity]


RED = names({ADD: F, MUL: P})
GREEN = names({ADD: P, MUL: P})


# Reading


@pytest.mark.parametrize(
    ("node", "name"),
    [
        ("tests/a.py::TestC::TestD::test_m", "tests.a.TestC.TestD.test_m"),
        ("tests/a.py::test_p[a/b.py]", "tests.a.test_p[a/b.py]"),
        ("tests/a.py::test_p[c::d]", "tests.a.test_p[c::d]"),
        ("tests/a.py::test_p[e[f]]", "tests.a.test_p[e[f]]"),
        ("tests/sub.dir/test_x[1].py::test_p[y]", "tests.sub.dir.test_x[1].test_p[y]"),
        ("tests/doc.txt::doc.txt", "tests.doc.txt.doc.txt"),
        ("tests/a.py::test_p[\x07]", "tests.a.test_p[#x07]"),
        ("tests/a.py::test_p[\u00e9]", "tests.a.test_p[\u00e9]"),
    ],
)
def test_a_node_id_is_found_in_the_report_by_the_name_that_pytest_gives_it(node: str, name: str) -> None:
    found = matched(Report(ends={name: P}), Listing(collection=LISTED, count=1, ids=(node,)), b"")
    assert (found.collected, found.others) == ({node: P}, {})
    assert dotted(node) == name


def test_a_bracket_in_a_files_name_is_known_in_the_older_form_too() -> None:
    node = "tests/test_x[1].py::test_p[y]"
    found = matched(Report(ends={"tests.test_x[1].py::test_p[y]": P}), Listing(collection=LISTED, ids=(node,)), b"")
    assert (found.collected, found.others) == ({node: P}, {})


def test_a_report_of_other_names_leaves_both_sides_unmatched() -> None:
    found = matched(Report(ends={"tests.test_calc.test_add@one": P}), Listing(collection=LISTED, ids=(ADD,)), b"")
    assert (found.unmatched, found.renames) == ((ADD,), True)


WARNED = f"""\
{ADD}
{MUL}

=============================== warnings summary ===============================
{ADD}
  something is old

-- Docs: https://docs.pytest.org/
2 tests collected in 0.01s
"""


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (f"{ADD}\n{MUL}\n\n2 tests collected in 0.01s\n", Listing(collection=LISTED, count=2, ids=(ADD, MUL))),
        (WARNED, Listing(collection=LISTED, count=2, ids=(ADD, MUL))),
        (f"{ADD}\nnot::a test\n\n1 test collected in 0.01s\n", Listing(collection=COUNTED, count=1)),
        ("tests/test_calc.py: 2\n\n2 tests collected in 0.01s\n", Listing(collection=COUNTED, count=2)),
        (
            f"{ADD}\n\n1 test collected in 0.0s\n{MUL}\n\n1 test collected in 0.0s\n",
            Listing(collection=LISTED, count=2, ids=(ADD, MUL), sessions=2),
        ),
        (
            f"{ADD}\n\n=== ERRORS ===\n_ ERROR collecting t.py _\n\n1 test collected, 1 error in 0.0s\n",
            Listing(collection=LISTED, count=1, ids=(ADD,)),
        ),
        (f"{ADD}\n\n{MUL}\n\n", Listing(collection=LISTED, count=2, ids=(ADD, MUL), sessions=2)),
        (f"{ADD}\n{MUL}\n\n", Listing(collection=LISTED, count=2, ids=(ADD, MUL))),
        ("nothing of the kind\n", Listing(collection=Collection.NONE)),
    ],
)
def test_what_was_collected_is_listed_only_where_the_tool_says_as_many(output: str, found: Listing) -> None:
    assert listing(output.encode()) == found


def test_names_are_kept_as_a_text_and_read_back() -> None:
    kept = names({ADD: P, MUL: None, "t.py::test_p[a b\u2028c]": S}, {"tests.other": F}, sessions=2, stopped=True)
    assert names_in(kept.text()) == kept
    assert names_in("") is None
    assert names_in("listed 1 1 0\nx") is None


def test_a_run_that_its_tool_stopped_is_known_as_such() -> None:
    said = b"!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!\n1 failed in 0.1s\n"
    assert matched(Report(ends={}), Listing(), said).stopped
    assert not matched(Report(ends={}), Listing(), b"1 failed in 0.1s\n").stopped


def test_many_tests_are_read_and_compared_by_each_name() -> None:
    many = 10_000
    cases = "".join(f'<testcase classname="tests.test_m" name="test_p[{n}]"/>' for n in range(many))
    report = read_report(f"<testsuites><testsuite>{cases}</testsuite></testsuites>".encode())
    assert report is not None
    ids = "\n".join(f"tests/test_m.py::test_p[{n}]" for n in range(many))
    listed = listing(f"{ids}\n\n{many} tests collected in 9.01s\n".encode())
    after = names_in(matched(report, listed, b"").text())
    assert after is not None
    assert (len(after.collected), after.unmatched, report.passed) == (many, (), many)
    assert told(held(after, after)) == []


# Comparing


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (GREEN, []),
        (names({ADD: P, MUL: P, SUM: P}), []),
        (names({SUM: P, MUL: P}), ["failing_test_gone"]),
        (names({ADD: P, SUM: P}), ["test_gone"]),
        (names({ADD: S, MUL: P, SUM: P}), ["failing_test_gone"]),
        (names({ADD: P, MUL: S, SUM: P}), ["test_gone"]),
        (names({ADD: None, MUL: P}, {"tests.test_calc.test_sum": P}), ["failing_test_gone"]),
        (names({ADD: P, MUL: P, SUM: None}), ["report_disagrees"]),
        (names({ADD: P, "tests.py::test_calc::test_mul": P}), ["test_gone"]),
        (names(collection=Collection.NONE, count=None), ["report_disagrees", "failing_test_gone", "test_gone"]),
    ],
)
def test_each_test_that_ran_without_the_change_runs_with_it(after: Names, found: list[str]) -> None:
    assert told(held(RED, after)) == found


SECOND = names(others={"tests.test_calc.test_add": P, "tests.test_calc.test_mul": P}, collection=Collection.NOT_ASKED)


def test_a_run_that_did_not_collect_is_compared_by_its_report() -> None:
    assert told(held(RED, SECOND)) == []
    swapped = {"tests.test_calc.test_sum": P, "tests.test_calc.test_mul": P}
    assert told(held(RED, names(others=swapped, collection=Collection.NOT_ASKED))) == ["failing_test_gone"]


def test_without_another_run_collection_and_report_still_have_to_agree() -> None:
    assert told(held(None, GREEN)) == []
    assert told(held(None, names({ADD: P, MUL: None}))) == ["report_disagrees"]
    short = names(others={"tests.test_calc.test_add": P}, collection=COUNTED, count=2)
    assert told(held(None, short)) == ["report_disagrees"]
    assert told(held(short, short)) == []


def test_a_test_that_the_change_removes_from_its_file_is_shown() -> None:
    before, after = names({ADD: F, MUL: P}), names({SUM: P, MUL: P})
    removed = Removed(paths=("tests/test_calc.py",))
    compared = held(before, after, removed=removed, decides=False)
    assert (told(compared), told(compared, Severity.SHOW)) == ([], ["tests_removed_by_the_change"])
    assert told(held(before, after, removed=Removed(paths=("tests/test_calculator.py",)), decides=False)) != []
    assert told(held(before, after, removed=removed, decides=True)) == ["failing_test_gone"]


def test_a_passing_test_may_go_with_the_class_that_it_was_inherited_from() -> None:
    inherited = "tests/test_calc.py::TestMul::test_old"
    before, after = names({ADD: F, inherited: P}), names({ADD: P, SUM: P})
    assert told(held(before, after)) == ["test_gone"]
    assert told(held(before, after, removed=Removed(names=frozenset({"test_old"})))) == []


def test_cases_of_a_test_may_be_named_anew_but_for_those_that_failed() -> None:
    one, two, three = (f"tests/test_calc.py::test_p[{n}]" for n in range(3))
    compared = held(names({one: F, two: P}), names({one: P, three: P}))
    assert (told(compared), told(compared, Severity.SHOW)) == ([], ["tests_removed_by_the_change"])
    again = {"tests.test_calc.test_p[0]": P, "tests.test_calc.test_p[2]": P}
    assert told(held(names({one: F, two: P}), names(others=again, collection=Collection.NOT_ASKED))) == []
    assert told(held(names({one: F, two: P}), names({two: P, three: P}))) == ["failing_test_gone"]


def test_what_ci_named_must_pass_even_if_it_passed_here() -> None:
    one, two = (f"sub/test_calc.py::test_p[{n}]" for n in range(2))
    before, after = names({one.removeprefix("sub/"): P}), names({two.removeprefix("sub/"): P})
    assert told(held(before, after)) == []
    compared = held(before, after, named=(one,))
    assert told(compared) == ["failing_test_gone"]
    assert any(one in note for note in compared.notes)


def test_a_named_test_that_is_not_seen_to_pass_is_said() -> None:
    compared = held(RED, GREEN, named=("tests/other.py::test_else", ADD))
    assert told(compared) == []
    assert len(compared.notes) == 1
    assert "tests/other.py::test_else" in compared.notes[0]
    assert ADD not in compared.notes[0]


# What the untouched tree shows as well


def test_a_report_that_renames_is_compared_as_reported() -> None:
    before = names({ADD: None, MUL: None}, {"tests.test_calc.test_add@g": F, "tests.test_calc.test_mul@g": P})
    after = names({ADD: None, MUL: None}, {"tests.test_calc.test_add@g": P, "tests.test_calc.test_mul@g": P})
    assert told(held(before, after)) == []
    swapped = names({ADD: None, MUL: None}, {"tests.test_calc.test_sum@g": P, "tests.test_calc.test_mul@g": P})
    assert told(held(before, swapped)) == ["failing_test_gone"]


def test_tests_that_an_early_stop_left_out_have_to_run_with_the_change() -> None:
    before = names({ADD: F, MUL: None}, stopped=True)
    assert told(held(before, GREEN)) == []
    assert told(held(before, names({ADD: P, MUL: None}))) == ["test_gone"]
    assert told(held(before.model_copy(update={"stopped": False}), names({ADD: P, MUL: None}))) == []


def test_several_calls_in_one_step_leave_the_report_of_the_last() -> None:
    before, after = names({ADD: F, MUL: None}, sessions=2), names({ADD: None, MUL: P}, sessions=2)
    compared = held(before, after)
    assert told(compared) == []
    assert any("several times" in note for note in compared.notes)
    assert told(held(before, names({MUL: P}, sessions=2))) == ["failing_test_gone"]
    assert told(held(names({ADD: F, MUL: P}), after)) == ["failing_test_gone"]


def test_a_file_that_could_not_be_collected_is_answered_by_its_tests() -> None:
    before = names({MUL: None}, {"tests.test_calc": F}, stopped=True)
    assert told(held(before, GREEN)) == []
    other = "tests/test_other.py::test_one"
    assert told(held(before, names({other: P}))) == ["failing_test_gone", "test_gone"]


def test_names_that_differ_between_two_runs_of_the_untouched_tree_are_not_asked_for() -> None:
    one, two = (f"tests/test_calc.py::test_at_{n}" for n in (1, 2))
    again = names(others={"tests.test_calc.test_add": F, "tests.test_calc.test_at_2": P})
    compared = held((names({ADD: F, one: P}), again), names({ADD: P, two: P}))
    assert told(compared) == []
    assert any("other names in each run" in note for note in compared.notes)


def test_a_collection_that_took_too_long_is_said_and_not_held_against_a_fix() -> None:
    others = {"tests.test_calc.test_add": P, "tests.test_calc.test_mul": P}
    compared = held(RED, names(others=others, collection=Collection.CUT, count=None))
    assert told(compared) == []
    assert any("took too long" in note for note in compared.notes)


# What a change takes away


def change(path: str, old: str, new: str, **more: str) -> FileChange:
    modes = {"old_mode": "100644" if old else "", "new_mode": "100644"}
    return FileChange.model_validate({"path": path, "old": old.encode(), "new": new.encode(), **modes, **more})


def test_what_a_change_takes_away_is_not_what_it_adds_nor_what_is_put_back() -> None:
    changes = (
        change("a.py", "def one(): pass\n\n\nclass Two: pass\n", "def one(): pass\n"),
        change("new.py", "", "def three(): pass\n"),
        change("back.py", "def four(): pass\n", "x = 1\n"),
        change("moved.py", "async def five(): pass\n", "x = 1\n", old_path="from.py"),
    )
    found = removed_by(changes, ("back.py",))
    assert (found.paths, found.names) == (("a.py", "from.py"), frozenset({"Two", "five"}))
