"""Small git repositories as people have them on their disk, and a look at whether anything in them was touched."""

import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path

from tests.support.git_origin import git

UNTIDY = "import os\nimport sys\n\n\ndef place( ):\n    return  sys.prefix\n"
WRONG_SIGN = "def half(number: int) -> int:\n    return number * 2\n"
TEST = """\
import unittest

from half import half


class HalfTest(unittest.TestCase):
    def test_ten(self) -> None:
        self.assertEqual(half(10), 5)
"""
LINT = "ruff check . && ruff format --check ."
UNITTEST = "python3 -m unittest -q"
MEND = "sed -i 's/\\* 2/\\/\\/ 2/' half.py"


def repository(place: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit of these files."""
    place.mkdir(parents=True)
    git("init", "-q", "-b", "main", cwd=place)
    write(place, files)
    git("add", "-A", cwd=place)
    git("commit", "-q", "-m", "as it is", cwd=place)
    return place


def write(place: Path, files: Mapping[str, str]) -> None:
    """Put files there, uncommitted."""
    for name, text in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def fingerprint(place: Path) -> dict[str, str]:
    """Kind, rights, owner, time and content of everything below a directory, `.git` included."""
    return {str(path.relative_to(place)): _facts(path) for path in place.rglob("*")}


def _facts(path: Path) -> str:
    seen = path.lstat()
    content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
    rights = f"{stat.filemode(seen.st_mode)} {seen.st_uid}:{seen.st_gid}"
    return f"{rights} {seen.st_mtime_ns} {hashlib.sha256(content).hexdigest()}"
