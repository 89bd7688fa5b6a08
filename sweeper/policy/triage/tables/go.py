"""What the Go toolchain and golangci-lint say."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

TEST = Words("go test", FailureClass.TEST)
BUILD = Words("go build", FailureClass.BUILD)
VET = Words("go vet", FailureClass.LINT)
LINT = Words("golangci-lint", FailureClass.LINT)
GOFMT = Words("gofmt", FailureClass.FORMAT)

GO = r"(?P<file>(?:[A-Za-z]:)?[^\s:]+\.go)"

ROWS = (
    TEST.last_word(r"^ {0,16}--- FAIL: (?P<test>\S+) \(\d", "a test failed"),
    BUILD.error(r"^FAIL\s(?P<message>\S+)\s\[(?:build|setup) failed\]", "a package of tests could not be built"),
    TEST.hint(r"^FAIL\t(?P<message>\S+)\t[\d.]+s$", "a package of tests failed"),
    TEST.error(r"^(?P<message>panic: (?!running tests).*)", "a test panicked"),
    TEST.error(r"^(?P<message>WARNING: DATA RACE)$", "a data race was found"),
    TEST.error(
        r"^(?P<message>fatal error: (?:all goroutines are asleep|concurrent map|stack overflow).*)", "the program died"
    ),
    LINT.error(rf"^{GO}:(?P<line>\d+)(?::\d+)?: (?P<message>.+) \((?P<code>[a-z]{{2,30}})\)$", "a rule is broken"),
    LINT.hint(r"^[1-9]\d* issues?:$", "the summary counts findings"),
    LINT.error(r"^level=error msg=\"(?P<message>.*)\"$", "the linter could not run"),
    VET.error(rf"^vet: {GO}:(?P<line>\d+):\d+: (?P<message>.*)", "vet objects"),
    VET.error(
        rf"^{GO}:(?P<line>\d+):(?:\d+:)? (?P<message>.*(?:format %\S{{1,3}} has arg|unreachable code|"
        r"composite literal uses|copies lock|struct field tag).*)",
        "vet objects",
    ),
    GOFMT.error(r"^diff (?:-u )?(?P<file>[^\s:]+\.go)\.orig", "a file is not formatted"),
    TEST.error(r"^ {4,16}(?P<file>[^\s:]+_test\.go):(?P<line>\d+): (?P<message>\S.*)", "a test says why it failed"),
    BUILD.error(rf"^(?:\./)?{GO}:(?P<line>\d+):\d+: (?P<message>\S.*)", "the code does not compile"),
    BUILD.error(r"^(?P<message>package \S+ is not in (?:GOROOT|std)\b.*)", "a package is not found"),
    BUILD.error(r"^(?P<message>import cycle not allowed.*)", "packages import each other in a circle"),
)
