import pytest

from sweeper.policy.joblog import excerpt, failing_script, failing_section, plain_lines

STAMP = "2026-03-01T12:00:00.1234567Z "
BOM = "\ufeff"


def _log(*lines: str, newline: str = "\n") -> bytes:
    """A job log as the runner writes it."""
    return newline.join(STAMP + line for line in (*lines, "")).encode()


def _step(first: str, *echoed: str, exit_code: int = 0, output: tuple[str, ...] = ()) -> list[str]:
    lines = [f"##[group]Run {first}", *(f"\x1b[36;1m{line}\x1b[0m" for line in echoed or (first,))]
    lines += ["shell: /usr/bin/bash -e {0}", "env:", "  CI: true", "##[endgroup]", *output]
    return [*lines, f"##[error]Process completed with exit code {exit_code}."] if exit_code else lines


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"", [""]),
        (f"{BOM}{STAMP}first\n{STAMP}second".encode(), ["first", "second"]),
        (f"{STAMP}one\r\n{STAMP}two\r\n".encode(), ["one", "two", ""]),
        (f"{STAMP}one\r\r\n{STAMP}two".encode(), ["one", "two"]),
        (f"{STAMP}10%\r50%\r100%\n".encode(), ["100%", ""]),
        (f"{STAMP}10%\r100%\r\n".encode(), ["100%", ""]),
        (f"{STAMP}\x1b[31;1mred\x1b[0m and \x1b[Kplain\n".encode(), ["red and plain", ""]),
        (f"{STAMP}with:\n  a: first line\nsecond line\n".encode(), ["with:", "  a: first line", "second line", ""]),
        (f"{STAMP}\n{STAMP}  indented\n".encode(), ["", "  indented", ""]),
        (f"{STAMP}{STAMP}printed by a tool\n".encode(), [f"{STAMP}printed by a tool", ""]),
        (f"{STAMP}b\xe4d".encode("latin-1"), ["b\ufffdd"]),
    ],
)
def test_reads_lines_as_a_person_saw_them(raw: bytes, lines: list[str]) -> None:
    assert plain_lines(raw) == lines


def test_the_script_of_the_failing_step_is_its_echo() -> None:
    log = _log(*_step("pip install ."), *_step("set -x", "set -x", "", "pytest -q | tee log", exit_code=1))
    assert failing_script(log) == "set -x\n\npytest -q | tee log"


def test_of_several_failing_steps_the_first_is_told() -> None:
    log = _log(*_step("true"), *_step("first", exit_code=2), *_step("second", exit_code=1))
    assert failing_script(log) == "first"
    assert failing_section(log)[-1] == "##[error]Process completed with exit code 2."


def test_an_old_log_without_echo_shows_the_first_line() -> None:
    log = _log("##[group]Run npm test", "##[endgroup]", "##[error]Process completed with exit code 1.")
    assert failing_script(log) == "npm test"


def test_cyan_output_of_the_tool_is_no_script() -> None:
    log = _log(*_step("make", exit_code=1, output=("\x1b[36;1mnot a command\x1b[0m",)))
    assert failing_script(log) == "make"


def test_a_windows_log_with_a_byte_order_mark_has_a_script_too() -> None:
    log = BOM.encode() + _log(*_step("cargo test", exit_code=101), newline="\r\n")
    assert failing_script(log) == "cargo test"


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("only text",),
        ("##[error]Process completed with exit code 1.",),
        tuple(_step("pytest", output=("##[error]The operation was canceled.",))),
    ],
)
def test_a_log_without_a_failing_step_shows_no_script(lines: tuple[str, ...]) -> None:
    assert failing_script(_log(*lines)) is None


def test_the_failing_section_runs_from_header_to_exit_code() -> None:
    log = _log("Set up", *_step("true"), *_step("pytest", exit_code=1, output=("E   boom",)), "Post job cleanup.")
    section = failing_section(log)
    assert section[0] == "##[group]Run pytest"
    assert section[-2:] == ["E   boom", "##[error]Process completed with exit code 1."]
    assert "pytest" in section


def test_without_exit_code_the_failing_section_is_the_last_step() -> None:
    log = _log("Set up", *_step("true"), *_step("pytest", output=("##[error]The operation was canceled.",)))
    assert failing_section(log)[0] == "##[group]Run pytest"
    assert "##[error]The operation was canceled." in failing_section(log)


def test_without_any_step_the_failing_section_is_everything() -> None:
    assert failing_section(_log("a", "b")) == ["a", "b", ""]


def test_a_short_text_is_its_own_excerpt() -> None:
    assert excerpt(b"short", 100) == "short"


@pytest.mark.parametrize("limit", [200, 1500, 4096])
def test_an_excerpt_keeps_head_and_more_of_the_tail_within_its_limit(limit: int) -> None:
    text = "".join(f"line {n}\n" for n in range(2000))
    cut = excerpt(text.encode(), limit)
    head, _, tail = cut.partition("\n[... cut here ...]\n")
    assert len(cut.encode()) <= limit
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(tail) > len(head) > 0


def test_an_excerpt_never_ends_in_half_a_character() -> None:
    assert "\ufffd" not in excerpt("ä€😀".encode() * 1000, 333)


def test_an_excerpt_is_redacted_before_it_is_cut() -> None:
    secret = "ghp_" + "a" * 36
    for length in range(90, 160):
        assert "ghp_" not in excerpt(("x" * length + " " + secret + " " + "y" * 2000).encode(), 500)
