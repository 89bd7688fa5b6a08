import pytest

from sweeper.model import Limits, Severity
from sweeper.policy.limits import DIFF_TOO_LARGE, PROTECTED_PATH, findings
from tests.support.values import patch

LIMITS = Limits(files=2, lines=10, bytes=100)


@pytest.mark.parametrize(
    ("size", "places"),
    [
        ({"files_changed": 2, "lines_changed": 10, "bytes_changed": 100}, []),
        ({"files_changed": 3}, ["files"]),
        ({"lines_changed": 11}, ["lines"]),
        ({"bytes_changed": 101}, ["bytes"]),
        ({"files_changed": 3, "lines_changed": 11, "bytes_changed": 101}, ["files", "lines", "bytes"]),
    ],
)
def test_a_change_over_a_limit_is_rejected_by_name(size: dict[str, int], places: list[str]) -> None:
    found = findings(patch(**size), LIMITS)
    assert [(f.name, f.place, f.severity) for f in found] == [
        (DIFF_TOO_LARGE, place, Severity.REJECT) for place in places
    ]


def test_the_finding_says_how_much_and_how_much_is_allowed() -> None:
    assert findings(patch(files_changed=3), LIMITS)[0].detail == "3, at most 2 allowed"


@pytest.mark.parametrize(
    ("path", "is_protected"),
    [
        (".github/workflows/ci.yml", True),
        (".github/workflows/nested/ci.yml", True),
        (".github/CODEOWNERS", True),
        (".github/actions/setup/action.yml", True),
        (".GitHub/Workflows/ci.yml", True),
        (".github/dependabot.yml", False),
        ("docs/.github/workflows/ci.yml", False),
        ("src/app.py", False),
    ],
)
def test_a_fix_must_not_edit_its_own_exam(path: str, is_protected: bool) -> None:
    found = [(f.name, f.place, f.severity) for f in findings(patch(files=("README.md", path)), LIMITS)]
    assert found == ([(PROTECTED_PATH, path, Severity.REJECT)] if is_protected else [])


def test_the_default_limits_are_the_documented_ones() -> None:
    assert Limits() == Limits(files=20, lines=500, bytes=1_000_000)
