"""What many tools say alike, tried after all that know better; and what hints at failures that come and go."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

PYTHON = Words("python", FailureClass.TEST)
FLAKY = Words("flaky test", FailureClass.FLAKY)
DOTNET = Words(".NET", FailureClass.BUILD)
RSPEC = Words("rspec", FailureClass.TEST)
RUBOCOP = Words("rubocop", FailureClass.LINT)
DOCS = Words("sphinx", FailureClass.BUILD)
LINKS = Words("link check", FailureClass.LINT)
TAP = Words("test output", FailureClass.TEST)

ROWS = (
    PYTHON.error(r"^(?P<message>(?:SyntaxError|IndentationError|TabError): .*)", "a file does not parse"),
    PYTHON.hint(r"^(?P<message>[A-Za-z_][\w.]*(?:Error|Exception): .*)", "a program ended with an exception"),
    DOTNET.error(
        r"^ {0,4}(?P<file>[^\s:()]+\.(?:cs|fs|vb))\((?P<line>\d+),\d+\): error (?P<code>\w{2,6}\d+): "
        r"(?P<message>.*)",
        "the code does not compile",
    ),
    RSPEC.last_word(r"^rspec (?P<file>\./[^\s:]+\.rb):(?P<line>\d+) # (?P<message>.*)", "an example failed"),
    RUBOCOP.error(
        r"^(?P<file>[^\s:]+\.rb):(?P<line>\d+):\d+: [EWCRF]: (?:\[Correctable\] )?(?P<code>\w+/\w+): "
        r"(?P<message>.*)",
        "a rule is broken",
    ),
    DOCS.error(
        r"^(?P<file>[^\s:]+\.(?:rst|md|py)):(?:docstring of [^\s:]{1,200}:)?(?:(?P<line>\d+):)? (?:WARNING|"
        r"ERROR|CRITICAL): (?P<message>.*)",
        "the documentation does not build",
    ),
    LINKS.error(r"^(?:\[(?:404|410)\]|\u2717|\u2716) (?P<message><?https?://\S{1,300})", "a link leads nowhere"),
    TAP.hint(r"^(?:\u2717|\u2718|\u2716|\u00d7) (?P<message>\S.{0,300})", "something is marked as failed"),
    FLAKY.hint(r"^(?P<message>[1-9]\d* (?:flaky|rerun)\b)", "a test was flaky"),
    FLAKY.hint(r"^(?P<test>[^\s:]+\.py::\S+) RERUN\b", "a test was run again"),
    FLAKY.hint(r"^(?:\[WARNING\] |\[WARN\] |\[ERROR\] )?Flakes: ?[1-9]?", "maven calls tests flaky"),
    FLAKY.hint(r"^RERUN (?P<test>[^\s:]+\.py::\S+)", "a test was run again"),
    FLAKY.hint(r"^===Flaky Test Report===$", "a plugin reports flaky tests"),
    FLAKY.hint(
        r"(?P<message>Failed \d{1,4} times?, passed on retry|passed on (?:re-?run|retry)|TRY \d{1,4} (?:FAIL|PASS)|"
        r"FLAKY \d{1,4}/\d{1,4})",
        "a test passed when tried again",
    ),
)
