"""What whole ends of logs are taken for, where several tools speak and only one of them tells the cause."""

import pytest

from sweeper.model import Action, FailureClass, JobEvidence, JobFacts
from sweeper.policy.triage.cause import Cause, cause_of
from sweeper.policy.triage.reader import read_log

EXIT = "##[error]Process completed with exit code 1."

SCENES: dict[str, tuple[FailureClass, str]] = {
    "pip without network": (
        FailureClass.INFRASTRUCTURE,
        """\
WARNING: Retrying (Retry(total=1, connect=None)) after connection broken by 'NewConnectionError(x)': /simple/requests/
WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(x)': /simple/requests/
ERROR: Could not find a version that satisfies the requirement requests==2.32.3 (from versions: none)
ERROR: No matching distribution found for requests==2.32.3""",
    ),
    "pip for a version that is not there": (
        FailureClass.DEPENDENCY,
        """\
ERROR: Could not find a version that satisfies the requirement requests==99 (from versions: 2.31.0, 2.32.3)
ERROR: No matching distribution found for requests==99""",
    ),
    "a retry that worked, then a red test": (
        FailureClass.TEST,
        """\
WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'ReadTimeoutError(x)': /simple/requests/
FAILED tests/test_a.py::test_b - assert 1 == 2
========================= 1 failed, 12 passed in 1.20s =========================""",
    ),
    "a connection that breaks inside a test": (
        FailureClass.TEST,
        """\
E   ConnectionResetError: [Errno 104] Connection reset by peer
FAILED tests/test_a.py::test_b - ConnectionResetError: [Errno 104] Connection reset by peer
========================= 1 failed, 12 passed in 1.20s =========================""",
    ),
    "npm without network": (
        FailureClass.INFRASTRUCTURE,
        """\
npm error code ECONNRESET
npm error network aborted
npm error network This is a problem related to network connectivity.""",
    ),
    "npm with a stale lock file": (
        FailureClass.DEPENDENCY,
        """\
npm error code EUSAGE
npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.
npm error Missing: left-pad@1.3.0 from lock file""",
    ),
    "a compiler behind make": (
        FailureClass.BUILD,
        """\
src/a.c:3:5: error: 'x' undeclared (first use in this function)
make[1]: *** [Makefile:12: a.o] Error 1
make: *** [Makefile:3: all] Error 2""",
    ),
    "a compiler killed for memory": (
        FailureClass.INFRASTRUCTURE,
        """\
c++: fatal error: Killed signal terminated program cc1plus
compilation terminated.
make: *** [Makefile:12: a.o] Error 1""",
    ),
    "gradle whose tests fail": (
        FailureClass.TEST,
        """\
LoginTest > refusesWrongPassword() FAILED
41 tests completed, 1 failed
FAILURE: Build failed with an exception.
Execution failed for task ':app:test'.
BUILD FAILED in 49s""",
    ),
    "gradle whose registry is down": (
        FailureClass.INFRASTRUCTURE,
        """\
FAILURE: Build failed with an exception.
Execution failed for task ':app:compileJava'.
> Could not resolve all files for configuration ':app:compileClasspath'.
   > Could not resolve org.acme:lib:1.0.
         > Could not GET 'https://repo.maven.apache.org/x.pom'. Received status code 503 from server: Unavailable
BUILD FAILED in 49s""",
    ),
    "maven whose tests fail": (
        FailureClass.TEST,
        """\
[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default) on project app""",
    ),
    "pre-commit with a formatter": (
        FailureClass.FORMAT,
        """\
ruff (legacy alias)......................................................Passed
ruff format..............................................................Failed
- hook id: ruff-format
- files were modified by this hook

1 file reformatted, 27 files left unchanged""",
    ),
    "pre-commit with a linter": (
        FailureClass.LINT,
        """\
check yaml...............................................................Failed
- hook id: check-yaml
- exit code: 1""",
    ),
    "cargo test that does not compile": (
        FailureClass.BUILD,
        """\
error[E0425]: cannot find value `x` in this scope
  --> src/lib.rs:3:5
error: could not compile `app` (lib test) due to 1 previous error""",
    ),
    "clippy": (
        FailureClass.LINT,
        """\
error: this `if` has identical blocks
  --> src/lib.rs:3:5
   = note: `-D clippy::if-same-then-else` implied by `-D warnings`
error: could not compile `app` (lib) due to 1 previous error""",
    ),
    "go that does not compile": (
        FailureClass.BUILD,
        """\
# github.com/acme/app
./a.go:10:2: undefined: x
FAIL\tgithub.com/acme/app [build failed]
FAIL""",
    ),
    "an image whose build fails": (
        FailureClass.BUILD,
        """\
#12 ERROR: process "/bin/sh -c make" did not complete successfully: exit code: 2
ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 2""",
    ),
    "a title that breaks a rule": (
        FailureClass.OUTSIDE_CODE,
        '##[error]No release type found in pull request title "Fix things". Add a prefix to indicate what it is.',
    ),
    "a fork without secrets": (FailureClass.OUTSIDE_CODE, "##[error]Input required and not supplied: token"),
}
WAITING = "toomanyrequests: You have reached your pull rate limit."


def cause(text: str) -> Cause:
    log = f"##[group]Run check\n##[endgroup]\n{text}\n{EXIT}\n".encode()
    return cause_of(JobEvidence(job=JobFacts(id=1, name="job", conclusion="failure")), read_log([log]))


@pytest.mark.parametrize("scene", SCENES)
def test_of_several_tools_that_speak_the_one_that_knows_the_cause_decides(scene: str) -> None:
    expected, text = SCENES[scene]
    assert cause(text).failure_class is expected


def test_after_too_many_requests_only_waiting_helps() -> None:
    found = cause(WAITING)
    assert (found.failure_class, found.wish) == (FailureClass.INFRASTRUCTURE, Action.WAIT)
