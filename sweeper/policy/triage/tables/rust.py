"""What cargo, rustc, clippy and rustfmt say."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

TEST = Words("cargo test", FailureClass.TEST)
BUILD = Words("rustc", FailureClass.BUILD)
CLIPPY = Words("clippy", FailureClass.LINT)
RUSTFMT = Words("rustfmt", FailureClass.FORMAT)

ROWS = (
    TEST.last_word(r"^test (?P<test>\S+)(?: - should panic)? \.\.\. FAILED$", "a test failed"),
    TEST.error(
        r"^thread '(?P<test>[^']+)' (?:\(\d+\) )?panicked at (?P<file>[^\s:,]+\.rs):(?P<line>\d+):\d+",
        "a test panicked",
    ),
    TEST.error(
        r"^thread '[^']+' panicked at '(?P<message>.{1,400})', (?P<file>[^\s:,]+\.rs):(?P<line>\d+)", "a test panicked"
    ),
    TEST.error(r"^test result: FAILED\.", "the summary counts failures"),
    TEST.hint(r"^error: test failed, to rerun pass ", "cargo says that tests failed"),
    TEST.hint(r"^error: [1-9]\d* targets? failed:$", "cargo says that tests failed"),
    TEST.error(r"^ +FAIL \[ *[\d.]+s\] (?:\(.{1,20}\) )?(?P<test>\S+ \S+)$", "a test failed"),
    TEST.error(r"^ {0,2}assertion (?P<message>`.{1,200}` failed.*)", "an assertion did not hold"),
    BUILD.error(r"^error\[(?P<code>E\d{4})\]: (?P<message>.*)", "the code does not compile"),
    BUILD.hint(r"^error: could not compile (?P<message>`[^`]+`(?: \([^)]{1,80}\))?)", "the code does not compile"),
    CLIPPY.error(
        r"^error: (?P<message>(?:unused|this |useless|needless|redundant|unneeded|used |called |manual|casting|"
        r"the following|variable does|fields? |(?:function|methods?) .{1,80} never).*)",
        "a rule is broken",
    ),
    CLIPPY.hint(
        r"^ +(?:=|\|) (?:note: `-D (?P<code>[\w:-]+)`|help: for further information visit \S*rust-clippy)",
        "a rule is broken",
    ),
    CLIPPY.hint(r"^error: aborting due to ", "the compiler gave up"),
    BUILD.hint(r"^ *--> (?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+$", "the compiler points here"),
    BUILD.error(
        r"^error: (?P<message>(?:expected|cannot find|no such command|failed to run custom build command|linking with|"
        r"unexpected|unresolved|mismatched|no rules expected|proc-macro).*)",
        "the code does not compile",
    ),
    RUSTFMT.last_word(
        r"^Diff in (?:\\\\\?\\)?(?P<file>\S+?\.rs)(?::| at line )(?P<line>\d+)", "a file is not formatted"
    ),
)
