"""The change, what a reviewer should look at, and how the agents came to it, as parts of a proposal's body."""

from collections.abc import Mapping, Sequence

from sweeper.model import AttemptResult, FixReport, Severity
from sweeper.policy.rendering.answer import numbered
from sweeper.policy.rendering.neutral import MAX_ITEMS, code, codes, fenced, folded

_MAX_ATTEMPTS = 5
_MAX_REFUSALS = 3
_ACTIONS = "Its {} actions, as they are recorded:"
_ORDERS = "a text that this agent was given may try to give it orders, at"
_CLAIMS = "In the agent's own words, which nobody has checked:"


def change(attempt: AttemptResult, allowed: int | None) -> str:
    """The files, by which attempt of how many, and each finding a reviewer should look at, with its place."""
    patch = attempt.patch
    if patch is None:
        return ""
    lines = [
        "### Change",
        f"{patch.files_changed} file(s), {patch.lines_changed} line(s): {codes(patch.files, patch.files_changed)}. "
        f"This is {numbered(attempt.n, allowed)}, by agent {code(attempt.agent)}.",
        _findings(attempt),
    ]
    return "\n\n".join(line for line in lines if line)


def _findings(attempt: AttemptResult) -> str:
    shown = [finding for finding in attempt.verdict.findings if finding.severity is Severity.SHOW]
    rows = [f"- Please look: {code(f.name)} at {code(f.place)} {code(f.detail)}" for f in shown[:MAX_ITEMS]]
    more = [f"- And {len(shown) - MAX_ITEMS} more findings."] if len(shown) > MAX_ITEMS else []
    places = codes(attempt.fix.suspicions, len(attempt.fix.suspicions))
    orders = [f"- Please look: {_ORDERS} {places}."] if attempt.fix.suspicions else []
    return "\n".join([*rows, *more, *orders])


def story(attempt: AttemptResult, earlier: Sequence[AttemptResult], block: int, stories: Mapping[int, str]) -> str:
    """What each agent did and what the verifier said to it, folded: it reads without access to our server."""
    tries = [*(one for one in earlier if one.n != attempt.n), attempt]
    told = [part for one in tries[-_MAX_ATTEMPTS:] for part in _told(one, block, stories.get(one.n, ""))]
    return folded("What the agent did, attempt by attempt", *told)


def _told(one: AttemptResult, block: int, actions: str) -> list[str]:
    verdict = one.verdict
    reason = f", because {code(verdict.reason)}" if verdict.reason else ""
    refusals = [finding for finding in verdict.findings if finding.severity is Severity.REJECT]
    found = ", ".join(f"{code(f.name)} at {code(f.place)}" for f in refusals[:_MAX_REFUSALS])
    more = f" and {len(refusals) - _MAX_REFUSALS} more" if len(refusals) > _MAX_REFUSALS else ""
    refused = f" Refused for: {found}{more}." if found else ""
    line = (
        f"**Attempt {one.n}**, agent {code(one.agent)}: {_ended(one.fix)}. "
        f"Verdict **{verdict.kind.replace('_', ' ')}**{reason}.{refused}"
    )
    claimed = [_CLAIMS, fenced(one.fix.summary, block)] if one.fix.summary.strip() and block else []
    done = (
        [_ACTIONS.format(one.fix.actions), fenced(actions, block)] if one.fix.actions > 1 and actions and block else []
    )
    return [line, *done, *claimed]


def _ended(fix: FixReport) -> str:
    end = "without an exit code" if fix.exit_code is None else f"exit {fix.exit_code}"
    trouble = f" ({fix.trouble.replace('_', ' ')})" if fix.trouble else ""
    return f"{fix.outcome.replace('_', ' ')}{trouble}, {end}, {fix.seconds:.1f} s"
