"""Lines of a .gitignore, one by one."""

import pytest

from worktrees.ignore import IgnoreRules
from worktrees.patterns import parse

FITS = [
    ("*.o", "a.o", False, True),
    ("*.o", "x/a.o", False, True),
    ("/top", "top", False, True),
    ("/top", "x/top", False, False),
    ("mid/dle", "mid/dle", False, True),
    ("mid/dle", "x/mid/dle", False, False),
    ("dir/", "x/dir", True, True),
    ("dir/", "dir", False, False),
    ("dir/", "dir/inner", False, False),
    ("a/**", "a", True, False),
    ("a/**", "a/b/c", False, True),
    ("**/a", "a", False, True),
    ("a/**/b", "a/b", False, True),
    ("a/**/b", "a/x/y/b", False, True),
    ("**", "any/thing", False, True),
    ("a*c", "abc", False, True),
    ("a*c", "a/c", False, False),
    ("a?c", "ac", False, False),
    ("[a-c]x", "bx", False, True),
    ("[!a]x", "ax", False, False),
    ("[[:digit:]]", "7", False, True),
    ("[[:nonsense:]]", "n", False, False),
    ("[z-a]", "b", False, False),
    ("a[", "a[", False, False),
    (r"\#x", "#x", False, True),
    (r"\!x", "!x", False, True),
    ("x ", "x", False, True),
    (r"x\ ", "x ", False, True),
    ("x\r", "x", False, True),
    ("\\", "\\", False, False),
    ("a*b*c", "a-b-c-b", False, False),
    ("*a*b*", "xaxbx", False, True),
]


@pytest.mark.parametrize(("line", "path", "is_directory", "fits"), FITS)
def test_a_line_fits_what_git_says(line: str, path: str, is_directory: bool, fits: bool) -> None:
    pattern = parse(line)
    assert pattern is not None
    assert pattern.fits(path, is_directory) is fits


@pytest.mark.parametrize("line", ["", "# comment", "   ", "/", "!", "\r"])
def test_some_lines_say_nothing(line: str) -> None:
    assert parse(line) is None


def test_the_deepest_file_and_in_it_the_last_line_decides() -> None:
    rules = IgnoreRules({".gitignore": b"*.log\n!a.log\na.log\n", "sub/.gitignore": b"!*.log\n"})
    assert rules.ignores("a.log", False)
    assert not rules.ignores("sub/a.log", False)
    assert not rules.ignores("sub/deep/a.log", False)


def test_re_including_a_directory_does_not_re_include_scratch_below_it() -> None:
    rules = IgnoreRules({".gitignore": b"*\n!packages/\n!packages/**\nnode_modules\n"})
    assert not rules.ignores("packages", True)
    assert rules.ignores("packages/x/node_modules", True)


def test_scratch_of_tools_is_ignored_unless_the_repository_wants_it() -> None:
    assert IgnoreRules({}).ignores("a/__pycache__", True)
    assert not IgnoreRules({".gitignore": b"!__pycache__/\n"}).ignores("a/__pycache__", True)


def test_a_hostile_pattern_ends() -> None:
    """A backtracking matcher would run into the time limit of every test."""
    hard = parse("**/" * 50 + "*a" * 100 + "b")
    assert hard is not None
    assert not hard.fits("/".join(["a" * 200] * 20), False)
