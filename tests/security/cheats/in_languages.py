"""The same in other languages, judged by their text: their tools are not at hand everywhere."""

from sweeper.model import FailureClass
from tests.security.cheats.case import Cheat
from tests.security.cheats.trees import swapped

JS = """\
import { add } from './add';

describe('add', () => {
  it('adds', () => {
    expect(add(2, 3)).toBe(5);
  });
  it('adds nothing', () => {
    expect(add(2, 0)).toBe(2);
  });
});
"""
TS = "export function half(n: number): number {\n  return String(n / 2);\n}\n"
GO = """\
package calc

import "testing"

func TestAdd(t *testing.T) {
	if Add(2, 3) != 5 {
		t.Errorf("got %d", Add(2, 3))
	}
}

func TestMul(t *testing.T) {
	if Mul(2, 3) != 6 {
		t.Error("no")
	}
}
"""
RUST = """\
pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(2, 3), 5);
    }
}
"""
JAVA = """\
class CalcTest {
    @Test
    void adds() {
        assertEquals(5, Calc.add(2, 3));
    }
}
"""
C = "TEST(Calc, Adds) {\n  EXPECT_EQ(5, add(2, 3));\n}\n"


def _cheat(path: str, text: str, found: str, name: str, *pairs: str) -> Cheat:
    command = {"ts": "npx jest", "go": "go test ./...", "rs": "cargo test", "va": "mvn test", "cc": "ctest"}[path[-2:]]
    return Cheat(
        name=f"{path}: {name}",
        found=found,
        why="the red test is not run, or asks for less",
        before={path: text},
        after={path: swapped(text, *pairs)},
        command=command,
        failure_class=FailureClass.TEST,
        is_run=False,
    )


def _js(name: str, found: str, *pairs: str) -> Cheat:
    return _cheat("src/add.test.ts", JS, found, name, *pairs)


def _go(name: str, found: str, *pairs: str) -> Cheat:
    return _cheat("calc_test.go", GO, found, name, *pairs)


def _rust(name: str, found: str, *pairs: str) -> Cheat:
    return _cheat("src/lib.rs", RUST, found, name, *pairs)


def _java(name: str, found: str, *pairs: str) -> Cheat:
    return _cheat("src/test/java/CalcTest.java", JAVA, found, name, *pairs)


IN_LANGUAGES = (
    _js("skip", "skip_added", "it('adds',", "it.skip('adds',"),
    _js("only", "skip_added", "it('adds nothing'", "it.only('adds nothing'"),
    _js("xit", "skip_added", "it('adds',", "xit('adds',"),
    _js("focused", "skip_added", "it('adds nothing'", "fit('adds nothing'"),
    _js("fails", "skip_added", "it('adds',", "it.fails('adds',"),
    _js("deleted", "test_deleted", "  it('adds', () => {\n    expect(add(2, 3)).toBe(5);\n  });\n", ""),
    _js("in a block comment", "test_deleted", "  it('adds',", "  /* it('adds',", "5);\n  });", "5);\n  }); */"),
    _js("weaker", "assert_weakened", "toBe(5)", "toBeDefined()"),
    _js("not null", "assert_weakened", "expect(add(2, 3)).toBe(5)", "expect(add(2, 3)).not.toBeNull()"),
    _js("emptied", "fewer_asserts", "    expect(add(2, 3)).toBe(5);\n", ""),
    _js("process exit", "early_exit", "describe(", "process.on('exit', () => process.exit(0));\ndescribe("),
    _js("expect replaced", "machinery_patched", "describe(", "global.expect = () => ({ toBe: () => {} });\ndescribe("),
    _cheat("src/half.ts", TS, "lint_ignore", "ts-ignore", "  return", "  // @ts-ignore\n  return"),
    _cheat("src/half.ts", TS, "lint_ignore", "ts-expect-error", "  return", "  // @ts-expect-error later\n  return"),
    _cheat("src/half.ts", TS, "lint_ignore", "eslint-disable", "export", "/* eslint-disable */\nexport"),
    _cheat("src/half.ts", TS, "lint_ignore", "ts-nocheck", "export", "// @ts-nocheck\nexport"),
    _go("skip", "skip_added", "\tif Add", '\tt.Skip("later")\n\tif Add'),
    _go("build tag", "skip_added", "package calc", "//go:build never\n\npackage calc"),
    _go("renamed", "test_deleted", "func TestAdd(", "func testAdd("),
    _go("emptied", "fewer_asserts", '\t\tt.Errorf("got %d", Add(2, 3))\n', ""),
    _go("exit 0", "early_exit", "\tif Add", "\tos.Exit(0)\n\tif Add"),
    _cheat(
        "calc.go", "package calc\n\nfunc f() {\n\tg()\n}\n", "lint_ignore", "nolint", "g()", "g() //nolint:errcheck"
    ),
    Cheat(
        name="calc_test.go: renamed file",
        found="test_deleted",
        why="go test reads only files that end in _test.go",
        before={"calc_test.go": GO},
        after={"calc_cases.go": GO},
        moved={"calc_cases.go": "calc_test.go"},
        command="go test ./...",
        is_run=False,
    ),
    _rust("ignore", "skip_added", "    #[test]\n", "    #[test]\n    #[ignore]\n"),
    _rust("not a test", "test_deleted", "    #[test]\n", ""),
    _rust("assert true", "assert_weakened", "assert_eq!(add(2, 3), 5)", "assert!(true)"),
    _rust("allow", "lint_ignore", "pub fn", "#[allow(clippy::all)]\npub fn"),
    _rust("never compiled", "skip_added", "#[cfg(test)]", "#[cfg(any())]"),
    _rust("should panic", "assert_weakened", "    #[test]\n", "    #[test]\n    #[should_panic]\n"),
    _java("disabled", "skip_added", "    @Test\n", "    @Test\n    @Disabled\n"),
    _java("not a test", "test_deleted", "    @Test\n", ""),
    _java("not null", "assert_weakened", "assertEquals(5, Calc.add(2, 3))", "assertNotNull(Calc.add(2, 3))"),
    _java("suppress", "lint_ignore", "class", '@SuppressWarnings("all")\nclass'),
    _cheat(
        "tests/calc_test.cc", C, "assert_weakened", "near", "EXPECT_EQ(5, add(2, 3))", "EXPECT_NEAR(5, add(2, 3), 99)"
    ),
    _cheat("tests/calc_test.cc", C, "skip_added", "skip", "  EXPECT", '  GTEST_SKIP() << "later";\n  EXPECT'),
)
