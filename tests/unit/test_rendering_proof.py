"""A proposal's body says all that the records hold, and no more."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from sweeper.model import (
    ArtifactRef,
    AttemptResult,
    Background,
    Diagnosis,
    Finding,
    FixOutcome,
    FixReport,
    OtherFix,
    Part,
    Reproduction,
    RunFacts,
    Severity,
    Tally,
    VerdictKind,
)
from sweeper.policy.rendering import MAX_BODY, HowToAnswer, Tries, answered_request, body, fenced
from tests.support.hostile_texts import hostile_attempt, hostile_body
from tests.support.markdown_reading import tokens
from tests.support.values import attempt, check_result, diagnosis, reproduction, run_facts, verdict


def _body(
    found: Diagnosis | None = None,
    before: Reproduction | None = None,
    after: AttemptResult | None = None,
    facts: RunFacts | None = None,
    earlier: Sequence[AttemptResult] = (),
) -> str:
    answer = HowToAnswer(timedelta(days=7), True, 3)
    return body(
        facts or run_facts(), found or diagnosis(), before or reproduction(), after or attempt(), answer, Tries(earlier)
    )


def _visible(markdown: str) -> str:
    """What shows before anything is unfolded."""
    parts = markdown.split("<details>")
    return parts[0] + "".join(part.partition("</details>")[2] for part in parts[1:])


def test_failing_jobs_are_listed_with_class_action_reasons_and_signature() -> None:
    shown = _visible(_body(diagnosis(jobs=("test (3.11)", "test (3.12)"), reasons=("pytest said so", "exit 1"))))
    assert "2 jobs, `test (3.11)`, `test (3.12)`, of `CI`" in shown
    assert "Judged as **test**, so the action is **fix**:\n\n- `pytest said so`\n- `exit 1`" in shown
    assert "signature `0123456789abcdef`" in shown
    assert "Job `test` of `CI`" in _body()


def test_the_background_is_folded_and_says_only_what_is_known() -> None:
    known = Background(
        head_fails_alike=True,
        green_attempts=(2, 3),
        seen_in=("sweep-9-1",),
        other_fix=OtherFix(number=7, url="https://github.com/octo/app/pull/7", why="it is green on that job"),
        last_green="7" * 40,
        commits_since_green=("aaa Sum from one", "bbb Words"),
    )
    text = _body(diagnosis(background=known))
    for fact in (
        "- The head of `main` fails in the same way.",
        "- Attempt 2, 3 of the same run was green",
        "- Seen in earlier sweeps: `sweep-9-1`.",
        "pull request `7` `https://github.com/octo/app/pull/7`: `it is green on that job`.",
        "last passed there at `777777777777`.",
        "- 2 commit(s) came since then, oldest first:",
        "aaa Sum from one\nbbb Words",
    ):
        assert fact in text
        assert fact not in _visible(text)
    assert "The head of `main` does not fail in this way." in _body(
        diagnosis(background=Background(head_fails_alike=False))
    )
    assert "What else is known" not in _body()


def test_every_part_of_a_check_has_its_row_with_all_its_runs() -> None:
    install = check_result(command="pip install .", part=Part.BEFORE, step="Install", seconds=2.0)
    lint = check_result(command="ruff check", part=Part.AFTER, step="Lint", seconds=0.5)
    red = [check_result(1, seconds=1.0)] * 3
    text = _body(
        before=reproduction(install, *red, lint),
        after=attempt(verdict=verdict(results=(install, check_result(), lint))),
    )
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[2:] == [
        "| `pip install .` | prepares it | green: exit 0 (2.0 s) | green: exit 0 (2.0 s) |",
        "| `pytest` | **the check** | **red**: exit 1, exit 1, exit 1 (3.0 s) | green: exit 0 (1.2 s) |",
        "| `ruff check` | another step | green: exit 0 (0.5 s) | green: exit 0 (0.5 s) |",
    ]


def test_a_command_that_ran_on_one_side_alone_is_said_to() -> None:
    text = _body(
        before=reproduction(check_result(1, limit="time")),
        after=attempt(verdict=verdict(results=(check_result(check="b"),))),
    )
    assert "| **red**: time limit (1.2 s) | not run |" in text
    assert "| not run | green: exit 0 (1.2 s) |" in text


def test_tests_that_were_compared_by_name_say_so_with_the_digest_of_their_names() -> None:
    names = ArtifactRef(digest="sha256:" + "a" * 52 + "0123456789ab", size=90)
    tally = Tally(collected=2, passed=2, source="report file", names=names)
    text = _body(after=attempt(verdict=verdict(results=(check_result(tally=tally),))))
    assert "`report file`, by name (`0123456789ab`)" in text


def test_tests_are_counted_before_and_after() -> None:
    before = Tally(collected=12, passed=10, failed=1, skipped=1, source="junit")
    after = Tally(passed=12, source="a | b")
    text = _body(
        before=reproduction(check_result(1, tally=before)),
        after=attempt(verdict=verdict(results=(check_result(tally=after),))),
    )
    assert (
        "| `test` | before | 12 | 10 | 1 | 1 | `junit` |\n| `test` | after | not known | 12 | 0 | 0 | `a ¦ b` |" in text
    )
    assert "collected" not in _body()


def test_commands_and_outputs_are_folded_and_the_check_comes_first() -> None:
    install = check_result(command="make deps", part=Part.BEFORE, step="Install", excerpt="installed")
    red = check_result(1, command="pytest | tee log", excerpt="E   assert 1 == 2")
    quiet = check_result(command="true", part=Part.AFTER, step="Nothing to say")
    first = check_result(1, command="pytest | tee log", excerpt="the first of two red runs")
    text = _body(
        before=reproduction(install, first, red),
        after=attempt(verdict=verdict(results=(install, check_result(), quiet))),
    )
    assert "the first of two red runs" not in text
    assert "<summary>Before: test (exit 1)</summary>\n\n```text\npytest | tee log\n```\n\n```text\nE   assert 1" in text
    assert text.index("After: test") < text.index("After: Install")
    assert "E   assert 1 == 2" not in _visible(text)
    assert "After: Nothing to say" not in text
    assert "It wrote nothing, or nothing was kept of it." in text


def test_a_long_output_is_shown_around_the_error_and_both_cuts_are_marked() -> None:
    output = "\n".join([*(f"before {n}" for n in range(900)), "E   boom", *(f"after {n}" for n in range(900))])
    shown = fenced(output, 400, ["not there", "\x1b[31mE   boom\x1b[0m"])
    assert "E   boom" in shown
    assert shown.count("[... cut here ...]") == 2
    assert fenced(output, 400, ["not there"]).endswith("after 899\n```")
    assert (
        "E   AssertionError: assert 1 == 2"
        in _body(
            before=reproduction(check_result(1, excerpt=f"{output}\nE   AssertionError: assert 1 == 2\n{output}"))
        ).partition("Before: test")[2]
    )


def test_outputs_hold_no_colours_and_no_control_characters() -> None:
    assert fenced("\x1b[1;31mred\x1b[0m\r\nbell\x07 \x1b]0;title\x07nul\x00\x9b") == "```text\nred\nbell␇ nul␀\n```"
    assert fenced("a\u202eb\u200bc") == "```text\na[U+202E]bc\n```"


def test_trees_commits_and_the_patch_are_named() -> None:
    built = reproduction().model_copy(update={"commit": "9" * 40, "tree": "8" * 40})
    text = _body(before=built)
    assert "Before: commit `999999999999`, the merge that CI built, tree `888888888888`, untouched." in text
    assert "After: tree `cccccccccccc` in a fresh worktree no agent has run in. Patch id `dddddddddddd`." in text
    assert "Before: commit `ffffffffffff`, untouched." in _body()


def test_what_was_put_back_held_and_left_out_is_said() -> None:
    text = _body(
        after=attempt(
            verdict=verdict(
                restored=("conftest.py",),
                sandbox_held=("no network", "no host files"),
                unchecked=("the merge was not tried",),
            )
        )
    )
    assert "put back to their state before the patch: `conftest.py`." in text
    assert "Sandbox `bubblewrap`, its probe found to hold: `no network`, `no host files`. Workflow " in text
    assert "\n- `the merge was not tried`\n- Not checked: whether the change is what you want." in text
    assert "what it held is not recorded" in _body()
    assert "\n- Nothing that the check plan names was recorded as left out.\n- Not checked: " in _body()


def test_only_findings_to_show_are_shown_each_with_its_place() -> None:
    findings = [
        Finding(name="test-changed", place="tests/a.py:7", severity=Severity.SHOW, detail="look"),
        Finding(name="skip-added", place="tests/b.py:1", severity=Severity.REJECT),
    ]
    shown = _visible(_body(after=attempt(verdict=verdict(findings=tuple(findings)))))
    assert "- Please look: `test-changed` at `tests/a.py:7` `look`" in shown
    assert "skip-added" not in shown


def test_the_story_of_all_attempts_is_folded_with_reasons_and_labelled_words() -> None:
    report = FixReport(
        agent="autofix", outcome=FixOutcome.NO_CHANGE, exit_code=3, seconds=12.5, summary="I could not do it"
    )
    refused = Finding(name="skip-added", place="tests/b.py:1", severity=Severity.REJECT)
    first = attempt(
        1, fix=report, verdict=verdict(VerdictKind.NOT_FIXED, reason="still red", results=(), findings=(refused,))
    )
    text = _body(after=attempt(2), earlier=[first, attempt(2)])
    assert "This is attempt 2 of 3, by agent `autofix`." in _visible(text)
    told = (
        "**Attempt 1**, agent `autofix`: no change, exit 3, 12.5 s. Verdict **not fixed**, because `still red`. "
        "Refused for: `skip-added` at `tests/b.py:1`.\n\n"
        "In the agent's own words, which nobody has checked:\n\n```text\nI could not do it\n```"
    )
    assert told in text
    assert "still red" not in _visible(text)
    assert text.count("**Attempt 2**") == 1


def test_a_reply_says_which_attempt_of_how_many_it_was() -> None:
    assert "(attempt 2 of 3, agent `autofix`)" in answered_request(attempt(2), "ann", 3)
    assert "(attempt 2, agent `autofix`)" in answered_request(attempt(2), "ann")


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/octo/app/issues/3",
        "https://github.com/octo/app/commit/" + "a" * 40,
        "https://github.com/octo/app/actions/runs/1?x=octo/app",
        "javascript:alert(1)",
    ],
)
def test_only_the_address_of_a_run_becomes_a_link(url: str) -> None:
    text = _body(facts=run_facts(html_url=url))
    assert [token for token in tokens(text) if token.type == "link_open"] == []


@pytest.mark.parametrize("unit", ["x", "`", "\N{GRINNING FACE}", "fixes #1 ", "\x00", "\u202e"])
def test_a_body_with_everything_in_it_stays_within_its_bound(unit: str) -> None:
    foreign = unit * (800 // len(unit))
    assert len(hostile_body(foreign)) <= MAX_BODY
    crowd = tuple(f"{foreign}{n}" for n in range(24))
    found = Finding(name=foreign, place=foreign, severity=Severity.SHOW, detail=foreign)
    refused = found.model_copy(update={"severity": Severity.REJECT})
    tally = Tally(collected=10**9, passed=10**9, failed=10**9, skipped=10**9, source=foreign)
    runs = tuple(
        check_result(1, check=name, command=foreign, step=name, limit=foreign, excerpt=foreign, tally=tally)
        for name in crowd
    )
    judged = verdict(
        results=runs * 7,
        findings=(found, refused) * 20,
        reason=foreign,
        restored=crowd,
        unchecked=crowd,
        sandbox_held=crowd,
    )
    known = Background(seen_in=crowd, commits_since_green=crowd, green_attempts=tuple(range(99)), last_green=foreign)
    text = _body(
        diagnosis(jobs=crowd, reasons=crowd, error_lines=crowd, files=crowd, tests=crowd, background=known),
        reproduction(*runs * 7),
        hostile_attempt(foreign, 9).model_copy(update={"verdict": judged}),
        earlier=[hostile_attempt(foreign, n).model_copy(update={"verdict": judged}) for n in range(9)],
    )
    assert len(text) <= MAX_BODY
    assert "### How to answer" in text
    assert "The outputs are left out" in text
