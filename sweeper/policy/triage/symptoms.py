"""Whether the red that a command shows here is the red that CI saw."""

from sweeper.model import Diagnosis
from sweeper.policy.triage.cause import deciding
from sweeper.policy.triage.clues import recogniser
from sweeper.policy.triage.joblog import JobLog
from sweeper.policy.triage.pattern import Clue
from sweeper.policy.triage.reader import read_log
from sweeper.policy.triage.signature import Symptoms, normal_file, normal_test, symptoms_of

SURE = 20
"""Characters of a message that are enough to know it by."""

_NOT_INSTALLED = frozenset({"ModuleNotFoundError", "ImportError"})
"""Exceptions that mostly speak of the machine: where CI saw none of them, it saw something else."""


def symptoms(output: bytes) -> Symptoms:
    """What a command's output shows of its failure; empty if it shows nothing that is known."""
    return symptoms_of(_deciding(read_log([output])))


def same_failure(diagnosis: Diagnosis, output: bytes) -> bool | None:
    """Whether `output`, of a command that failed here, shows the failure of the diagnosis. None: cannot be compared.

    Tests are compared by their ids, rules by code and file, anything else by its words and then by its files.
    """
    here, there = symptoms(output), _in_ci(diagnosis)
    said_alike = any(_same_words(a, b) for a in here.messages for b in there.messages)
    if _NOT_INSTALLED & set(here.kinds) and not said_alike and _saw_something_else(there):
        return False
    if here.tests and there.tests:
        return any(_names_the_same(a, b) for a in here.tests for b in there.tests)
    files_agree = _files_agree(here, there)
    if here.codes and there.codes:
        return bool(set(here.codes) & set(there.codes)) and files_agree is not False
    if here.messages and there.messages:
        return said_alike or bool(files_agree)
    return files_agree


def _deciding(read: JobLog) -> list[Clue]:
    return deciding(clue for step in read.steps for clue in step.clues)


def _in_ci(diagnosis: Diagnosis) -> Symptoms:
    """What the diagnosis keeps of CI's output; its lines are read again for what they say."""
    clues = [recogniser().clue(line, n) for n, line in enumerate(diagnosis.error_lines)]
    shown = symptoms_of([clue for clue in clues if clue and clue.failure_class is diagnosis.failure_class])
    files = {*shown.files, *map(normal_file, diagnosis.files)}
    tests = {*shown.tests, *map(normal_test, diagnosis.tests)}
    return shown.model_copy(update={"files": tuple(sorted(files)), "tests": tuple(sorted(tests))})


def _saw_something_else(there: Symptoms) -> bool:
    """Whether CI had what it needed: it spoke, and of no missing module. A bare `assert` has words and no kind."""
    return bool(there.kinds or there.messages) and not _NOT_INSTALLED & set(there.kinds)


def _files_agree(here: Symptoms, there: Symptoms) -> bool | None:
    if not (here.files and there.files):
        return None
    return any(_names_the_same(a, b) for a in here.files for b in there.files)


def _names_the_same(one: str, other: str) -> bool:
    """Tools name files and tests from where they run, which may be below the repository's root."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _same_words(one: str, other: str) -> bool:
    """Tools cut what they say to the width of a terminal, and a diagnosis keeps the start of a line."""
    shorter, longer = sorted((one.removesuffix("..."), other.removesuffix("...")), key=len)
    return one == other or (len(shorter) >= SURE and longer.startswith(shorter))
