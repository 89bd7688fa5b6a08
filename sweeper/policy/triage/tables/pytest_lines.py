"""What pytest and its plugins say of a failure. Source: pytest's terminal reporter, `-ra`, `-v` and xdist output."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

PYTEST = Words("pytest", FailureClass.TEST)
SETTINGS = Words("pytest", FailureClass.CONFIGURATION)

FILE = r"(?P<file>[^\s:]+\.(?:py|md|rst|txt|ya?ml))"
TEST = rf"(?P<test>{FILE}::[^\s\[]+(?:\[[^\]]*\])?)"
NAMED = "a test failed"
UNREAD = "tests could not be collected"
RAISED = "an exception ended a test"

ROWS = (
    PYTEST.last_word(rf"^FAILED (?:\[[^\]]*\] )?{TEST}(?: - (?P<message>.*))?", NAMED),
    PYTEST.last_word(rf"^ERROR (?:\[[^\]]*\] )?{TEST}(?: - (?P<message>.*))?", "a test's setup or teardown failed"),
    PYTEST.last_word(rf"^ERROR {FILE}(?: - (?P<message>.*))?$", UNREAD),
    PYTEST.last_word(r"^!{3,} Interrupted: [1-9]\d* errors? during collection", UNREAD),
    PYTEST.last_word(
        r"^=* ?(?:\d{1,9} [a-z]{1,20}, ){0,8}[1-9]\d{0,8} (?:failed|errors?)\b.{0,200} in \d",
        "the summary counts failures",
    ),
    PYTEST.last_word(
        r"^(?:ERROR: |FAIL )?(?:Coverage failure: total of|Required test coverage of) \S{1,20} (?:not reached|is less)",
        "the tests cover less than the project asks for",
    ),
    PYTEST.error(rf"^\[gw\d+\] \[ {{0,3}}\d+%\] (?:FAILED|ERROR) {TEST}", NAMED),
    PYTEST.error(rf"^{TEST} (?:FAILED|ERROR)\b", NAMED),
    PYTEST.hint(rf"^_{{2,}} ERROR collecting {FILE} _", UNREAD),
    PYTEST.error(r"^_{2,} ERROR at (?:setup|teardown) of (?P<message>\S+)", "a test's setup or teardown failed"),
    PYTEST.hint(
        r"^(?P<message>ImportError while (?:importing test module|loading conftest)) '(?P<file>[^']+)'", UNREAD
    ),
    PYTEST.error(r"^E {1,40}(?P<message>ModuleNotFoundError: No module named .+)", "a module is not installed"),
    PYTEST.error(
        r"^E {1,40}(?P<message>[A-Za-z_][\w.]*(?:Error|Exception|Failure|Warning|Timeout|Exit|Expired)\b.*)", RAISED
    ),
    PYTEST.error(r"^E {1,40}(?P<message>Failed: .*)", "a test gave up"),
    PYTEST.error(r"^E {1,40}(?P<message>assert .*)", "an assertion did not hold"),
    PYTEST.error(r"^E {1,40}(?P<message>fixture '.*' not found)", "a test asks for a fixture that is not there"),
    PYTEST.error(r"^INTERNALERROR> (?P<message>\S.*)", "pytest itself, or a plugin, broke"),
    PYTEST.error(r"^\++ Timeout \++$", "a test ran into its time limit"),
    PYTEST.error(r"^(?P<message>\[gw\d+\] node down: .*)", "a worker of the test run died"),
    PYTEST.error(r"^=* ?no tests ran in \d", "no test was found"),
    PYTEST.error(
        rf"^{FILE}:(?P<line>\d+): (?P<message>[A-Za-z_][\w.]*(?:Error|Exception)|Failed|AssertionError)$", RAISED
    ),
    PYTEST.hint(r"^(?P<file>[^\s:]+\.py):(?P<line>\d+):(?: in \S+)? ?$", "the failure passed through this place"),
    PYTEST.hint(r"^E {3,40}(?P<message>\S.*)", "pytest explains a failure"),
    SETTINGS.error(
        r"^(?:ERROR: |\S{1,80}: )error: (?P<message>unrecognized arguments: .*)",
        "an option is not known, or its plugin not installed",
    ),
    SETTINGS.error(
        r"^ERROR: (?P<message>(?:file or directory not found|not found|usage|Unknown pytest|Unknown config).*)",
        "pytest was called for what is not there",
    ),
    SETTINGS.error(
        r"^(?:pytest\.)?(?P<message>PytestUnknownMarkWarning: .*|'.{1,80}' not found in `markers`)",
        "a marker is not declared",
    ),
)
