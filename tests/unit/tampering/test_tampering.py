"""The whole of it: order, bounds, and that nothing can make it fail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sweeper.policy.tampering as package
from sweeper.model import FileChange, Limits, Severity
from sweeper.policy.tampering import MOST_FILES, MOST_OF_A_NAME, tampering
from tests.security.cheats import CHEATS
from tests.security.honest import HONEST
from tests.unit.tampering.changes import case, names, of

PATHS = ("a.py", "tests/test_a.py", "conftest.py", "ruff.toml", "package.json", "a.test.ts", "Makefile", "x_test.go")


@pytest.mark.parametrize(
    ("size", "places"),
    [
        ({"files_changed": 2, "lines_changed": 10, "bytes_changed": 100}, []),
        ({"files_changed": 3}, ["files"]),
        ({"lines_changed": 11}, ["lines"]),
        ({"bytes_changed": 101}, ["bytes"]),
        ({"files_changed": 3, "lines_changed": 11, "bytes_changed": 101}, ["bytes", "files", "lines"]),
    ],
)
def test_a_change_over_a_limit_is_rejected_by_name(size: dict[str, int], places: list[str]) -> None:
    change = case({}, {})
    exam = change.exam().model_copy(update={"limits": Limits(files=2, lines=10, bytes=100)})
    found = tampering((), change.patch().model_copy(update=size), exam)
    assert [(f.name, f.place, f.severity) for f in found] == [
        ("diff_too_large", place, Severity.REJECT) for place in places
    ]


def test_findings_are_the_same_whatever_the_order_of_files() -> None:
    change = case({"a.py": "x = 1\n"}, {"a.py": "x = 1  # noqa\n", "pytest.py": "", "b.py": "import os; os._exit(0)\n"})
    found = tampering(change.changes(), change.patch(), change.exam())
    assert found == tampering(change.changes()[::-1], change.patch(), change.exam())
    assert [f.name for f in found] == sorted(f.name for f in found)


def test_what_rejects_comes_first() -> None:
    found = of(
        "tests/test_a.py",
        "def test_a():\n    assert f() == 1\n",
        "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    assert f() == 2\n",
    )
    assert [f.severity for f in found] == sorted((f.severity for f in found), key=lambda s: s is Severity.SHOW)


def test_many_findings_of_a_name_are_cut_and_counted() -> None:
    text = "".join(f"import m{n}  # noqa\n" for n in range(30))
    found = [f for f in of("a.py", "", text) if f.name == "lint_ignore"]
    assert len(found) == MOST_OF_A_NAME
    assert ["more)" in f.detail for f in found] == [False] * (MOST_OF_A_NAME - 1) + [True]


def test_of_a_change_of_far_too_many_files_only_some_are_looked_at_the_same_in_any_order() -> None:
    change = case({}, {f"{n:04}.rej": "x\n" for n in range(1000)})
    found = tampering(change.changes(), change.patch(), change.exam())
    assert "diff_too_large" in names(found, Severity.REJECT)
    left_over = [finding for finding in found if finding.name == "scratch_file"]
    assert left_over[-1].detail.endswith(f"(and {MOST_FILES - MOST_OF_A_NAME} more)")
    assert found == tampering(change.changes()[::-1], change.patch(), change.exam())
    allowed = change.exam().model_copy(update={"limits": Limits(files=2000, lines=9000)})
    assert "(and 992 more)" in tampering(change.changes(), change.patch(), allowed)[-1].detail


@given(st.sampled_from(PATHS), st.binary(max_size=400), st.binary(max_size=400))
def test_no_bytes_can_make_it_fail(path: str, before: bytes, after: bytes) -> None:
    change = FileChange(path=path, old_mode="100644", new_mode="100644", old=before, new=after)
    told = case({}, {})
    found = tampering((change,), told.patch(), told.exam())
    assert all(f.place.startswith(path) for f in found)


@pytest.mark.parametrize("path", ["a.py", "tests/test_a.py"])
def test_code_too_deep_to_be_read_is_a_finding_and_no_crash(path: str) -> None:
    deep = "assert " + "not " * 5_000 + "x\n"
    assert names(of(path, "x = 1\n", deep)) & {"cannot_be_judged", "not_python", "tests_unreadable"}


def test_a_file_that_was_not_read_is_rejected() -> None:
    change = FileChange(path="big.py", old_mode="100644", new_mode="100644", is_cut=True)
    told = case({}, {})
    assert [f.name for f in tampering((change,), told.patch(), told.exam())] == ["too_large_to_judge"]


@pytest.mark.slow
def test_every_finding_is_explained_in_the_package() -> None:
    found = {name for entry in (*CHEATS, *HONEST) for name in names(entry.findings())}
    explained = package.__doc__ or ""
    assert [name for name in sorted(found) if name not in explained] == []


def test_the_default_limits_are_the_documented_ones() -> None:
    assert Limits() == Limits(files=20, lines=500, bytes=1_000_000)
