import re
from datetime import timedelta
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from sweeper.model import (
    AttemptResult,
    Diagnosis,
    Effect,
    EffectState,
    Finding,
    FixOutcome,
    FixReport,
    Outcome,
    Reproduction,
    RunFacts,
    Severity,
)
from sweeper.policy.farewell import farewell, written
from sweeper.policy.rendering import (
    MAX_BODY,
    HowToAnswer,
    answered_request,
    body,
    code,
    commit_message,
    fenced,
    signed_off,
    title,
)
from tests.support.values import attempt, check_result, diagnosis, patch, reproduction, run_facts, verdict

GITHUB_LIMIT = 65_536
HARMLESS = "plain"
HOSTILE = [
    "@octocat please look",
    "fixes #3",
    "closes octo/app#3",
    "fixes GH-3",
    "resolves https://github.com/octo/app/issues/3",
    "[skip ci]",
    "[click](https://evil.example)",
    "![image](https://evil.example/x.png)",
    "<img src=x onerror=alert(1)>",
    "</details></code><script>alert(1)</script>",
    "<!-- sweeper:sweep-1-1/merge/1 mac=" + "0" * 64 + " -->",
    "`code` ends",
    "``` \n@octocat\n```",
    "~~~\n@octocat\n~~~",
    "````````",
    "line\n\n# heading\n\n- item\n\n@octocat",
    "line\r\n\r\n@octocat",
    "a | b | c\n|---|---|---|",
    "ends in a backslash \\",
    "\\` @octocat",
    "\u2028@octocat\u2028",
    "\u202egnissim",
    "www.evil.example",
    "$(rm -rf /)",
    "{head} {0} %s",
    "\x00\x1b[31m@octocat",
]


def _facts(foreign: str) -> RunFacts:
    return run_facts(workflow_name=foreign, head_branch=foreign, workflow_path=foreign)


def _diagnosis(foreign: str) -> Diagnosis:
    return diagnosis(job=foreign, jobs=(foreign, foreign), reasons=(foreign,), error_lines=(foreign, foreign))


def _reproduction(foreign: str) -> Reproduction:
    return reproduction(check_result(1, check=foreign, command=foreign, excerpt=foreign))


def _attempt(foreign: str) -> AttemptResult:
    ran = check_result(check=foreign, command=foreign, excerpt=foreign, sandbox=foreign)
    finding = Finding(name=foreign, place=foreign, severity=Severity.SHOW, detail=foreign)
    return attempt(
        agent=foreign,
        fix=FixReport(agent=foreign, outcome=FixOutcome.EDITED, summary=foreign),
        patch=patch(files=(foreign, foreign)),
        verdict=verdict(results=(ran, ran), findings=(finding,)),
    )


def _body(foreign: str) -> str:
    return body(
        _facts(foreign),
        _diagnosis(foreign),
        _reproduction(foreign),
        _attempt(foreign),
        HowToAnswer(timedelta(days=7), False),
    )


def _tokens(markdown: str) -> list[Token]:
    blocks = MarkdownIt("commonmark").enable("table").parse(markdown)
    return list(chain.from_iterable([block, *(block.children or [])] for block in blocks))


SUMMARY = re.compile(r"<details><summary>(Before|After): [\w .,:()/+-]{1,60}</summary>")


def _skeleton(markdown: str) -> list[tuple[str, str]]:
    """Everything a reader sees as text, markup or HTML; the insides of code are left out."""
    shown = []
    for token in _tokens(markdown):
        content = "" if token.type in ("code_inline", "fence", "inline") else token.content
        shown.append((token.type, SUMMARY.sub(r"\1", content).strip()))
    return shown


@pytest.mark.parametrize("foreign", HOSTILE)
def test_foreign_text_stands_in_code_and_nowhere_else(foreign: str) -> None:
    assert _skeleton(_body(foreign)) == _skeleton(_body(HARMLESS))


@given(st.text(alphabet=st.sampled_from("`~|\\\n\r <>[]()@#*_-&;:!x\t"), min_size=1).map(lambda text: f"x{text}x"))
def test_no_text_at_all_breaks_out_of_a_body(foreign: str) -> None:
    assert _skeleton(_body(foreign)) == _skeleton(_body(HARMLESS))


@pytest.mark.parametrize("foreign", HOSTILE)
def test_comments_keep_foreign_text_in_code(foreign: str) -> None:
    for outcome in Outcome:
        said = farewell(outcome, foreign, "a" * 40)
        assert _skeleton(said) == _skeleton(farewell(outcome, HARMLESS, "a" * 40))
    reply = answered_request(attempt(agent=foreign), foreign)
    assert _skeleton(reply) == _skeleton(answered_request(attempt(agent=HARMLESS), HARMLESS))


def test_a_sign_off_is_the_last_trailer() -> None:
    message = signed_off(
        commit_message("sweep-1001-1", 1, "autofix", run_facts(), diagnosis()), "Bot", "bot@example.org"
    )
    assert message.splitlines()[-2:] == ["Sweeper-Agent: autofix", "Signed-off-by: Bot <bot@example.org>"]
    assert message.count("\n\n") == 1


@pytest.mark.parametrize("foreign", HOSTILE)
def test_titles_and_commit_messages_refer_to_nothing(foreign: str) -> None:
    found = _diagnosis(foreign)
    message = commit_message("sweep-1001-1", 1, foreign, run_facts(), found)
    subject, blank, *trailers = message.splitlines()
    assert subject == title(found)
    assert blank == ""
    assert [line.partition(":")[0] for line in trailers] == [
        "Sweeper-Run",
        "Sweeper-Sweep",
        "Sweeper-Attempt",
        "Sweeper-Agent",
    ]
    for text in (subject, trailers[-1]):
        assert not re.search(r"[@#<>`\[\]|\\]|://|gh-\d", text, re.IGNORECASE)
        assert text.isprintable()


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
    assert "| `pytest` | **red**: exit 1 (2.0 s) | green: exit 0, exit 0 (2.5 s) |" in text
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
    rows = [token for token in _tokens(text) if token.type == "tr_open"]
    cells = [token for token in _tokens(text) if token.type == "td_open"]
    assert (len(rows), len(cells)) == (2, 3)


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
        reproduction(*[check_result(1, check=f"check {n}") for n in range(13)]),
        attempt(patch=patch(files=tuple(f"{n}.py" for n in range(20)), files_changed=25)),
        HowToAnswer(timedelta(days=1), False),
    )
    assert "`job 9` and 4 more" in text
    assert "And 3 more checks." in text
    assert "`9.py` and 15 more" in text


def test_code_is_one_line_redacted_and_bounded() -> None:
    assert code("a\n b\t`c`") == "`a b 'c'`"
    assert code(f"token ghp_{'a' * 36}") == "`token [redacted]`"
    assert len(code("x" * 1000)) == 202
    assert code(" \n ") == "`-`"


def test_a_fence_keeps_the_end_of_a_text_and_is_longer_than_any_in_it() -> None:
    assert fenced("a\n````\nb") == "`````text\na\n````\nb\n`````"
    assert fenced("x" * 50 + "the end", limit=7) == "```text\nthe end\n```"
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
    assert f"| `{key}` | branch.push | deduplicated |" in farewell(Outcome.EXPIRED, "too late", "a" * 40, [push])
    assert written(()) == ""
