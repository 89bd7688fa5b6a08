import pytest

from sweeper.model import FailureClass, Severity
from sweeper.policy.tampering.values import by_flag, by_line, read
from tests.unit.tampering.changes import names, of, rejected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("ruff.toml", '[lint]\nselect = ["E", "F"]\n'),
        ("x.json", '{"lint": {"select": ["E", "F"]}}'),
        ("x.yml", "lint:\n  select: [E, F]\n"),
    ],
)
def test_settings_of_every_format_have_the_same_keys(path: str, text: str) -> None:
    assert read(path, text) == {"lint.select": ("E", "F")}


def test_tables_in_a_list_are_told_apart_by_their_names() -> None:
    text = "hooks:\n  - id: a\n    args: [x]\n  - id: b\n"
    assert read("x.yml", text) == {"hooks.a.id": "a", "hooks.a.args": ("x",), "hooks.b.id": "b"}


@pytest.mark.parametrize("text", ["[[[", '{"a": ', "a: [", "a: &x [1]\nb: *x\n", "x" * 2_000_000])
def test_what_cannot_be_read_is_no_value(text: str) -> None:
    assert read("x.yml", text) is None or read("x.toml", text) is None


def test_code_and_commands_are_read_by_line() -> None:
    assert by_line("lines: 90,\n'no-var': 'off'\n") == {"lines": "90", "rules.no-var": "off"}
    assert by_line("a: ['x', 'y']\na: 1\n") == {"a": ("x", "y"), "2.a": "1"}
    assert by_flag("pytest --cov-fail-under=80 && eslint --max-warnings 0") == {
        "cov-fail-under": "80",
        "max-warnings": "0",
    }


@pytest.mark.parametrize(
    ("path", "before", "after", "name"),
    [
        ("mypy.ini", "[mypy]\nstrict = true\n", "[mypy]\nstrict = false\n", "strictness_off"),
        ("mypy.ini", "[mypy]\n", "[mypy]\nfollow_imports = skip\n", "strictness_off"),
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = --ignore=tests/a\n", "tests_deselected"),
        ("pytest.ini", "[pytest]\nfilterwarnings = error\n", "[pytest]\n", "lint_ignore"),
        ("pytest.ini", "[pytest]\naddopts = --strict-markers\n", "[pytest]\n", "checks_narrowed"),
        ("ruff.toml", "line-length = 88\n", "line-length = 200\n", "threshold_lowered"),
        ("ruff.toml", "", "line-length = 400\n", "threshold_lowered"),
        ("tox.ini", "[coverage:report]\nfail_under = 9\n", "[coverage:report]\n", "threshold_lowered"),
        ("pyrightconfig.json", '{"typeCheckingMode": "strict"}', '{"typeCheckingMode": "off"}', "strictness_off"),
        ("clippy.toml", "max-x = 1\n", "max-x = 9\n", "threshold_lowered"),
        ("Makefile", "t:\n\tpytest --cov-fail-under=80\n", "t:\n\tpytest --cov-fail-under=8\n", "threshold_lowered"),
    ],
)
def test_what_asks_for_less_is_rejected_also_where_configuration_failed(
    path: str, before: str, after: str, name: str
) -> None:
    assert name in rejected(path, before, after)
    assert name in rejected(path, before, after, failure_class=FailureClass.CONFIGURATION)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("mypy.ini", "[mypy]\nstrict = false\n", "[mypy]\nstrict = true\n"),
        ("ruff.toml", "line-length = 200\n", "line-length = 100\n"),
        ("ruff.toml", 'ignore = ["A", "B"]\n', 'ignore = ["A"]\n'),
        ("ruff.toml", 'select = ["E"]\n', 'select = ["E", "F"]\n'),
        (".coveragerc", "[report]\nfail_under = 80\n", "[report]\nfail_under = 90\n"),
    ],
)
def test_what_asks_for_more_is_shown(path: str, before: str, after: str) -> None:
    assert rejected(path, before, after, failure_class=FailureClass.LINT) == set()
    assert "checker_config_changed" in names(of(path, before, after), Severity.SHOW)


def test_a_checkers_table_in_a_manifest_is_part_of_the_exam() -> None:
    before, after = "[tool.mypy]\nplugins = []\n", "[tool.mypy]\nplugins = []\nodd = 1\n"
    assert rejected("pyproject.toml", before, after) == {"checker_config_changed"}
    assert rejected("pyproject.toml", before, after, failure_class=FailureClass.CONFIGURATION) == set()


def test_a_key_may_move_to_an_inner_table_where_configuration_failed() -> None:
    before, after = 'select = ["E"]\n', '[lint]\nselect = ["E"]\n'
    assert rejected("ruff.toml", before, after) == {"checks_narrowed"}
    assert rejected("ruff.toml", before, after, failure_class=FailureClass.CONFIGURATION) == set()
