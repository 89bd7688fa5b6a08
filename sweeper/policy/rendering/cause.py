"""What failed and what else is known of it, as parts of a proposal's body."""

import re
from collections.abc import Sequence

from sweeper.model import Background, Diagnosis, RunFacts
from sweeper.policy.rendering.neutral import MAX_ITEMS, code, codes, fenced, folded

_RUN_URL = re.compile(
    r"https?://[\w.:-]{1,200}/[\w.-]{1,100}/[\w.-]{1,100}/actions/runs/\d{1,20}(?:/attempts/\d{1,6})?"
)


def what_failed(facts: RunFacts, diagnosis: Diagnosis, block: int) -> str:
    """Jobs, class, what is done about it, why, and the lines that led there; `block` bounds those, in characters."""
    run = f"run {facts.run.run_id}, attempt {facts.run.run_attempt}"
    link = f"[{run}]({facts.html_url})" if _RUN_URL.fullmatch(facts.html_url) else run
    workflow = code(facts.workflow_name or facts.workflow_path)
    lines = [
        "### What failed",
        f"{_jobs(diagnosis)} of {workflow} in {link}, on {code(facts.head_branch or '')} at `{facts.head_sha[:12]}`.",
        f"Judged as **{_spaced(diagnosis.failure_class)}**, so the action is **{_spaced(diagnosis.action)}**:\n\n"
        f"{bullets(diagnosis.reasons, 'no reason was recorded')}",
        _details(diagnosis),
        folded("Lines that led there", fenced("\n".join(diagnosis.error_lines), block))
        if _some(diagnosis, block)
        else "",
    ]
    return "\n\n".join(line for line in lines if line)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _some(diagnosis: Diagnosis, block: int) -> bool:
    return bool(block and any(line.strip() for line in diagnosis.error_lines))


def _jobs(diagnosis: Diagnosis) -> str:
    jobs = diagnosis.jobs or (diagnosis.job,)
    if len(jobs) == 1:
        return f"Job {codes(jobs)}"
    return f"{len(jobs)} jobs, {codes(jobs)},"


def _details(diagnosis: Diagnosis) -> str:
    rows = [
        ("step", code(diagnosis.step) if diagnosis.step else ""),
        ("command", code(diagnosis.command) if diagnosis.command else ""),
        ("files", codes(diagnosis.files)),
        ("tests", codes(diagnosis.tests)),
        ("signature", code(diagnosis.signature)),
    ]
    said = "; ".join(f"{name} {value}" for name, value in rows if value)
    return f"{said[:1].upper()}{said[1:]}."


def bullets(texts: Sequence[str], otherwise: str) -> str:
    """A list of foreign or recorded sentences; one sentence of ours if there are none."""
    if not texts:
        return f"- {otherwise}"
    more = len(texts) - MAX_ITEMS
    return "\n".join(
        [*(f"- {code(text)}" for text in texts[:MAX_ITEMS]), *([f"- and {more} more"] if more > 0 else [])]
    )


def background(found: Background, facts: RunFacts, block: int) -> str:
    """What is known of the failure elsewhere, earlier and in other attempts, folded; nothing if nothing is known."""
    since = found.commits_since_green
    lines = [
        _head(found, facts),
        _attempts(found.green_attempts),
        f"Seen in earlier sweeps: {codes(found.seen_in)}." if found.seen_in else "",
        _other_fix(found),
        f"The workflow last passed there at {code(found.last_green[:12])}." if found.last_green else "",
        f"{len(since)} commit(s) came since then, oldest first:" if since else "",
    ]
    listed = "\n".join(f"- {line}" for line in lines if line)
    return folded(
        "What else is known of this failure", listed, fenced("\n".join(since), block) if since and block else ""
    )


def _head(found: Background, facts: RunFacts) -> str:
    if found.head_fails_alike is None:
        return ""
    does = "fails in the same way" if found.head_fails_alike else "does not fail in this way"
    return f"The head of {code(facts.head_branch or '')} {does}."


def _attempts(green: Sequence[int]) -> str:
    if not green:
        return ""
    shown = ", ".join(str(n) for n in green[:MAX_ITEMS])
    return f"Attempt {shown} of the same run was green on the same commit: it may be flaky."


def _other_fix(found: Background) -> str:
    other = found.other_fix
    if other is None:
        return ""
    pull = f"{code(str(other.number))} {code(other.url)}"  # in code, so that nobody is told of us there
    return f"Somebody may be fixing it already, in pull request {pull}: {code(other.why)}."
