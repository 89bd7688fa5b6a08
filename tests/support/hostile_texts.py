"""Foreign text that would act on GitHub, and every value of a proposal filled with it."""

from datetime import timedelta

from sweeper.model import (
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
)
from sweeper.policy.rendering import HowToAnswer, Tries, body
from tests.support.values import attempt, check_result, diagnosis, patch, reproduction, run_facts, verdict

HARMLESS = "plain"
HOSTILE = [
    "@octocat please look",
    "fixes #3",
    "closes octo/app#3",
    "fixes GH-3",
    "Resolved: https://github.com/octo/app/issues/3",
    "octo/app@0123456789abcdef0123456789abcdef01234567",
    "https://github.com/octo/app/commit/0123456789abcdef0123456789abcdef01234567",
    "[skip ci]",
    "[CI SKIP] [no ci] [skip actions] [actions skip]",
    "subject\n\n\nskip-checks: true",
    "skip-checks:true",
    "skip-[checks]: true",
    "[click](https://evil.example)",
    "![image](https://evil.example/x.png)",
    "<https://evil.example>",
    "<img src=x onerror=alert(1)>",
    "</details></code><script>alert(1)</script>",
    "</summary></details>\n\n@octocat",
    "<!-- sweeper:sweep-1-1/merge/1 mac=" + "0" * 64 + " -->",
    "`code` ends",
    "``` \n@octocat\n```",
    "~~~\n@octocat\n~~~",
    "```mermaid\ngraph TD;\n```",
    "$`x`$ and $$\\sqrt{3}$$",
    "- [ ] task\n- [x] done",
    "> [!NOTE]\n> said[^1]",
    "````````",
    "line\n\n# heading\n\n- item\n\n@octocat",
    "line\r\n\r\n@octocat",
    "a | b | c\n|---|---|---|",
    "ends in a backslash \\",
    "\\` @octocat",
    "\u2028@octocat\u2028",
    "\u202egnissim \u2066x\u2069",
    "zero\u200bwidth\ufeff\u00ad\u2060\U000e0041\u3164",
    "[skip\u200b ci] fixes\u200d #3",
    "www.evil.example",
    "$(rm -rf /)",
    "{head} {0} %s",
    "\x00\x1b[31m@octocat\x1b]8;;https://evil.example\x07",
]


def hostile_facts(foreign: str) -> RunFacts:
    return run_facts(workflow_name=foreign, head_branch=foreign, workflow_path=foreign)


def hostile_diagnosis(foreign: str) -> Diagnosis:
    return diagnosis(
        job=foreign,
        step=foreign,
        command=foreign,
        jobs=(foreign, foreign),
        reasons=(foreign,),
        error_lines=(foreign, foreign),
        files=(foreign,),
        tests=(foreign,),
        background=Background(
            seen_in=(foreign,),
            other_fix=OtherFix(number=7, url=foreign, why=foreign),
            last_green=foreign,
            commits_since_green=(foreign, foreign),
        ),
    )


def hostile_reproduction(foreign: str) -> Reproduction:
    tally = Tally(collected=3, passed=2, failed=1, source=foreign)
    return reproduction(
        check_result(1, check=foreign, command=foreign, excerpt=foreign, tally=tally),
        check_result(check=foreign, command=foreign, part=Part.AFTER, step=foreign),
    )


def hostile_attempt(foreign: str, n: int = 1) -> AttemptResult:
    ran = check_result(check=foreign, command=foreign, excerpt=foreign, sandbox=foreign)
    shown = Finding(name=foreign, place=foreign, severity=Severity.SHOW, detail=foreign)
    refused = Finding(name=foreign, place=foreign, severity=Severity.REJECT, detail=foreign)
    return attempt(
        n,
        agent=foreign,
        fix=FixReport(agent=foreign, outcome=FixOutcome.EDITED, summary=foreign),
        patch=patch(files=(foreign, foreign)),
        verdict=verdict(
            results=(ran, ran),
            findings=(shown, refused),
            reason=foreign,
            restored=(foreign,),
            unchecked=(foreign,),
            sandbox_held=(foreign,),
        ),
    )


def hostile_body(foreign: str) -> str:
    return body(
        hostile_facts(foreign),
        hostile_diagnosis(foreign),
        hostile_reproduction(foreign),
        hostile_attempt(foreign, 2),
        HowToAnswer(timedelta(days=7), False, 3),
        Tries((hostile_attempt(foreign, 1),)),
    )
