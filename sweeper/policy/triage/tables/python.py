"""What unittest, linters, formatters and type checkers of Python say. Sources: the tools' own default formats."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

UNITTEST = Words("unittest", FailureClass.TEST)
NOSE = Words("nose", FailureClass.TEST)
DOCTEST = Words("doctest", FailureClass.TEST)
NOX = Words("nox", FailureClass.TEST)
TOX = Words("tox", FailureClass.TEST)
RUN_TEST = Words("run_test.py", FailureClass.TEST)
RUFF = Words("ruff", FailureClass.LINT)
RUFF_FORMAT = Words("ruff", FailureClass.FORMAT)
FLAKE8 = Words("flake8", FailureClass.LINT)
PYLINT = Words("pylint", FailureClass.LINT)
BANDIT = Words("bandit", FailureClass.LINT)
CODESPELL = Words("codespell", FailureClass.LINT)
BLACK = Words("black", FailureClass.FORMAT)
ISORT = Words("isort", FailureClass.FORMAT)
MYPY = Words("mypy", FailureClass.TYPE)
PYRIGHT = Words("pyright", FailureClass.TYPE)

PY = r"(?P<file>(?:[A-Za-z]:)?[^\s:]+\.(?:pyi?|ipynb))"
BROKEN = "a rule is broken"
UNFORMATTED = "a file is not formatted"
UNTYPED = "types do not agree"
FAILED = "a test failed"

ROWS = (
    UNITTEST.last_word(
        r"^FAILED \((?:[A-Za-z ]{1,24}=\d{1,6}, ){0,5}(?:failures|errors|unexpected successes)=\d",
        "the summary counts failures",
    ),
    UNITTEST.error(r"^(?:FAIL|ERROR): (?P<test>\w+ \([\w.]+\))", FAILED),
    UNITTEST.error(r"^(?P<test>\w+ \([\w.]+\)) \.\.\. (?:FAIL|ERROR)$", FAILED),
    NOSE.error(r"^(?:FAIL|ERROR): (?P<test>test[\w.]{0,200}\.\w+)$", FAILED),
    DOCTEST.error(r'^File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<test>[\w.]+)$', "an example failed"),
    NOX.last_word(r"^nox > Session (?P<message>\S+) failed\.", "a session of nox failed"),
    NOX.error(r"^nox > (?P<message>Command .{1,400} failed with exit code \d+)", "a command of a nox session failed"),
    TOX.last_word(r"^ {0,4}(?P<message>[\w.-]+): FAIL (?:code \d+|\u2716)", "an environment of tox failed"),
    TOX.error(r"^ERROR: +(?P<message>[\w.-]+: commands failed)", "an environment of tox failed"),
    TOX.error(r"^ERROR: (?P<message>InvocationError for command .*)", "a command of tox failed"),
    RUN_TEST.last_word(r"^(?:\w+Error: )?(?P<test>test_\w+|\w+/test_\w+)(?: \d+/\d+)? failed!", "a test file failed"),
    RUFF.error(rf"^{PY}:(?P<line>\d+):\d+: (?P<code>[A-Z]{{1,4}}\d{{2,4}}) (?P<message>(?:\[\*\] )?[A-Z`].*)", BROKEN),
    RUFF.error(rf"^{PY}:(?P<line>\d+):\d+: (?P<code>invalid-syntax): (?P<message>.*)", "a file does not parse"),
    RUFF.error(r"^(?P<code>[A-Z]{1,4}\d{2,4}|invalid-syntax):? (?:\[(?:\*|-)\] )?(?P<message>[A-Z`'].*)", BROKEN),
    RUFF.error(r"^ {2,6}\d+:\d+ +(?P<code>[A-Z]{1,4}\d{2,4}) (?:\[\*\] )?(?P<message>\S.*)", BROKEN),
    RUFF.error(rf"^(?P<message>error: Failed to parse) {PY}:(?P<line>\d+)", "a file does not parse"),
    RUFF.hint(rf"^ *--> {PY}:(?P<line>\d+):\d+$", "a rule is broken here"),
    RUFF.hint(r"^Found [1-9]\d* errors?(?: \(\d+ fixed, \d+ remaining\))?\.$", "the summary counts findings"),
    RUFF_FORMAT.error(rf"^Would reformat: {PY}", UNFORMATTED),
    RUFF_FORMAT.last_word(r"^[1-9]\d* files? would be reformatted(?:, \d+ files? already formatted)?$", UNFORMATTED),
    FLAKE8.error(rf"^{PY}:(?P<line>\d+):\d+: (?P<code>[A-Z]{{1,3}}\d{{2,4}}) (?P<message>\S.*)", BROKEN),
    PYLINT.error(rf"^{PY}:(?P<line>\d+):\d+: (?P<code>[EFWCR]\d{{4}}): (?P<message>\S.*)", BROKEN),
    BANDIT.error(r"^>> Issue: \[(?P<code>B\d{3}):[\w-]+\] (?P<message>.*)", "a rule about security is broken"),
    CODESPELL.error(r"^(?:\./)?(?P<file>[^\s:]+):(?P<line>\d+): (?P<message>\w+ ==> \w.*)", "a word is misspelt"),
    BLACK.error(rf"^would reformat {PY}", UNFORMATTED),
    BLACK.error(rf"^error: cannot format {PY}: (?P<message>.*)", "a file does not parse"),
    BLACK.last_word(
        r"^(?:Oh no! .{0,40}|[1-9]\d* files? would be reformatted(?:, \d+ files? would be left unchanged)?\.)$",
        UNFORMATTED,
    ),
    ISORT.error(rf"^ERROR: {PY} (?P<message>Imports are incorrectly sorted)", "imports are not in order"),
    MYPY.error(
        rf"^{PY}:(?P<line>\d+):(?:\d+:)?(?:\d+:\d+:)? error: (?P<message>.*?)"
        r"(?: {1,4}\[(?P<code>[a-z-]{1,60})\])?$",
        UNTYPED,
    ),
    MYPY.error(
        r"^(?P<file>[^\s:]+): (?P<message>error: (?:Source file found twice|Duplicate module|Cannot find) .*)", UNTYPED
    ),
    MYPY.hint(r"^Found [1-9]\d* errors? in \d+ files? \((?:checked|errors prevented)", "the summary counts findings"),
    PYRIGHT.error(
        rf"^ {{0,4}}{PY}:(?P<line>\d+):\d+ - error: (?P<message>.*?)(?: \((?P<code>report\w{{1,60}})\))?$", UNTYPED
    ),
    PYRIGHT.hint(r"^[1-9]\d* errors?, \d+ warnings?, \d+ (?:informations?|notes?)", "the summary counts findings"),
)
