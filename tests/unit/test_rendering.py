from datetime import timedelta

import pytest

from sweeper.model import (
    Diagnosis,
    Effect,
    EffectState,
    Finding,
    FixOutcome,
    FixReport,
    Outcome,
    Severity,
)
from sweeper.policy.farewell import farewell, written
from sweeper.policy.rendering import (
    MAX_BODY,
    HowToAnswer,
    Tries,
    body,
    code,
    commit_message,
    fenced,
    signed_off,
    title,
)
from sweeper.policy.rendering.neutral import CUT
from tests.support.markdown_reading import acts, tokens
from tests.support.values import attempt, check_result, diagnosis, patch, reproduction, run_facts, verdict

GITHUB_LIMIT = 65_536


def test_a_sign_off_is_the_last_trailer() -> None:
    message = signed_off(
        commit_message("sweep-1001-1", 1, "autofix", run_facts(), diagnosis()), "Bot", "bot@example.org"
    )
    assert message.splitlines()[-2:] == ["Sweeper-Agent: autofix", "Signed-off-by: Bot <bot@example.org>"]
    assert message.count("\n\n") == 1


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (diagnosis(jobs=("test",)), "Fix failing job test"),
        (diagnosis(jobs=("lint", "test (3.11)")), "Fix failing jobs lint, test (3.11)"),
        (diagnosis(jobs=("a", "b", "c", "d")), "Fix failing jobs a, b and 2 more"),
        (diagnosis(jobs=(), job="only"), "Fix failing job only"),
        (diagnosis(jobs=("@@@",)), "Fix failing job without a plain name"),
        (diagnosis(jobs=("x" * 500,)), "Fix failing job " + "x" * 60),
    ],
)
def test_a_title_says_what_is_fixed(found: Diagnosis, shown: str) -> None:
    assert title(found) == shown


def test_a_body_tells_what_failed_the_proof_and_how_to_answer() -> None:
    text = body(
        run_facts(),
        diagnosis(),
        reproduction(check_result(1, seconds=2.0, excerpt="E   assert 1 == 2")),
        attempt(),
        HowToAnswer(timedelta(days=7), True),
    )
    assert "[run 1001, attempt 1](https://github.com/octo/app/actions/runs/1001)" in text
    assert "| `pytest` | **the check** | **red**: exit 1 (2.0 s) | green: exit 0, exit 0 (2.5 s) |" in text
    assert "E   assert 1 == 2" in text
    assert "checked again against the branch as it is then, and merged" in text
    assert "No answer within 7 days" in text
    assert "without a sandbox" not in text


def test_a_body_is_loud_about_checks_that_ran_without_a_sandbox() -> None:
    bare = attempt(verdict=verdict(results=(check_result(sandbox="none"),)))
    text = body(run_facts(), diagnosis(), reproduction(), bare, HowToAnswer(timedelta(days=1), False))
    assert "**The checks ran without a sandbox.**" in text


def test_a_run_whose_address_is_no_plain_url_is_not_linked() -> None:
    odd = run_facts(html_url="https://x.example/a) @octocat [b](https://evil.example")
    text = body(odd, diagnosis(), reproduction(), attempt(), HowToAnswer(timedelta(days=1), False))
    assert "octocat" not in text
    assert "in run 1001, attempt 1, on" in text


@pytest.mark.parametrize("command", ["", "\n", "\nmake\n", "a | b"])
def test_any_command_makes_one_row(command: str) -> None:
    text = body(
        run_facts(),
        diagnosis(),
        reproduction(check_result(1, command=command)),
        attempt(),
        HowToAnswer(timedelta(days=1), False),
    )
    rows = [token for token in tokens(text) if token.type == "tr_open"]
    cells = [token for token in tokens(text) if token.type == "td_open"]
    assert (len(rows), len(cells)) == (2, 4)


@pytest.mark.parametrize("unit", ["x", "`", "@ ", "\n", "ä", "😀", "ghp_" + "a" * 36 + " "])
@pytest.mark.parametrize("many", [1, 100])
def test_a_body_fits_into_githubs_limit_whatever_goes_in(unit: str, many: int) -> None:
    huge = unit * (5_000 // len(unit))
    names = [f"{huge}{n}" for n in range(many)]
    ran = [check_result(1, check=name, command=huge, excerpt=huge) for name in names]
    finding = Finding(name=huge, place=huge, severity=Severity.SHOW, detail=huge)
    text = body(
        run_facts(html_url="https://github.com/" + "x" * 5000, workflow_name=huge, head_branch=huge),
        diagnosis(jobs=tuple(names), reasons=(huge,) * many, error_lines=(huge,) * many),
        reproduction(*ran),
        attempt(
            agent=huge,
            fix=FixReport(agent=huge, outcome=FixOutcome.EDITED, summary=huge),
            patch=patch(files=tuple(names), files_changed=many),
            verdict=verdict(results=tuple(ran), findings=(finding,) * many),
        ),
        HowToAnswer(timedelta(days=1), False),
    )
    assert len(text) <= MAX_BODY < GITHUB_LIMIT
    assert "### How to answer" in text


def test_long_lists_say_how_much_is_left_out() -> None:
    text = body(
        run_facts(),
        diagnosis(jobs=tuple(f"job {n}" for n in range(14))),
        reproduction(*[check_result(1, check=f"check {n}") for n in range(23)]),
        attempt(patch=patch(files=tuple(f"{n}.py" for n in range(20)), files_changed=25)),
        HowToAnswer(timedelta(days=1), False),
    )
    assert "`job 9` and 4 more" in text
    assert "And 4 more commands." in text
    assert "`9.py` and 15 more" in text


def test_code_is_one_line_redacted_and_bounded() -> None:
    assert code("a\n b\t`c`") == "`a b 'c'`"
    assert code(f"token ghp_{'a' * 36}") == "`token [redacted]`"
    assert len(code("x" * 1000)) == 202
    assert code(" \n ") == "`-`"


def test_a_fence_keeps_the_end_of_a_text_and_is_longer_than_any_in_it() -> None:
    assert fenced("a\n````\nb") == "`````text\na\n````\nb\n`````"
    assert fenced("x" * 50 + "the end", limit=7) == f"```text\n{CUT}\nthe end\n```"
    assert "ghp_" not in fenced(f"ghp_{'a' * 36}", limit=30)


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(days=7), "7 days"),
        (timedelta(days=1), "1 day"),
        (timedelta(hours=5, minutes=59), "5 hours"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(seconds=30), "30 seconds"),
    ],
)
def test_spans_are_told_in_their_largest_unit(span: timedelta, words: str) -> None:
    assert f"No answer within {words}:" in HowToAnswer(span, False).text()


def test_a_farewell_to_a_human_names_the_head_the_proof_is_for() -> None:
    said = farewell(Outcome.LEFT_TO_HUMAN, "somebody pushed", "abcdef0123456789")
    assert "for `abcdef012345` only" in said
    assert said.endswith("Reason: `somebody pushed`")


def test_a_farewell_lists_every_write_with_its_key_and_state() -> None:
    key = "sweep-1-1/propose/1"
    push = Effect(key=key, name="branch.push", state=EffectState.DEDUPLICATED)
    assert f"| `{key}` | `branch.push` | deduplicated |" in farewell(Outcome.EXPIRED, "too late", "a" * 40, [push])
    assert written(()) == ""


def test_a_long_list_of_writes_keeps_the_newest_and_says_what_is_left_out() -> None:
    many = [Effect(key=f"sweep-1-1/step/{n}", name="comment", state=EffectState.CREATED) for n in range(100)]
    said = written(many)
    assert "step/99`" in said
    assert "step/69`" not in said
    assert "And 70 earlier ones." in said
    assert (
        len(written([Effect(key="k" * 999, name="n" * 999, state=EffectState.CREATED)] * 99)) < GITHUB_LIMIT - MAX_BODY
    )


def _answer() -> HowToAnswer:
    return HowToAnswer(timedelta(days=7), True)


def test_a_body_tells_what_an_agent_did_action_by_action_and_lets_none_of_it_act() -> None:
    acted = attempt(fix=FixReport(agent="llm", outcome=FixOutcome.EDITED, actions=2))
    actions = "1. edit_file: edit app.py -> 0123456789ab\n2. write_file: write @everyone </details> -> 0123456789ab"
    text = body(run_facts(), diagnosis(), reproduction(check_result(1)), acted, _answer(), Tries(stories={1: actions}))
    assert "Its 2 actions, as they are recorded:" in text
    assert "1. edit_file: edit app.py" in text
    assert "2. write_file" in text
    assert acts(text) == acts(body(run_facts(), diagnosis(), reproduction(check_result(1)), attempt(), _answer()))


def test_a_body_names_where_a_text_may_have_given_orders_and_does_not_repeat_it() -> None:
    fix = FixReport(agent="llm", outcome=FixOutcome.EDITED, suspicions=("log of test, line 3",))
    text = body(run_facts(), diagnosis(), reproduction(check_result(1)), attempt(fix=fix), _answer())
    assert "may try to give it orders, at `log of test, line 3`" in text
