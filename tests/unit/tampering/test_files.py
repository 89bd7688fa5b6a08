import pytest

from sweeper.model import FailureClass, Severity
from tests.unit.tampering.changes import case, names, of, rejected

TOKEN = "ghp_" + "x1Y2" * 9


@pytest.mark.parametrize(
    ("path", "is_protected"),
    [
        (".github/workflows/ci.yml", True),
        (".github/workflows/nested/ci.yml", True),
        (".GitHub/Workflows/ci.yml", True),
        (".github/actions/setup/action.yml", True),
        (".github/CODEOWNERS", True),
        ("CODEOWNERS", True),
        (".github/sweeper.yml", True),
        ("secure/a/b.py", True),
        (".github/dependabot.yml", False),
        ("docs/.github/workflows/ci.yml", False),
        ("src/app.py", False),
    ],
)
def test_paths_that_decide_how_a_fix_is_judged_are_protected(path: str, is_protected: bool) -> None:
    found = rejected(path, "a: 1\n", "a: 2\n", protected=("/secure/**",))
    assert ("protected_path" in found) is is_protected


def test_a_protected_file_cannot_be_moved_away() -> None:
    old = ".github/workflows/ci.yml"
    moved = case({old: "on: push\n"}, {"ci.txt": "on: push\n"}, moved={"ci.txt": old})
    assert [f.place for f in moved.findings() if f.name == "protected_path"] == [old]


@pytest.mark.parametrize(
    ("target", "severity"),
    [
        ("calc.py", Severity.SHOW),
        ("../calc.py", Severity.SHOW),
        ("../../etc/hosts", Severity.REJECT),
        ("../.git/config", Severity.REJECT),
        ("/etc/hosts", Severity.REJECT),
        ("a/../../../x", Severity.REJECT),
    ],
)
def test_a_link_has_to_stay_in_the_repository(target: str, severity: Severity) -> None:
    found = case({}, {"sub/link": target}, modes={"sub/link": "120000"}).findings()
    assert [f.severity for f in found if f.name == "symlink"] == [severity]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("pytest.py", "shadows_tool"),
        ("src/ruff/__init__.py", "shadows_tool"),
        ("json.py", "shadows_tool"),
        ("black", "shadows_tool"),
        ("bin/mypy", "shadows_tool"),
        ("x.dist-info/METADATA", "shadows_tool"),
        ("sitecustomize.py", "startup_file"),
        ("a.pth", "startup_file"),
        ("node_modules/jest/index.js", "vendored"),
        (".husky/pre-commit", "git_settings"),
        ("calc.py.rej", "scratch_file"),
        ("session-1.jsonl", "scratch_file"),
    ],
)
def test_a_name_that_a_tool_would_take_for_another_is_rejected(path: str, name: str) -> None:
    assert name in rejected(path, None, "x = 1\n")


@pytest.mark.parametrize(
    "path", ["src/app/types.py", "app/json.py", "docs/pytest.md", "tests/test_random.py", "core/a.py"]
)
def test_a_name_deeper_in_a_package_hides_nothing(path: str) -> None:
    assert rejected(path, None, "x = 1\n") == set()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (f"KEY = '{TOKEN}'", "secret"),
        ("a = 1  # \u202e", "hidden_text"),
        ("a\u200b = 1", "hidden_text"),
        ("p\u0430ssword = 1", "hidden_text"),
        ("x = '" + "y" * 3000 + "'", "long_line"),
    ],
)
def test_what_a_reviewer_would_not_see_is_rejected_by_line(line: str, name: str) -> None:
    found = of("a.py", "b = 1\n", f"b = 1\n{line}\n")
    assert [(f.severity, f.place) for f in found if f.name == name] == [(Severity.REJECT, "a.py:2")]


def test_a_secret_is_not_repeated_in_its_finding() -> None:
    assert TOKEN not in repr(of("a.py", "", f"KEY = '{TOKEN}'\n"))


@pytest.mark.parametrize("word", ["Привет", "Grüße", "你好", "naïve", "Ωmega_sum"])
def test_words_of_one_script_are_no_tricks(word: str) -> None:
    expected = {"hidden_text"} if word.startswith("Ω") else set()
    assert rejected("a.py", "", f"text = '{word}'\n") == expected


def test_a_new_configuration_takes_no_place_unless_configuration_failed() -> None:
    assert rejected("ruff.toml", None, "") == {"checker_config_added"}
    found = of("ruff.toml", None, "", failure_class=FailureClass.CONFIGURATION)
    assert "checker_config_added" in names(found, Severity.SHOW)
