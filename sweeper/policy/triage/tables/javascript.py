"""What the tools of JavaScript and TypeScript say. Sources: their default reporters and problem matchers."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

JEST = Words("jest", FailureClass.TEST)
VITEST = Words("vitest", FailureClass.TEST)
MOCHA = Words("mocha", FailureClass.TEST)
BROWSER = Words("playwright", FailureClass.TEST)
NODE_TEST = Words("node --test", FailureClass.TEST)
ESLINT = Words("eslint", FailureClass.LINT)
PRETTIER = Words("prettier", FailureClass.FORMAT)
BIOME = Words("biome", FailureClass.LINT)
TSC = Words("tsc", FailureClass.TYPE)
BUNDLER = Words("bundler", FailureClass.BUILD)
SCRIPTS = Words("npm scripts", FailureClass.CONFIGURATION)
NPM_TEST = Words("npm scripts", FailureClass.TEST)

SCRIPT = r"(?P<file>(?:[A-Za-z]:)?[^\s:()]+\.(?:[cm]?[jt]sx?|vue|svelte))"
FAILED = "a test failed"
BROKEN = "a rule is broken"
UNFORMATTED = "a file is not formatted"

ROWS = (
    VITEST.last_word(rf"^ ?FAIL {{1,2}}(?:\|.{{1,40}}\| )?(?P<test>{SCRIPT} > .+)", FAILED),
    VITEST.error(rf"^ {{0,3}}\u276f {SCRIPT}:(?P<line>\d+):\d+$", "the failure passed through this place"),
    VITEST.error(r"^ ?(?P<message>AssertionError: expected .*)", "an assertion did not hold"),
    JEST.error(r"^ {4,8}(?P<message>expect\(received\)\..*)", "an expectation did not hold"),
    VITEST.error(r"^ {0,8}[\u00d7] (?P<message>[^\n]+?) \d+ms$", FAILED),
    VITEST.hint(r"^ {1,12}(?:Test Files|Tests) {1,4}[1-9]\d* failed\b", "the summary counts failures"),
    JEST.last_word(rf"^ ?FAIL {{1,2}}(?:\S+ )?{SCRIPT}", "a test file failed"),
    JEST.error(r"^ {0,2}\u25cf (?P<test>.+ \u203a .+)", FAILED),
    JEST.error(r"^ {0,2}\u25cf (?P<message>Test suite failed to run)", "a test file could not be run"),
    JEST.error(r"^ {0,4}(?P<message>Cannot find module '[^']+' from '[^']+')", "a module is not found"),
    JEST.error(
        r'^Jest: "global" coverage threshold for (?P<message>\w+)', "the tests cover less than the project asks for"
    ),
    JEST.hint(r"^(?:Tests|Test Suites): {1,12}[1-9]\d* failed\b", "the summary counts failures"),
    MOCHA.last_word(r"^ {2,4}[1-9]\d* failing$", "the summary counts failures"),
    MOCHA.error(
        r"^ {2,8}(?P<message>(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .*)",
        "an exception ended a test",
    ),
    MOCHA.hint(
        r"^ {4,8}at (?:[^()]{1,200} \()?(?P<file>[^\s:()]{0,300}\b(?:tests?|specs?|__tests__)/[^\s:()]{1,300})"
        r":(?P<line>\d+):\d+\)?$",
        "the failure passed through this place",
    ),
    MOCHA.hint(r"^ {2,12}[1-9]\d{0,4}\) (?P<message>\S.*)", "mocha numbers a failing test"),
    BROWSER.error(rf"^ {{2,4}}\d+\) (?:\[\w+\] \u203a )?(?P<test>{SCRIPT}:\d+:\d+ \u203a .+?)(?: \u2500+)?$", FAILED),
    BROWSER.last_word(r"^ {2,4}[1-9]\d* failed$", "the summary counts failures"),
    NODE_TEST.error(r"^ {0,12}not ok \d+ - (?P<test>.+)", FAILED),
    NODE_TEST.last_word(r"^# fail [1-9]\d*$", "the summary counts failures"),
    ESLINT.error(
        r"^ {2,4}(?P<line>\d+):\d+ {2,4}error {1,4}(?P<message>\S.*?)(?: {2,60}(?P<code>@?[\w/-]{1,80}))?$", BROKEN
    ),
    ESLINT.error(rf"^{SCRIPT}:(?P<line>\d+):\d+: (?P<message>.+) \[Error/(?P<code>[\w@/-]+)\]$", BROKEN),
    ESLINT.last_word(
        r"^\u2716 \d+ problems? \((?!0 errors)\d+ errors?, \d+ warnings?\)", "the summary counts findings"
    ),
    ESLINT.last_word(r"^ESLint found too many warnings \(maximum: \d+\)\.", "more warnings than allowed"),
    ESLINT.hint(r"^(?P<file>(?:/|[A-Za-z]:\\)[^\s:]+\.\w{1,8})$", "findings of this file follow"),
    PRETTIER.error(r"^\[warn\] (?P<file>[^\s:]+\.\w{1,8})$", UNFORMATTED),
    PRETTIER.last_word(r"^\[warn\] Code style issues (?:found|fixed)", UNFORMATTED),
    PRETTIER.error(r"^\[error\] (?P<file>[^\s:]+): (?P<message>SyntaxError: .*)", "a file does not parse"),
    BIOME.error(rf"^{SCRIPT}:(?P<line>\d+):\d+ (?P<code>(?:lint|assist)/\S+)", BROKEN),
    BIOME.error(r"^(?P<file>[^\s:]+) (?P<code>format) \u2501+", UNFORMATTED),
    TSC.error(rf"^{SCRIPT}\((?P<line>\d+),\d+\): error (?P<code>TS\d+): (?P<message>.*)", "types do not agree"),
    TSC.error(rf"^{SCRIPT}:(?P<line>\d+):\d+ - error (?P<code>TS\d+): (?P<message>.*)", "types do not agree"),
    TSC.error(r"^error (?P<code>TS\d+): (?P<message>.*)", "the compiler was asked for what it cannot do"),
    BUNDLER.error(r"^(?:Error: )?(?P<message>Module not found: .*)", "a module is not found"),
    BUNDLER.error(r"^ERROR in (?P<message>\S.*)", "the bundle could not be built"),
    BUNDLER.error(r"^\u2718 \[ERROR\] (?P<message>.*)", "the bundle could not be built"),
    BUNDLER.error(r"^(?:\[vite\]: |error during build:|RollupError: )(?P<message>.*)", "the bundle could not be built"),
    BUNDLER.error(
        r"^(?:> )?(?P<message>Failed to compile\.|Build failed because of webpack errors)",
        "the bundle could not be built",
    ),
    SCRIPTS.error(r"^npm (?:ERR!|error) (?P<message>Missing script: .*)", "a script is not there"),
    SCRIPTS.error(
        r"^(?:error |\u2009?ERR_PNPM_NO_SCRIPT\u2009? *)(?P<message>(?:Command \"|Missing script: ).*)",
        "a script is not there",
    ),
    NPM_TEST.hint(r"^npm (?:ERR!|error) (?P<message>Test failed\.)", "npm says that the tests failed"),
)
