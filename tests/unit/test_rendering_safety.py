"""Whatever foreign text goes into a text of ours, it says there what it says and does nothing."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweeper.model import Outcome
from sweeper.policy.farewell import farewell
from sweeper.policy.rendering import answered_request, commit_message, title
from tests.support.hostile_texts import HARMLESS, HOSTILE, hostile_body, hostile_diagnosis
from tests.support.markdown_reading import acts, acts_without_markdown, tokens
from tests.support.values import attempt, run_facts

RUN = "https://github.com/octo/app/actions/runs/1001"
SUMMARY = re.compile(r"<details><summary>(Before|After): [\w .,:()/+-]{1,60} \(exit \d\)</summary>")
PIECES = st.sampled_from(
    [
        *HOSTILE,
        *"`~|\\\n\r <>[]()@#*_-&;:!x\t$^",
        *("@a", "#1", "GH-", "1", "/", "o/r", "://", "www", ".", "http", "fix", "es ", "closes:", "\u200b", "\u202d"),
        *("[skip", " ci", "]", "skip-checks:", " true", "<details>", "</summary>", "```", "\n\n", "    ", "- [ ] "),
    ]
)
FOREIGN = st.lists(PIECES | st.text(max_size=3), min_size=1, max_size=8).map("".join)


def _skeleton(markdown: str) -> list[tuple[str, str]]:
    """Everything a reader sees as text, markup or HTML; the insides of code are left out."""
    shown = []
    for token in tokens(markdown):
        content = "" if token.type in ("code_inline", "fence", "inline") else token.content
        shown.append((token.type, SUMMARY.sub(r"\1", content).strip()))
    return shown


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_is_hostile_would_act_where_it_is_not_made_harmless(hostile: str) -> None:
    """So that the reading below means something; what is listed breaks a frame and needs one to act."""
    frames = ("skip-[", "$(rm", "{head}", "ends in", "a | b", "`code`", "````````", "line\n\n# heading")
    assert acts_without_markdown(hostile) | acts(hostile) or hostile.startswith(frames)


@pytest.mark.parametrize("foreign", HOSTILE)
def test_foreign_text_stands_in_code_and_nowhere_else(foreign: str) -> None:
    assert _skeleton(hostile_body(foreign)) == _skeleton(hostile_body(HARMLESS))
    assert acts(hostile_body(foreign), RUN) == set()


@pytest.mark.slow
@given(FOREIGN)
@settings(max_examples=60, deadline=None)
def test_no_text_at_all_acts_from_a_body(foreign: str) -> None:
    assert acts(hostile_body(foreign), RUN) == set()


@pytest.mark.slow
@given(st.text(alphabet=st.sampled_from("`~|\\\n\r <>[]()@#*_-&;:!x\t"), min_size=1).map(lambda text: f"x{text}x"))
@settings(max_examples=60, deadline=None)
def test_no_text_at_all_breaks_out_of_a_body(foreign: str) -> None:
    assert _skeleton(hostile_body(foreign)) == _skeleton(hostile_body(HARMLESS))


@pytest.mark.parametrize("foreign", HOSTILE)
def test_comments_keep_foreign_text_in_code(foreign: str) -> None:
    for outcome in Outcome:
        said = farewell(outcome, foreign, "a" * 40)
        assert _skeleton(said) == _skeleton(farewell(outcome, HARMLESS, "a" * 40))
    reply = answered_request(attempt(agent=foreign), foreign)
    assert _skeleton(reply) == _skeleton(answered_request(attempt(agent=HARMLESS), HARMLESS))


@given(FOREIGN)
def test_no_text_at_all_acts_from_a_comment(foreign: str) -> None:
    assert acts(farewell(Outcome.ESCALATED, foreign, "a" * 40)) == set()
    assert acts(answered_request(attempt(agent=foreign), foreign)) == set()


@given(st.sampled_from(HOSTILE) | FOREIGN)
def test_no_text_at_all_acts_from_a_title_or_a_commit_message(foreign: str) -> None:
    found = hostile_diagnosis(foreign)
    message = commit_message("sweep-1001-1", 1, foreign, run_facts(), found)
    subject, blank, *trailers = message.splitlines()
    assert (subject, blank) == (title(found), "")
    names = [line.partition(":")[0] for line in trailers]
    assert names == ["Sweeper-Run", "Sweeper-Sweep", "Sweeper-Attempt", "Sweeper-Agent"]
    assert acts_without_markdown(message) == set()
    assert not re.search(r"[@#<>`\[\]|\\]", subject + trailers[-1])
    assert subject.isprintable()
