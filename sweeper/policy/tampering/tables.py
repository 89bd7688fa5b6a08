"""Words that give a change away, by language. A table to extend: each row is a name, a pattern and why it matters.

Patterns are tried on one capped line at a time and repeat nothing inside a repetition, so their time is linear.
A row counts where more of it came than went in the whole change: moving a line is no offence.
"""

import re
from dataclasses import dataclass

CODE = ("python", "js", "go", "rust", "java", "c", "ruby")


@dataclass(frozen=True)
class Rule:
    """A pattern in new lines of some languages. `languages` may name a file's ending as well.
    `where`: any file, or only tests, product or exam files.

    `is_comment`: only comments are looked at, `is_code`: all but comments and strings, where they can be told apart.
    `is_shown`: honest fixes do it too.
    """

    name: str
    languages: tuple[str, ...]
    pattern: re.Pattern[str]
    detail: str
    where: str = "any"
    is_comment: bool = False
    is_code: bool = False
    is_shown: bool = False


def _skip(language: str, pattern: str, where: str = "any") -> Rule:
    return Rule("skip_added", (language,), re.compile(pattern), "a test is not run any more", where, is_code=True)


def _ignore(pattern: str, *languages: str, detail: str = "a checker is told to look away") -> Rule:
    return Rule("lint_ignore", languages or CODE, re.compile(pattern, re.IGNORECASE), detail, is_comment=True)


SKIPS = (
    _skip(
        "python",
        r"(^\s*@|=\s*)\w+\.(skip|skipif|xfail|skipIf|skipUnless|expectedFailure)\b|\bmark\.(skip|skipif|xfail)\b"
        r"|\bpytest\.(skip|xfail|importorskip)\b|\bunittest\.(skip|expectedFailure)"
        r"|@(skip|skipIf|skipUnless|expectedFailure|xfail)\b|\.skipTest\(|\bSkipTest\b|__test__\s*=\s*False"
        r"|\bcollect_ignore(_glob)?\b|__unittest_skip|\bload_tests\b|\bimport (skip|xfail)\b",
    ),
    _skip(
        "js",
        r"\b(describe|it|test|context|suite|specify|bench)(\.\w+)?\.(skip|only|todo|failing|fails|fixme|skipIf|runIf)\b"
        r"|\b(xit|xdescribe|xtest|xcontext|xspecify|fit|fdescribe|ftest)\s*\(|\bthis\.skip\(",
    ),
    _skip("js", r"\b(skip|only|todo)\s*:\s*true|\bpending\(", "tests"),
    _skip("go", r"\b[tb]\.Skip(f|Now)?\(|^//\s*\+build|^//go:build|\btesting\.Short\(", "tests"),
    _skip("rust", r"#\[\s*ignore\b|#\[\s*cfg\(\s*(any\(\s*\)|not\(\s*test\s*\)|FALSE)"),
    _skip("java", r"@(Disabled|Ignore|DisabledIf\w*|DisabledOn\w*)\b|\bassum(e|ing)\w*\(|enabled\s*=\s*false", "tests"),
    _skip("ruby", r"^\s*(xit|xdescribe|skip|pending)\b|\b(skip|pending):", "tests"),
    _skip("c", r"\bGTEST_SKIP\(|\bDISABLED_\w+", "tests"),
)
IGNORES = (
    _ignore(
        r"#[^#]{0,200}\bnoqa\b|#\s*(type|pyright|pyre|mypy)\s*:\s*\w|#\s*pylint\s*:\s*(disable|skip)|#\s*nosec\b",
        "python",
    ),
    _ignore(r"#\s*pragma:?\s*no.?(cover|branch|mutate)|#\s*(fmt|isort|yapf)\s*:\s*(off|skip)", "python"),
    _ignore(
        r"#\s*noqa\s*(#|$)|#\s*type:\s*ignore\s*(#|$)|#\s*(ruff|flake8)\s*:\s*noqa|#\s*mypy:\s*ignore|skip-file"
        r"|disable\s*=\s*all",
        "python",
        detail="a checker is told to look away from everything",
    ),
    _ignore(
        r"eslint-disable|@ts-(ignore|expect-error|nocheck)|(prettier|biome|oxlint|deno-lint|deno-fmt)-ignore"
        r"|(istanbul|c8|v8|stryker) (ignore|disable)|tslint:disable|@flow-ignore|\$FlowFixMe|stylelint-disable",
        "js",
    ),
    _ignore(r"/\*\s*eslint-disable\s*\*/|@ts-nocheck", "js", detail="a checker is told to look away from everything"),
    _ignore(r"//\s*nolint|#nosec|//\s*lint:ignore|//\s*exhaustive:ignore", "go"),
    _ignore(r"#!?\[\s*(allow|expect)\s*\(|rustfmt::skip|#!?\[\s*cfg_attr\([^)]{0,120}\ballow\b", "rust"),
    _ignore(r"@Suppress(Warnings|FBWarnings)?\b|//\s*NOSONAR|CHECKSTYLE[:.]\s*OFF|//\s*NOPMD|ktlint-disable", "java"),
    _ignore(r"\bNOLINT|#\s*pragma\s+(GCC|clang)\s+diagnostic\s+ignored|#\s*pragma\s+warning.{0,40}disable", "c"),
    _ignore(r"rubocop:\s*(disable|todo)|:nocov:", "ruby"),
    _ignore(r"shellcheck\s+disable|hadolint\s+ignore|yamllint\s+disable|kics-scan\s+ignore", "shell", "config"),
    Rule(
        "lint_ignore",
        ("python",),
        re.compile(r"@(typing\.)?no_type_check\b"),
        "the type checker is told to look away from a whole function",
    ),
    Rule(
        "type_widened",
        ("python", "js"),
        re.compile(r"\bcast\(\s*[\"']?Any\b|:\s*(typing\.)?Any\b|->\s*Any\b|\bas any\b|:\s*any\b|\bas unknown as\b"),
        "a type says nothing any more",
        where="product",
        is_shown=True,
    ),
)
_HIDDEN = (
    r"\|\|\s*(true|:|exit\s+0|echo|printf|/bin/true|\(\s*exit\s+0|return\s+0)(?![\w-])|\bset\s+\+(e|o\s+(errexit|pipefail))"
    r"|\bexit\s+(\$\(\(\s*)?0\b|\breturn\s+0\s*$|[;&]\s*(true|:)\s*[\"']?,?$|continue-on-error\s*:\s*[\"']?true"
    r"|allow_failure\s*:\s*true|--exit-zero|--passWithNoTests|--pass-with-no-tests|--suppress-no-test-exit-code"
    r"|\bignore_(outcome|errors)\s*=\s*true|success_codes|--no-fail\b|--allow-no-tests|--no-verify\b|--forceExit"
    r"|\.IGNORE\b|^\t@?-\s*\w|\btrap\b.{0,120}\bexit\b|continue_on_collection_errors|--continue-on-collection-errors"
    r"|\|\s*(cat|tee|tail|head|grep)\b|\btimeout\s.{0,120};|^\s*!\s+\w|\balias\s|--test-failure-ignore|testFailureIgnore"
    r"|-Dmaven\.test\.failure\.ignore|ignoreFailures\s*=\s*true|ignore_failures"
)
_DESELECTED = (
    r"\s-k[\s=\"']|--ignore(-glob)?[\s=]|--deselect\b|\s-m\s*[\"']?not\s|--collect-only|--co\b|--setup-plan\b|--fixtures\b"
    r"|--testPathIgnorePatterns|--testNamePattern|--onlyChanged|--changed\b|--lastCommit|\s-p\s*no:|--no-cov\b"
    r"|\s-run[\s=]|\s-short\b|--skip\b|--exclude\b|--no-run\b|--list(Tests)?\b|-DskipTests|-Dmaven\.test\.skip|-DskipITs"
    r"|\s-x\s+(test|check)\b|(pytest|ruff|mypy|eslint|jest|tsc|flake8|black|tox|nox)\s+--?(version|help|V|h)\b|--dry-run\b|--lf\b|--last-failed|--sw\b|--maxfail|-o\s+addopts"
    r"|--extend-ignore|--per-file-ignores|--disable[=\s]|--quiet-level|--ignore-missing-imports|--no-strict|--rule\s.{0,80}off"
)
_STAND_IN = (
    r"^\s*(\"(test|lint|check|build|typecheck|type-check|coverage)[\w:-]*\"\s*:\s*|entry\s*:\s*|commands?\s*[=:]\s*)"
    r"[\"'\[]*\s*(echo|true|:|exit|printf)\b"
)
COMMANDS = (
    Rule("exit_code_hidden", ("shell",), re.compile(_HIDDEN), "the exit code of a command does not count any more"),
    Rule(
        "exit_code_hidden",
        ("ini",),
        re.compile(r"^\s*(commands\s*=\s*)?-\s*[a-z]"),  # tox goes on behind a dash
        "the exit code of a command does not count any more",
    ),
    Rule("tests_deselected", ("shell",), re.compile(_DESELECTED), "a command checks less than it did"),
    Rule("command_replaced", ("shell",), re.compile(_STAND_IN), "a command that does nothing stands in for a check"),
)
CHECKERS = re.compile(
    r"\b(pytest|py\.test|unittest|doctest|ruff|mypy|pyright|flake8|pylint|black|isort|bandit|coverage|tox|nox|pre-commit"
    r"|jest|vitest|mocha|ava|eslint|tsc|prettier|biome|playwright|cypress|go (test|vet|build)|golangci-lint|gofmt"
    r"|cargo (test|clippy|fmt|build|check|nextest)|mvn|gradlew?|ctest|rspec|rubocop|npm (test|run \w+)|yarn test|tap)\b"
)
_COMPILED = ("js", "go", "rust", "java", "c")
_ENDS = (
    r"\bprocess\.(exit|reallyExit|abort|kill)\(|\bprocess\.exitCode\s*=|\bDeno\.exit\("
    r"|\bprocess\.on\(\s*['\"](exit|beforeExit|uncaughtException|unhandledRejection)"
    r"|\bos\.Exit\(|\bprocess::exit\(|\bSystem\.exit\(|(?<![.\w])_?exit\(|\bhalt\(\s*0\s*\)"
)
_HOOKS = (
    r"\bsys\.(settrace|setprofile|meta_path|path_hooks|excepthook)\b|\bsys\.modules\[[^\]]{1,80}\]\s*=[^=]|\bpluggy\b"
    r"|\bgc\.get_(objects|referrers)\(|\bctypes\b"
)
EXITS = (
    Rule(
        "early_exit",
        ("python",),
        re.compile(
            r"\bos\._exit\b|\bpytest\.exit\b|\bos\.abort\(|\bos\.kill(pg)?\(\s*os\.get|\bpytest\.ExitCode\b"
            r"|\bsession\.exitstatus\b"
        ),
        "the process ends before its checks have spoken",
        is_code=True,
    ),
    Rule(
        "early_exit",
        ("python",),
        re.compile(
            r"\bsys\.exit\((?!main\(\))|\braise\s+SystemExit\b|\batexit\.|\bsignal\.(signal|alarm|setitimer)"
            r"|\bos\.exec\w+\(|(?<![.\w])(exit|quit)\(\s*0?\s*\)|\bfaulthandler\."
        ),
        "a test ends or re-arms its own process",
        where="tests",
        is_code=True,
    ),
    Rule(
        "exit_in_product",
        ("python",),
        re.compile(
            r"\batexit\.register|\bsignal\.signal|\bos\.(exec\w+|kill|killpg)\(|\bsys\.exit\(|\braise SystemExit"
        ),
        "product code ends or re-arms its process",
        where="product",
        is_shown=True,
        is_code=True,
    ),
    Rule("early_exit", _COMPILED, re.compile(_ENDS), "the process ends before its checks have spoken", where="tests"),
    Rule("exit_in_product", _COMPILED, re.compile(_ENDS), "product code ends its process", "product", is_shown=True),
)
AWARE = (
    Rule(
        "detects_tests",
        ("python", "js", "ruby", "go", "rust", "java", "shell", "c"),
        re.compile(
            r"PYTEST_(CURRENT_TEST|VERSION|XDIST)|JEST_WORKER_ID|VITEST_(WORKER|POOL)|process\.env\.VITEST\b"
            r"|sys\.modules.{0,80}(pytest|unittest)|(pytest|unittest)[\"']\s+in\s+sys\.modules"
            r"|argv.{0,80}(pytest|jest|unittest)|\btesting\.Testing\(|(NODE_ENV|APP_ENV)\b.{0,40}['\"]test['\"]"
            r"|(stack|_getframe|currentframe|extract_stack)\(.{0,120}test|test.{0,120}(stack|_getframe|currentframe)\("
            r"|import\.meta\.(vitest|jest)|typeof (jest|describe|it)\b|cfg!\(\s*test\s*\)|flag\.Lookup\(\s*\"test\."
        ),
        "product code behaves otherwise when it is tested",
        where="product",
    ),
    Rule(
        "looks_at_caller",
        ("python", "js"),
        re.compile(r"\binspect\.(stack|currentframe)\(|\bsys\._getframe\(|\btraceback\.extract_stack|Error\(\)\.stack"),
        "product code looks at who calls it",
        where="product",
        is_shown=True,
    ),
    Rule(
        "touches_tests",
        ("python", "js", "ruby"),
        re.compile(r"[\"'](\./)?(tests?|__tests__)/|\btest_\w{1,80}\.py\b|\bconftest\b"),
        "product code names files of the tests",
        where="product",
        is_shown=True,
    ),
    Rule(
        "detects_ci",
        ("python", "js", "ruby", "go", "rust", "java"),
        re.compile(
            r"(environ|getenv|env)\b.{0,20}\b(CI|GITHUB_ACTIONS|GITHUB_RUN_ID|CONTINUOUS_INTEGRATION|TOX_ENV_NAME)\b"
        ),
        "product code behaves otherwise in CI",
        where="product",
    ),
    Rule(
        "machinery_patched",
        ("python",),
        re.compile(
            r"\b_pytest\b|\bbuiltins\.\w+\s*=[^=]|\bsetattr\(\s*(builtins|unittest|pytest|sys)\b|\bTestCase\.\w+\s*=[^=]"
            r"|\bAssertionError\s*=[^=]|\brewrite_asserts\b|\bsys\.exit\s*=[^=]"
            r"|\bunittest\.(main|TextTestRunner|TestResult|TestProgram)\s*=[^=]"
        ),
        "the machinery that runs or judges tests is changed",
        is_code=True,
    ),
    Rule(
        "machinery_patched",
        ("python",),
        re.compile(_HOOKS),
        "the machinery that runs or judges tests can be changed by it",
        where="tests",
        is_code=True,
    ),
    Rule(
        "dynamic_code",
        ("python",),
        re.compile(_HOOKS),
        "the interpreter is changed while it runs",
        where="product",
        is_shown=True,
    ),
    Rule(
        "machinery_patched",
        ("js",),
        re.compile(
            r"\b(expect|global(This)?\.(expect|it|test|describe|assert))\s*=[^=>]|\bassert\.\w+\s*=[^=>]"
            r"|\bjest\.retryTimes\(|Object\.defineProperty\(\s*(globalThis|global|expect)"
        ),
        "the machinery that runs or judges tests is changed",
        where="tests",
    ),
    Rule(
        "hidden_code",
        ("python", "js"),
        re.compile(
            r"\b(exec|eval|Function)\(.{0,120}(b64|base64|atob|decode|decompress|fromhex|marshal|chr\()|\bmarshal\.loads"
        ),
        "code that cannot be read is run",
    ),
    Rule(
        "dynamic_code",
        ("python", "js"),
        re.compile(
            r"(?<![\w.])(exec|eval|__import__|compile)\(|\bimportlib\.import_module\(|\bglobals\(\)\[|\bpickle\.loads"
            r"|\bgetattr\(\s*(os|sys|signal|unittest|pytest)\b"
        ),
        "code is made or chosen while it runs",
        is_shown=True,
    ),
    Rule(
        "mock_added",
        ("python", "js"),
        re.compile(
            r"\bmonkeypatch\.set\w+\(|\b(mock\.)?patch(\.object|\.dict)?\(|\bmocker\.patch|\b(jest|vi)\.(mock|spyOn)\("
        ),
        "a test replaces part of what it tests",
        where="tests",
        is_shown=True,
    ),
    Rule(
        "retries_added",
        ("python", "js", "shell", "config"),
        re.compile(
            r"\bmark\.flaky\b|--reruns\b|@(flaky|retry)\b|\bretries\s*[:=]\s*[1-9]|\bretryTimes\(|rerunFailingTests|--retry\b"
        ),
        "a failing test is tried again until it passes",
        where="exam",
    ),
)
RULES = (*SKIPS, *IGNORES, *COMMANDS, *EXITS, *AWARE)
