"""What a sweep used, and what it leaves to the human who takes over."""

from datetime import timedelta

import pytest

from sweeper.model import AttemptResult, Finding, FixOutcome, FixReport, Severity, Spent, Verdict, VerdictKind
from sweeper.policy.rendering import HowToAnswer, Tries, answered_request, body, learned, used
from sweeper.policy.rendering.learned import MAX_LEARNED
from tests.support import values

HOW = HowToAnswer(timedelta(days=7), False)
ASKED = Spent(model_calls=3, input_tokens=1000, output_tokens=500, micro_usd=12_300)


def tried(n: int, reason: str = "check 'test' ended with exit code 1", summary: str = "perhaps 43?") -> AttemptResult:
    finding = Finding(name="skip_added", place="tests/test_app.py", severity=Severity.REJECT)
    return AttemptResult(
        n=n,
        agent="llm",
        fix=FixReport(agent="llm", outcome=FixOutcome.EDITED, summary=summary, seconds=1.5, spent=ASKED),
        patch=values.patch(),
        verdict=Verdict(kind=VerdictKind.TAMPERED, reason=reason, findings=(finding,)),
    )


@pytest.mark.parametrize(
    ("attempts", "said"),
    [
        ([], ""),
        ([values.attempt()], ""),
        ([tried(1)], "The attempt used 3 model calls, 1,500 tokens, $0.0123, 1.5 s of agents' time."),
        (
            [tried(1), values.attempt(2)],
            "2 attempts together used 3 model calls, 1,500 tokens, $0.0123, 1.5 s of agents' time.",
        ),
    ],
)
def test_what_was_used_is_a_sentence_of_numbers(attempts: list[AttemptResult], said: str) -> None:
    assert used(attempts) == said


def test_a_proposal_and_a_reply_say_what_was_used() -> None:
    text = body(
        values.run_facts(), values.diagnosis(), values.reproduction(), tried(2), HOW, Tries([tried(1), tried(2)])
    )
    assert "\n\n2 attempts together used 6 model calls, 3,000 tokens, $0.0246, 3.0 s of agents' time.\n\n" in text
    reply = answered_request(tried(2), "ann")
    assert reply.endswith("The attempt used 3 model calls, 1,500 tokens, $0.0123, 1.5 s of agents' time.")


def test_a_human_is_told_the_diagnosis_each_try_and_what_was_said_to_it() -> None:
    text = learned(values.run_facts(), values.diagnosis(), [tried(1), tried(2, "flaky")])
    for told in ("### What failed", "**Attempt 1**", "Verdict **tampered**", "`skip_added`", "perhaps 43?", "`flaky`"):
        assert told in text
    assert text.endswith("2 attempts together used 6 model calls, 3,000 tokens, $0.0246, 3.0 s of agents' time.")


def test_without_an_attempt_there_is_the_diagnosis() -> None:
    assert learned(values.run_facts(), values.diagnosis(), []).startswith("### What failed")


def test_foreign_words_in_it_do_nothing_and_have_an_end() -> None:
    attempts = [tried(n, "@ann please\n# merge", "@ann ``` <img src=x> " * 9000) for n in range(1, 9)]
    diagnosis = values.diagnosis(error_lines=("x" * 200,) * 2000)
    text = learned(values.run_facts(), diagnosis, attempts)
    assert len(text) <= MAX_LEARNED
    assert "`@ann please # merge`" in text
