"""What maven, gradle, javac, kotlinc, junit and the checkers they run say."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

SUREFIRE = Words("maven surefire", FailureClass.TEST)
JAVAC = Words("javac", FailureClass.BUILD)
MAVEN = Words("maven", FailureClass.BUILD)
ENFORCER = Words("maven enforcer", FailureClass.DEPENDENCY)
MAVEN_LINT = Words("checkstyle", FailureClass.LINT)
MAVEN_FORMAT = Words("spotless", FailureClass.FORMAT)
ANT = Words("ant", FailureClass.BUILD)
ANT_TEST = Words("ant junit", FailureClass.TEST)
GRADLE = Words("gradle", FailureClass.BUILD)
GRADLE_TEST = Words("gradle test", FailureClass.TEST)
GRADLE_SETTINGS = Words("gradle", FailureClass.CONFIGURATION)

GOAL = r"^(?:\[ERROR\] |Error: {1,2})?(?P<message>Failed to execute goal \S*"

ROWS = (
    SUREFIRE.last_word(rf"{GOAL}(?:surefire|failsafe)-plugin:.*)", "maven says that tests failed"),
    SUREFIRE.error(
        r"^\[ERROR\] {1,4}(?P<test>[\w.$]+[.#][\w$]+)(?::(?P<line>\d+)|\(\))?(?:->\S+)?:? {0,2}"
        r"(?P<message>(?:\u00bb|expected|Expect|Wanted).*|(?<=\d )\S.*)",
        "a test failed",
    ),
    SUREFIRE.error(
        r"^\[ERROR\] (?P<test>[\w.$]+(?:[.#][\w$]+|\([\w.$]+\))?)\S{0,80} {1,3}(?:--)? {0,2}"
        r"Time elapsed: [\d.,]+ {0,2}s(?:ec)? {1,3}<<< (?:FAILURE|ERROR)!",
        "a test failed",
    ),
    SUREFIRE.error(r"^Failed tests: {1,4}(?P<test>\w+\([\w.$]+\))(?P<message>.*)", "a test failed"),
    SUREFIRE.error(
        r"^(?:\[ERROR\] |Error: {1,2})?Tests run: \d+, "
        r"(?:Failures: [1-9]\d*, Errors: \d+|Failures: 0, Errors: [1-9]\d*)",
        "the summary counts failures",
    ),
    MAVEN_LINT.last_word(rf"{GOAL}(?:checkstyle|pmd|spotbugs|ktlint|detekt)(?:-maven)?-plugin:.*)", "a rule is broken"),
    MAVEN_LINT.error(
        r"^\[(?:ERROR|WARN|WARNING)\] (?P<file>\S+\.(?:java|kt|xml)):\[?(?P<line>\d+)(?:[:,]\d+\]?)?:? "
        r"(?P<message>.{1,400}) \[(?P<code>[A-Z]\w+)\]$",
        "a rule is broken",
    ),
    MAVEN_FORMAT.last_word(
        rf"{GOAL}(?:spotless|javaformat|spring-javaformat|formatter|fmt)-maven-plugin:.*)", "a file is not formatted"
    ),
    MAVEN_FORMAT.error(
        r"^(?:\[ERROR\] |> )?(?P<message>The following files had format violations)", "a file is not formatted"
    ),
    ENFORCER.last_word(rf"{GOAL}enforcer-plugin:.*)", "a rule on dependencies is broken"),
    JAVAC.error(
        r"^(?:\[ERROR\] )(?P<file>\S+\.(?:java|kt|scala)):\[?(?P<line>\d+),\d+\]? (?:error: )?(?P<message>\S.*)",
        "the code does not compile",
    ),
    JAVAC.error(r"^(?P<file>[^\s:]+\.java):(?P<line>\d+): error: (?P<message>.*)", "the code does not compile"),
    JAVAC.error(
        r"^e: (?:file://)?(?P<file>[^\s:]+\.kts?):(?:\s?\(?)(?P<line>\d+)[:,] ?\d+\)?:? (?P<message>\S.*)",
        "the code does not compile",
    ),
    ANT_TEST.last_word(r"^ {0,12}\[junit\w*\] Test (?P<test>\S+) FAILED", "a test class failed"),
    ANT_TEST.last_word(
        r"^ {0,12}\[junit\w*\] Tests run: \d+, {1,2}(?:Failures: [1-9]|Failures: 0, {1,2}Errors: [1-9])",
        "the summary counts failures",
    ),
    ANT_TEST.error(r"^ {0,12}\[junit\w*\] {1,8}=> (?P<message>\S.*)", "an exception ended a test"),
    ANT.error(
        r"^ {0,12}\[javac\] (?P<file>\S+\.java):(?P<line>\d+): error: (?P<message>.*)", "the code does not compile"
    ),
    MAVEN.last_word(rf"{GOAL}compiler-plugin:.*)", "the code does not compile"),
    MAVEN.error(r"^\[ERROR\] (?P<message>COMPILATION ERROR :)", "the code does not compile"),
    MAVEN.last_word(
        r"^(?:\[ERROR\] |Error: {1,2})?(?!.{0,900}Could not (?:transfer|resolve|find artifact))"
        r"(?P<message>Failed to execute goal .*)",
        "maven gave up",
    ),
    MAVEN.error(
        r"^\[(?:ERROR|FATAL)\] (?P<message>(?:Non-parseable|Malformed|Unresolveable|Unknown|'.{1,80}' "
        r"(?:is missing|must|for)).*)",
        "the build file is wrong",
    ),
    MAVEN.hint(r"^\[(?:INFO|ERROR)\] BUILD FAILURE$", "maven says that the build failed"),
    GRADLE_TEST.last_word(r"^(?P<test>[A-Za-z][\w.$]* > .{1,300}?) FAILED$", "a test failed"),
    GRADLE_TEST.error(r"^(?:> )?(?P<message>There were failing tests)\.", "gradle says that tests failed"),
    GRADLE_TEST.error(r"^[1-9]\d* tests? completed, [1-9]\d* failed", "the summary counts failures"),
    GRADLE_TEST.error(r"^(?P<message>Execution failed for task '\S*:(?:\w*[tT]est\w*)')", "a task of tests failed"),
    MAVEN_LINT.error(
        r"^(?P<message>Execution failed for task '\S*:(?:checkstyle|pmd|spotbugs|ktlint|detekt|lint)\w{0,60}')",
        "a task of checks failed",
    ),
    MAVEN_FORMAT.error(r"^(?P<message>Execution failed for task '\S*:spotless\w*')", "a task of formatting failed"),
    GRADLE.error(r"^(?P<message>Execution failed for task '\S+')", "a task of gradle failed"),
    GRADLE_SETTINGS.error(
        r"^(?P<message>A problem occurred (?:evaluating|configuring) .*)", "the build script is wrong"
    ),
    GRADLE_SETTINGS.error(r"^Build file '(?P<file>[^']+)' line: (?P<line>\d+)", "the build script is wrong"),
    GRADLE.error(r"^> (?P<message>Compilation failed; see the compiler .*)", "the code does not compile"),
    GRADLE.hint(
        r"^FAILURE: Build (?:failed with an exception|completed with \d+ failures)\.",
        "gradle says that the build failed",
    ),
    GRADLE.hint(r"^BUILD FAILED(?: in \d.*)?$", "gradle says that the build failed"),
    GRADLE.hint(r"^> Task (?P<message>:\S+) FAILED$", "a task of gradle failed"),
)
