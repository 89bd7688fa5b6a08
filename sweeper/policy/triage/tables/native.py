"""What C and C++ compilers, linkers, make, cmake and ctest say, and the formatters of those languages."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

COMPILER = Words("C/C++ compiler", FailureClass.BUILD)
LINKER = Words("linker", FailureClass.BUILD)
MAKE = Words("make", FailureClass.BUILD)
NINJA = Words("ninja", FailureClass.BUILD)
CMAKE = Words("cmake", FailureClass.BUILD)
CTEST = Words("ctest", FailureClass.TEST)
GTEST = Words("googletest", FailureClass.TEST)
CATCH = Words("catch2", FailureClass.TEST)
SANITIZER = Words("sanitizer", FailureClass.TEST)
TIDY = Words("clang-tidy", FailureClass.LINT)
CLANG_FORMAT = Words("clang-format", FailureClass.FORMAT)

SOURCE = r"(?P<file>(?:[A-Za-z]:)?[^\s:()]+\.(?:c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|ipp|inl|m|mm|cu|cuh|f90|swift))"
UNCOMPILED = "the code does not compile"
UNLINKED = "the program does not link"

ROWS = (
    TIDY.error(
        rf"^{SOURCE}:(?P<line>\d+):\d+: (?:error|warning): (?P<message>.+) \[(?P<code>[a-z]+-[\w.,-]+)\]$",
        "a rule is broken",
    ),
    CLANG_FORMAT.error(
        rf"^{SOURCE}:(?P<line>\d+):\d+: error: code should be clang-formatted", "a file is not formatted"
    ),
    COMPILER.error(
        rf"^{SOURCE}:(?P<line>\d+):(?:\d+:)? (?:fatal |internal compiler )?error: (?P<message>.*)", UNCOMPILED
    ),
    COMPILER.error(
        rf"^ {{0,8}}{SOURCE}\((?P<line>\d+)(?:,\d+)?\) ?: (?:fatal )?error (?P<code>C\d{{4}}): (?P<message>.*)",
        UNCOMPILED,
    ),
    COMPILER.error(r"^(?P<message>cc1(?:plus)?: (?:all warnings being treated as errors|fatal error: .*))", UNCOMPILED),
    COMPILER.hint(r"^[1-9]\d* errors? generated\.$", "the compiler counts errors"),
    LINKER.error(r"^(?:\S{0,200}: )?(?:\S{0,200}: )?(?P<message>undefined reference to [`'].*)", UNLINKED),
    LINKER.error(
        r"^(?:\S{0,200}/)?ld(?:\.\w{2,4})?: (?:error: )?(?P<message>(?:cannot find |undefined symbol: |"
        r"symbol\(s\) not found|library not found|duplicate symbol).*)",
        UNLINKED,
    ),
    LINKER.error(r"^(?P<message>Undefined symbols for architecture \w+)", UNLINKED),
    LINKER.error(r"^\S{1,200} : (?:fatal )?error (?P<code>LNK\d{4}): (?P<message>.*)", UNLINKED),
    LINKER.hint(r"^collect2: error: ld returned \d+ exit status", UNLINKED),
    LINKER.hint(r"^clang(?:\+\+)?: error: linker command failed", UNLINKED),
    MAKE.hint(
        r"^g?make(?:\[\d+\])?: \*\*\* \[(?:\S{1,200}: )?(?P<message>\S+)\] (?:Error \d+|Killed|Segmentation)",
        "make gave up on a target",
    ),
    MAKE.error(r"^g?make(?:\[\d+\])?: \*\*\* (?P<message>No rule to make target .*)", "make knows no such target"),
    MAKE.error(r"^(?P<file>\S*[Mm]akefile\S*?):(?P<line>\d+): \*\*\* (?P<message>.*)", "the makefile is wrong"),
    NINJA.hint(r"^ninja: build stopped: ", "ninja gave up"),
    NINJA.hint(r"^FAILED: (?:\[code=\d+\] )?(?P<message>\S+\.(?:o|obj|so|a|exe))\b", "ninja gave up on a target"),
    NINJA.error(r"^ninja: error: (?P<message>.*)", "ninja could not go on"),
    CMAKE.error(r"^ {0,2}(?P<message>CMake Error) at (?P<file>[^\s:]+):(?P<line>\d+)", "cmake stopped"),
    CMAKE.error(r"^ {0,8}CMake Error: (?P<message>.*)", "cmake stopped"),
    CMAKE.hint(r"^ {0,8}-- Configuring incomplete, errors occurred!", "cmake stopped"),
    CTEST.error(
        r"^ {0,4}\d+/\d+ Test +#\d+: (?P<test>\S+) \.*\*\*\*(?:Failed|Exception|Timeout|Not Run)", "a test failed"
    ),
    CTEST.last_word(
        r"^\t {0,4}\d+ - (?P<test>\S+) \((?:Failed|SEGFAULT|Timeout|Not Run|Child aborted|ILLEGAL|"
        r"Subprocess aborted)\)",
        "a test failed",
    ),
    CTEST.last_word(r"^\d+% tests passed, [1-9]\d* tests? failed out of \d+", "the summary counts failures"),
    CTEST.hint(r"^Errors while running CTest", "ctest says that tests failed"),
    GTEST.last_word(r"^\[ {2}FAILED {2}\] (?P<test>[A-Za-z_][\w/]*\.[\w/]+)", "a test failed"),
    GTEST.error(rf"^{SOURCE}:(?P<line>\d+): Failure$", "an expectation did not hold"),
    CATCH.error(rf"^{SOURCE}:(?P<line>\d+): FAILED:$", "an assertion did not hold"),
    CATCH.last_word(r"^test cases: +\d+ \| .{0,40}\b[1-9]\d* failed", "the summary counts failures"),
    SANITIZER.error(
        r"^==\d+==\s?ERROR: (?P<message>(?:Address|Leak|Memory|Thread)Sanitizer: [\w-]+)", "a sanitizer objects"
    ),
    SANITIZER.error(rf"^{SOURCE}:(?P<line>\d+):\d+: runtime error: (?P<message>.*)", "a sanitizer objects"),
    SANITIZER.error(
        r"^(?:\S{1,80}: line \d+: +\d+ )?(?P<message>Segmentation fault) +\(core dumped\)", "a program crashed"
    ),
)
