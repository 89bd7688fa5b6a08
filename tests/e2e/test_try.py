"""`sweeper try`: any failing command of any local repository, which is never written to."""

import os
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.support.commands import Ended, environment, running_on, sweeper
from tests.support.git_origin import git
from tests.support.local_repository import (
    LINT,
    MEND,
    TEST,
    UNITTEST,
    UNTIDY,
    WRONG_SIGN,
    fingerprint,
    repository,
    write,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@dataclass(frozen=True)
class Tried:
    """A repository somebody tried to mend, and how that went."""

    place: Path
    state_dir: Path
    ended: Ended
    was: dict[str, str]

    @property
    def told(self) -> dict[str, JsonValue]:
        """What it said of itself."""
        return self.ended.document

    def left_behind(self) -> list[Path]:
        """Files in the state directory."""
        return [path for path in self.state_dir.rglob("*") if not path.is_dir()]

    def patched(self, into: Path) -> Path:
        """A clone of the repository as it lies there, with the patch applied."""
        (patch,) = self.left_behind()
        assert str(patch) == self.told["patch_file"]
        subprocess.run(["cp", "-a", str(self.place), str(into)], check=True)
        git("apply", str(patch), cwd=into)
        return into


def tried(place: Path, *words: str) -> Tried:
    state_dir = place.parent / "state"
    was = fingerprint(place)
    ended = sweeper("try", place, *words, "--json", env=environment(state_dir))
    return Tried(place, state_dir, ended, was)


def is_green(check: str, place: Path) -> bool:
    env = {"PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", check], cwd=place, env=env, capture_output=True, check=False).returncode == 0


@pytest.mark.xdist_group("try-lint")
class TestALintError:
    @pytest.fixture(scope="class")
    def lint(self, tmp_path_factory: pytest.TempPathFactory) -> Tried:
        place = repository(tmp_path_factory.mktemp("lint") / "shop", {"place.py": UNTIDY, ".gitignore": "*.log\n"})
        write(place, {"big.log": "ignored\n"})
        return tried(place, "--check", LINT, "--yes")

    def test_autofix_mends_it_and_the_fix_is_merged(self, lint: Tried) -> None:
        told = lint.ended.document_as(0)
        assert (told["outcome"], told["verdict"]) == ("merged", "fixed")
        effects = told["effects"]
        assert isinstance(effects, list)
        names = [effect["name"] for effect in effects if isinstance(effect, dict)]
        assert names == ["check.create", "branch.push", "pull.create", "pull.merge", "branch.delete", "check.update"]

    def test_the_repository_is_untouched(self, lint: Tried) -> None:
        assert fingerprint(lint.place) == lint.was

    def test_the_patch_applies_and_makes_the_check_green(self, lint: Tried, tmp_path: Path) -> None:
        assert not is_green(LINT, lint.place)
        assert is_green(LINT, lint.patched(tmp_path / "patched"))

    def test_nothing_is_left_but_the_patch(self, lint: Tried) -> None:
        assert [path.name for path in lint.left_behind()] == ["shop.patch"]
        assert running_on(lint.state_dir) == []


@pytest.mark.xdist_group("try-test")
class TestAFailingTest:
    def test_a_command_mends_it_uncommitted_as_it_is(self, tmp_path: Path) -> None:
        right = WRONG_SIGN.replace("* 2", "// 2")
        place = repository(tmp_path / "maths", {"half.py": right, "test_half.py": TEST})
        write(place, {"half.py": WRONG_SIGN, "notes.txt": "not in git yet\n"})
        done = tried(place, "--check", UNITTEST, "--fix", MEND, "--yes")
        assert done.ended.document_as(0)["outcome"] == "merged"
        assert "Uncommitted changes are taken along" in done.ended.stderr
        assert "fails with exit code 1 in the sandbox, which has no network." in done.ended.stderr
        assert fingerprint(place) == done.was
        assert is_green(UNITTEST, done.patched(tmp_path / "patched"))

    def test_without_a_terminal_nobody_is_asked_and_the_fix_stays_a_proposal(self, tmp_path: Path) -> None:
        place = repository(tmp_path / "maths", {"half.py": WRONG_SIGN, "test_half.py": TEST})
        done = tried(place, "--check", UNITTEST, "--fix", MEND)
        told = done.ended.document_as(0)
        assert (told["outcome"], told["verdict"]) == ("proposed", "fixed")
        assert is_green(UNITTEST, done.patched(tmp_path / "patched"))
        assert running_on(done.state_dir) == []

    def test_a_fix_that_does_not_fix_is_no_success(self, tmp_path: Path) -> None:
        place = repository(tmp_path / "maths", {"half.py": WRONG_SIGN, "test_half.py": TEST})
        done = tried(place, "--check", UNITTEST, "--fix", "echo '# looked at' >> half.py", "--yes")
        told = done.ended.document_as(1)
        assert (told["outcome"], told["verdict"], told["patch_file"]) == ("escalated", "not_fixed", None)
        assert done.left_behind() == []
        assert fingerprint(place) == done.was

    def test_what_autofix_does_not_know_is_told_with_what_may_mend_it(self, tmp_path: Path) -> None:
        place = repository(tmp_path / "maths", {"half.py": WRONG_SIGN, "test_half.py": TEST})
        done = tried(place, "--check", UNITTEST)
        told = done.ended.document_as(1)
        assert told["outcome"] == "escalated"
        assert "give its command line with --fix" in done.ended.stderr

    def test_a_check_that_passes_leaves_nothing_to_fix(self, tmp_path: Path) -> None:
        place = repository(tmp_path / "maths", {"half.py": WRONG_SIGN})
        done = tried(place, "--check", "true", "--yes")
        told = done.ended.document_as(0)
        assert told["outcome"] == "not_reproduced"
        assert "nothing to fix" in str(told["reason"])
        assert done.left_behind() == []


def test_a_check_that_wants_a_network_is_told_as_that_and_nobody_waits_for_a_re_run(tmp_path: Path) -> None:
    place = repository(tmp_path / "offline", {"a.txt": "a\n"})
    said = "curl: (6) Could not resolve host: example.invalid"
    told = tried(place, "--check", f"echo '{said}' >&2; exit 6", "--yes").ended.document_as(1)
    assert told["outcome"] == "infrastructure"
    assert "Could not resolve host" in str(told["reason"])
    assert told["pull_request"] is None
