"""What must not stand in any file of the project, and what has to agree between files."""

import ast
import re
from pathlib import Path

import pytest

import sweeper
from sweeper.errors import BY_NAME
from tests.architecture.source import PACKAGES, ROOT, kept_files, modules, tree

FORBIDDEN = {
    "a path of the machine it was written on": re.compile(
        rf"{re.escape(str(ROOT))}(?![\w-])|{re.escape(str(Path.home()))}/\.|/home/(?!runner\b)\w+/"
    ),
    "working papers that are not part of the project": re.compile(r"\bDESIGN\b|\bCONTRACT[.]md|\bshare[d]/"),
    "a number of a tracker that readers cannot see": re.compile(r"\b[Ii]ssue #?\d"),
    "words about how or by whom it was made": re.compile(
        r"\b(?:made|written|built|generated|created|authored|assisted)[ -](?:by|with|using) (?:an? )?"
        r"(?:AI|LLM|model|claude|chatgpt|copilot|codex)\b|co-authored-by: .*(?:[c]laude|[a]nthropic|[o]penai|[c]opilot)"
        r"|as an [A]I\b",
        re.IGNORECASE,
    ),
}


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    """Every text file under version control; histories hold payloads and are looked at by their own test."""
    found = {}
    for path in kept_files():
        if path.suffix in {".png", ".gz", ".ico"} or path.is_relative_to("tests/replay/histories"):
            continue
        found[path] = (ROOT / path).read_text(errors="replace")
    return found


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(texts: dict[Path, str], what: str) -> None:
    found = [
        f"{path}:{number}: {line.strip()[:100]}"
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if FORBIDDEN[what].search(line)
    ]
    assert found == []


def test_the_constraints_name_no_index() -> None:
    text = (ROOT / "constraints.txt").read_text()
    assert not re.search(r"https?:|--(extra-)?index-url|--find-links|--trusted-host", text)
    assert "temporalio==" in text


def test_the_version_is_the_changelogs_newest() -> None:
    versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == sweeper.__version__


def test_the_changelog_has_room_for_what_comes_next() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"


def test_errors_of_ours_are_defined_in_one_place() -> None:
    elsewhere = [
        f"{path}:{node.name}"
        for path in modules(*PACKAGES)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).rpartition(".")[2] in BY_NAME for base in node.bases)
        and path != Path("sweeper/errors.py")
    ]
    assert elsewhere == []


def test_nothing_is_mocked_or_patched() -> None:
    """Fakes keep state; a patched import path is a secret knowledge of the inside."""
    banned = re.compile(r"monkeypatch\.setattr\(\s*[\"']|unittest[.]mock import|mocker\b")
    users = [
        str(path)
        for path in modules("tests")
        if banned.search((ROOT / path).read_text()) and path.parts[1] != "architecture"
    ]
    assert users == []
