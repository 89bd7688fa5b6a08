from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.policy.triage import JobLog, Part, failing_script, read_log
from sweeper.policy.triage.lines import GAP, KEPT_OF_AN_END, split_lines
from tests.support.logs import real_log

STAMP = "2026-07-30T10:55:18.2467887Z "
EXIT = "##[error]Process completed with exit code {}."


def actions_log(*lines: str) -> bytes:
    return "".join(f"{STAMP}{line}\n" for line in lines).encode()


def run_step(script: str, *output: str, exit_code: int | None = None) -> list[str]:
    first, *_ = script.split("\n")
    header = [f"##[group]Run {first}", *(f"\x1b[36;1m{line}\x1b[0m" for line in script.split("\n"))]
    ended = [] if exit_code is None else [EXIT.format(exit_code)]
    return [*header, "shell: /usr/bin/bash -e {0}", "env:", "  CI: true", "##[endgroup]", *output, *ended]


def test_a_step_has_its_name_its_script_and_its_exit_code() -> None:
    log = read_log([actions_log("Set up", *run_step("pip install x\npytest", "boom", exit_code=2))])
    step = log.failing_step()
    assert step is not None
    assert (step.name, step.script, step.exit_code) == ("Run pip install x", "pip install x\npytest", 2)
    assert [line.text for line in step.head] == ["boom"]


def test_the_last_step_with_a_non_zero_exit_code_is_the_failing_one() -> None:
    log = actions_log(*run_step("may-fail", exit_code=3), *run_step("fails", exit_code=1), "Post job cleanup.")
    assert failing_script(log, None) == "fails"


def test_the_step_that_github_names_goes_before_a_later_exit_code() -> None:
    log = actions_log(*run_step("fails", exit_code=1), *run_step("always-runs", exit_code=1))
    assert failing_script(log, "Run fails") == "fails"


def test_a_name_that_the_log_does_not_know_leaves_it_to_the_exit_code() -> None:
    assert failing_script(actions_log(*run_step("make"), *run_step("pytest", exit_code=1)), "Unit tests") == "pytest"


def test_a_number_rules_out_later_steps_where_the_name_is_not_in_the_log() -> None:
    steps = [run_step("may-fail", exit_code=1), run_step("fails", exit_code=1), run_step("always-runs", exit_code=1)]
    log = read_log([actions_log(*(line for step in steps for line in step))])
    found = [log.failing_step("Unit tests", number) for number in (3, 4, None)]
    assert [step.script for step in found if step] == ["fails", "always-runs", "always-runs"]


def test_a_failure_that_the_workflow_excuses_is_none() -> None:
    marker = "##[end-action id=x;outcome=failure;conclusion=success;duration_ms=5]"
    log = actions_log(*run_step("fails", exit_code=1), *run_step("lint", exit_code=1), marker)
    assert failing_script(log, None) == "fails"


def test_what_is_said_after_an_exit_code_belongs_to_no_step() -> None:
    log = read_log([actions_log(*run_step("a", exit_code=1), "##[error]noise", "Post job cleanup.", "more noise")])
    assert [step.part for step in log.steps] == [Part.STEP, Part.BETWEEN, Part.CLEANUP]
    assert log.failing_step() is log.steps[0]


def test_the_columns_of_gh_name_job_and_step() -> None:
    lines = ["".join(f"build\tUnit tests\t{STAMP}{line}\n") for line in run_step("pytest", "boom", exit_code=1)]
    step = read_log(["".join(lines).encode()]).failing_step("Unit tests")
    assert step is not None
    assert (step.job, step.name, step.script, step.exit_code) == ("build", "Unit tests", "pytest", 1)


def test_where_gh_knows_no_step_the_marks_in_the_log_tell_it() -> None:
    lines = [*run_step("make"), *run_step("pytest", "boom", exit_code=1), "after"]
    log = read_log(["".join(f"build\tUNKNOWN STEP\t{STAMP}{line}\n" for line in lines).encode()])
    assert [(step.part, step.name) for step in log.steps] == [
        (Part.STEP, "Run make"),
        (Part.STEP, "Run pytest"),
        (Part.BETWEEN, ""),
    ]
    assert log.name == "build"


def test_a_log_of_gh_that_begins_within_a_header_has_the_script() -> None:
    log = real_log("23_ruff_gh_log_failed_format")
    assert failing_script(log, None) == 'uvx ruff check "${FILES[@]}"\nuvx ruff format --check "${FILES[@]}"'


def test_a_header_that_never_ends_does_not_swallow_the_output() -> None:
    log = read_log([actions_log("##[group]Run pytest", "\x1b[36;1mpytest\x1b[0m", "FAILED a.py::b", EXIT.format(1))])
    step = log.failing_step()
    assert step is not None
    assert [clue.test for clue in step.clues] == ["a.py::b"]


def test_lines_without_a_timestamp_continue_a_header() -> None:
    header = actions_log("##[group]Run x/y@v1", "with:", "  key: one") + b"two\nERROR a.py::b\n\n"
    log = read_log([header + actions_log("##[endgroup]", "done")])
    assert [line.text for step in log.steps for line in (*step.head, *step.tail)] == ["done"]
    assert not log.steps[-1].clues


def test_of_a_line_that_was_redrawn_the_last_state_counts() -> None:
    step = read_log([actions_log(" 10%\r 50%\r\x1b[32m100%\x1b[0m done\r")]).steps[0]
    assert [line.text for line in step.tail] == ["100% done"]


def test_byte_order_marks_and_bytes_that_are_no_text_do_not_matter() -> None:
    log = b"\xef\xbb\xbf" + actions_log(*run_step("x", exit_code=1)).replace(b"Run x", b"Run \xff\xfe")
    assert read_log([log]).steps[0].exit_code == 1


def test_a_step_that_is_cut_off_keeps_what_there_is() -> None:
    log = actions_log(*run_step("pytest", "FAILED a.py::b - AssertionError"))[:-10]
    assert [clue.test for clue in read_log([log]).steps[-1].clues] == ["a.py::b"]


def test_a_script_that_is_too_long_to_keep_is_not_told_in_part() -> None:
    assert failing_script(actions_log(*run_step("echo x\n" * 20_000, exit_code=1)), None) is None


def test_a_script_with_a_masked_secret_cannot_be_run_as_it_is_echoed() -> None:
    assert failing_script(actions_log(*run_step("deploy --key ***", exit_code=1)), None) is None


def test_a_cancelled_job_is_known_as_such() -> None:
    assert read_log([real_log("09_operation_canceled")]).is_cancelled
    assert not read_log([real_log("04_mocha_failed")]).is_cancelled


def test_both_ends_of_a_line_of_megabytes_are_read() -> None:
    lines = [b"x" * 3_000_000, b"y" * 300_000 + b"\rFAILED a.py::b - Error\n", b"FAILED c.py::d - " + b"z" * 300_000]
    log = read_log([b"\n".join(lines)])
    assert [clue.test for clue in log.steps[0].clues] == ["a.py::b", "c.py::d"]


def test_of_a_line_without_end_only_both_ends_are_held() -> None:
    (line,) = split_lines(b"x" * 70_000 for _ in range(30))
    assert len(line) == 2 * KEPT_OF_AN_END + len(GAP)


def _kept(log: JobLog) -> int:
    lines = sum(len(line.text) for step in log.steps for line in (*step.head, *step.tail, *step.errors))
    return lines + sum(len(clue.text) for step in log.steps for clue in step.clues)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        STAMP + "FAILED tests/a.py::test_{n} - " + "x" * 3000,
        STAMP + "##[error]src/a.py:{n}: error: wrong",
        STAMP + "##[group]Run step {n}\n" + STAMP + EXIT.format(1),
        "job\tstep {n}\t" + STAMP + "words",
        "word {n}",
    ],
)
def test_what_is_kept_does_not_grow_with_the_log(line: str) -> None:
    small, big = (read_log((line.format(n=n) + "\n").encode() for n in range(count)) for count in (3000, 6000))
    assert big.lines > small.lines
    assert _kept(big) < _kept(small) * 1.1 + 2000
    assert len(big.steps) <= 201


_PIECES = st.sampled_from(
    [
        "##[group]Run pytest",
        "##[endgroup]",
        EXIT.format(1),
        "Post job cleanup.",
        "##[error]The operation was canceled.",
        "##[end-action id=a;outcome=failure;conclusion=success;duration_ms=1]",
        "\x1b[36;1mpytest\x1b[0m",
        "shell: bash",
        "FAILED a.py::b - AssertionError: no",
        "\r",
        "\n",
        "\t",
        "\ufeff",
        "é",
        STAMP,
        "job\tstep\t" + STAMP,
        "x" * 5000,
    ]
)


@given(st.lists(_PIECES, max_size=30), st.lists(st.integers(0, 20_000), max_size=6))
def test_where_chunks_end_makes_no_difference(pieces: list[str], cuts: list[int]) -> None:
    log = "".join(pieces).encode()
    places = [0, *sorted(cut for cut in cuts if cut < len(log)), len(log)]
    chunks = [log[start:end] for start, end in pairwise(places)]
    assert read_log(chunks) == read_log([log])
    assert read_log(bytes([byte]) for byte in log[:300]) == read_log([log[:300]])


@given(st.binary(max_size=2000))
def test_no_bytes_make_it_fail(log: bytes) -> None:
    assert read_log([log]).lines >= 0
