"""Tables applied: what came against what went, code against strings and comments, tests against product."""

import pytest

from sweeper.model import Severity
from sweeper.policy.tampering.seen import parts_of
from tests.unit.tampering.changes import case, names, of, rejected


def test_python_is_taken_apart_into_comments_and_code() -> None:
    parts = parts_of("x = f('a # b')  # why\n\n\nif x:\n    y = 'z'\n")
    assert parts is not None
    comments, code = parts
    assert comments == {1: "# why"}
    assert {line: text.rstrip() for line, text in code.items() if text.strip()} == {
        1: "x = f('')",
        4: "if x:",
        5: "    y = ''",
    }


@pytest.mark.parametrize("text", ["x = (", '"""', "  x\n y"])
def test_what_cannot_be_taken_apart_is_looked_at_as_it_is(text: str) -> None:
    assert parts_of(f"{text}\n# noqa\n") is None
    assert "lint_ignore" in rejected("a.py", "x = 1\n", f"{text}\n# noqa\n")


@pytest.mark.parametrize(
    ("line", "name"),
    [("@pytest.mark.skip", "skip_added"), ("os._exit(0)", "early_exit"), ("import _pytest", "machinery_patched")],
)
def test_a_word_counts_in_code_and_not_in_a_string_or_a_comment(line: str, name: str) -> None:
    assert name in rejected("tests/test_a.py", "x = 1\n", f"x = 1\n{line}\ndef f(): ...\n")
    assert name not in rejected("tests/test_a.py", "x = 1\n", f"x = {line!r}\n")
    assert name not in rejected("tests/test_a.py", "x = 1\n", f"x = 1\n# {line}\n")


def test_a_suppression_that_moved_to_another_file_is_shown_and_one_more_is_rejected() -> None:
    moved = case({"a.py": "import x  # noqa: F401\n", "b.py": ""}, {"a.py": "", "b.py": "import x  # noqa: F401\n"})
    more = case({"a.py": "import x  # noqa: F401\n"}, {"a.py": "import x  # noqa: F401\nimport y  # noqa: F401\n"})
    assert (moved.rejected_for(), more.rejected_for()) == (set(), {"lint_ignore"})
    assert "suppression_changed" in names(moved.findings(), Severity.SHOW)


def test_one_that_names_its_rule_may_not_become_one_for_everything() -> None:
    assert rejected("a.py", "import x  # noqa: F401\n", "import x  # noqa\n") == {"lint_ignore"}


@pytest.mark.parametrize(("path", "severity"), [("src/main.js", Severity.SHOW), ("src/main.test.js", Severity.REJECT)])
def test_a_product_may_end_its_process_and_a_test_may_not(path: str, severity: Severity) -> None:
    found = of(path, "f();\n", "f();\nprocess.exit(0);\n")
    assert {f.severity for f in found if f.name in ("early_exit", "exit_in_product")} == {severity}


@pytest.mark.parametrize(
    ("path", "command", "severity"),
    [
        ("deploy/clean.sh", "pytest", Severity.SHOW),
        ("deploy/clean.sh", "sh deploy/clean.sh", Severity.REJECT),
        ("ci/test.sh", "make test", Severity.REJECT),
        ("Makefile", "pytest", Severity.REJECT),
    ],
)
def test_a_script_may_hide_an_exit_code_only_where_no_check_calls_it(
    path: str, command: str, severity: Severity
) -> None:
    found = of(path, "rm x\n", "rm x || true\n", command=command)
    assert {f.severity for f in found if f.name == "exit_code_hidden"} == {severity}
