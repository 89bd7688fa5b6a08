"""What a change is judged against, and which files of the tested tree belong to the exam and not to the answer."""

import re
from collections.abc import Iterator, Sequence

from sweeper.model import CheckPlan, Diagnosis, FailureClass, Limits, Strict
from sweeper.policy.tampering.commands import files_that_decide
from sweeper.policy.tampering.places import (
    MIXED,
    base,
    is_checker_config,
    is_conftest,
    is_like,
    is_manifest,
    is_snapshot,
    is_test,
)

CALLERS = {
    "make": "makefile gnumakefile *.mk",
    "gmake": "makefile gnumakefile *.mk",
    "just": "justfile .justfile",
    "task": "taskfile.yml taskfile.yaml",
    "rake": "rakefile",
    "npm": "package.json",
    "npx": "package.json",
    "yarn": "package.json",
    "pnpm": "package.json",
    "bun": "package.json",
    "docker": "dockerfile *.dockerfile",
}
_WORDS = re.compile(r"[\w./+@-]+")
_PARTS = re.compile(r"\w+")
_NO_FIXTURE = re.compile(r"fixture '[^']{1,100}' not found")
_ABOUT_TESTS = (FailureClass.TEST, FailureClass.FLAKY, FailureClass.UNKNOWN)
_ABOUT_SETTINGS = (FailureClass.CONFIGURATION, FailureClass.DEPENDENCY)


class Exam(Strict):
    """Plan and diagnosis of the failure, made before the change. `protected`: further globs nobody may touch."""

    plan: CheckPlan
    diagnosis: Diagnosis
    protected: tuple[str, ...] = ()
    limits: Limits = Limits()

    @property
    def is_about_settings(self) -> bool:
        """Whether configuration or dependencies are what failed, so that a fix may honestly lie there."""
        return self.diagnosis.failure_class in _ABOUT_SETTINGS

    def commands(self) -> Iterator[tuple[str, str]]:
        """Each command of the plan with the folder it runs in."""
        for check in self.plan.checks:
            steps = [(step.working_directory, step.command) for step in (*check.before, *check.after)]
            for directory, command in ((check.working_directory, check.command), *steps):
                folder = directory.strip("/").removeprefix("./")
                yield "" if folder in (".", "") else f"{folder}/", command

    def calls(self, path: str) -> bool:
        """Whether a command of the plan runs this file, or has a tool run what is written in it."""
        for folder, command in self.commands():
            for word in files_that_decide(command):
                if path in (folder + word.removeprefix("./"), word.removeprefix("./")):
                    return not is_test(path)
            if any(is_like(path, CALLERS.get(word.rpartition("/")[2], "").split()) for word in _WORDS.findall(command)):
                return True
        return False

    def failing(self, path: str) -> bool:
        """Whether the diagnosis names this file, or a test in it by whatever id its runner gives."""
        named = (*self.diagnosis.files, *(test.partition("::")[0] for test in self.diagnosis.tests))
        if any(path == name or path.endswith("/" + name) or name.endswith("/" + path) for name in named):
            return True
        stem = base(path).removesuffix(".snap").partition(".")[0]
        return stem in {word.casefold() for test in self.diagnosis.tests for word in _PARTS.findall(test)}

    @property
    def names_tests(self) -> bool:
        """Whether it is known which tests fail."""
        return bool(self.diagnosis.tests) or any(is_test(path) for path in self.diagnosis.files)

    def blames_conftest(self, path: str) -> bool:
        """Whether what failed is the conftest itself, or a fixture that should come from it."""
        lines = [line[:500] for line in self.diagnosis.error_lines]
        return self.failing(path) or any("conftest" in line or _NO_FIXTURE.search(line) for line in lines)


def exam_files(paths: Sequence[str], exam: Exam) -> tuple[str, ...]:
    """Files of the tested tree that are put back for the deciding run, sorted.

    Configuration of checkers, conftest files and what Python imports by itself, whatever the plan's commands call, and
    the failing tests' own files with their snapshots (all tests where it is not known which fail). A manifest is among
    them because it often holds configuration.
    """
    return tuple(sorted({path for path in paths if _belongs(path, exam)}))


def _belongs(path: str, exam: Exam) -> bool:
    if is_checker_config(path) or is_conftest(path) or exam.calls(path):
        return True
    if base(path) in MIXED:
        return True
    if not (is_test(path) or is_snapshot(path)):
        return False
    return exam.failing(path) or (exam.diagnosis.failure_class in _ABOUT_TESTS and not exam.names_tests)


def must_hold(path: str, exam: Exam) -> bool:
    """Whether green only with the patch's own version of an exam file is no proof at all.

    False: an honest fix may need it (the failing test's own file, a manifest, and configuration where that is what
    failed; a conftest that is itself to blame), so a human is shown that the proof rests on it. Never so for what
    Python imports by itself.
    """
    if base(path) == "conftest.py":
        return not exam.blames_conftest(path)
    if is_conftest(path):
        return True
    if is_checker_config(path):
        return not (is_manifest(path) or exam.is_about_settings)
    # A script that is itself what fails may have to be mended.
    return exam.calls(path) and not (is_manifest(path) or exam.is_about_settings or exam.failing(path))
