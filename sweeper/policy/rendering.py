"""Every text of ours that people read on GitHub: titles, bodies, comments, commit messages.

Facts come from records. Foreign text (logs, names, an agent's words) is data: it appears only in code, where
mentions, references, closing words and HTML have no effect, and is redacted before it gets here. In titles and
subjects, where there is no code, it is stripped to harmless characters.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from sweeper.model import (
    VERIFIER_VERSION,
    WORKFLOW_VERSION,
    AttemptResult,
    CheckResult,
    Diagnosis,
    Reproduction,
    RunFacts,
    Severity,
)
from sweeper.policy.redaction import redact_text

MAX_BODY = 60_000
"""Characters; GitHub takes 65,536, and a signed marker is added to ours."""

_SUBJECT_UNSAFE = re.compile(r"[^\w .,:()/+-]")
_LINKS = re.compile(r"://|(?<=GH)-(?=\d)", re.IGNORECASE)  # URLs and `GH-1` are references even in a title
_SAFE_URL = re.compile(r"https?://[\w.~:/?=&%-]{1,500}")
_MAX_NAME = 60
_MAX_CODE = 200
_MAX_ITEMS = 10
_BLOCK_SIZES = (4000, 1500, 500, 0)


def code(text: str) -> str:
    """Foreign text on one line, as inline code."""
    flat = " ".join(redact_text(text).split())[:_MAX_CODE].replace("`", "'")
    return f"`{flat}`" if flat else "`-`"


def _codes(texts: Sequence[str], count: int | None = None) -> str:
    """Some of them as inline code, and how many more there are."""
    more = (len(texts) if count is None else count) - _MAX_ITEMS
    return ", ".join(code(text) for text in texts[:_MAX_ITEMS]) + (f" and {more} more" if more > 0 else "")


def fenced(text: str, limit: int = _BLOCK_SIZES[0]) -> str:
    """The end of a foreign text as a code block whose fence it cannot close."""
    shown = redact_text(text).rstrip()[-limit:]
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _folded(summary: str, text: str, limit: int) -> str:
    if not limit or not text.strip():
        return ""
    return f"<details><summary>{summary}</summary>\n\n{fenced(text, limit)}\n\n</details>"


def _plain(name: str) -> str:
    """Foreign text in a title or subject: only letters, digits and harmless punctuation."""
    flat = _LINKS.sub(" ", _SUBJECT_UNSAFE.sub("", " ".join(redact_text(name).split())))
    return flat[:_MAX_NAME].strip() or "without a plain name"


def title(diagnosis: Diagnosis) -> str:
    """Title of the proposal and subject of its commit."""
    names = [_plain(job) for job in diagnosis.jobs] or [_plain(diagnosis.job)]
    shown = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    return f"Fix failing {'job' if len(names) == 1 else 'jobs'} {shown}"


def commit_message(sweep: str, attempt: int, agent: str, facts: RunFacts, diagnosis: Diagnosis) -> str:
    """Subject and trailers; the trailers lead back from any clone to the run and the sweep."""
    return (
        f"{title(diagnosis)}\n\n"
        f"Sweeper-Run: {facts.run.repository_id}/{facts.run.run_id}/{facts.run.run_attempt}\n"
        f"Sweeper-Sweep: {sweep}\n"
        f"Sweeper-Attempt: {attempt}\n"
        f"Sweeper-Agent: {_plain(agent)}\n"
    )


def signed_off(message: str, name: str, email: str) -> str:
    """The same with a sign-off as its last trailer: repositories that ask for one compare it with the author."""
    return f"{message}Signed-off-by: {name} <{email}>\n"


def body(
    facts: RunFacts, diagnosis: Diagnosis, reproduction: Reproduction, attempt: AttemptResult, answer: "HowToAnswer"
) -> str:
    """The proposal's body: what failed, the proof red -> green, how to answer. At most `MAX_BODY` characters.

    Foreign blocks shrink until it fits; what is left without them is bounded by itself.
    """
    text = ""
    for block in _BLOCK_SIZES:
        parts = (
            _what_failed(facts, diagnosis, block),
            _proof(facts, reproduction, attempt, block),
            _change(attempt, block),
            answer.text(),
            _fine_print(attempt),
        )
        text = "\n\n".join(part for part in parts if part)
        if len(text) <= MAX_BODY:
            break
    return text


def _what_failed(facts: RunFacts, diagnosis: Diagnosis, block: int) -> str:
    run = f"run {facts.run.run_id}, attempt {facts.run.run_attempt}"
    link = f"[{run}]({facts.html_url})" if _SAFE_URL.fullmatch(facts.html_url) else run
    workflow = code(facts.workflow_name or facts.workflow_path)
    branch = code(facts.head_branch or "")
    lines = [
        "### What failed",
        f"Jobs {_codes(diagnosis.jobs)} of {workflow} in {link}, on {branch} at `{facts.head_sha[:12]}`. "
        f"Judged as **{diagnosis.failure_class}**, because: {_codes(diagnosis.reasons)}.",
        _folded("Lines that led there", "\n".join(diagnosis.error_lines), block),
    ]
    return "\n\n".join(line for line in lines if line)


def _proof(facts: RunFacts, reproduction: Reproduction, attempt: AttemptResult, block: int) -> str:
    names = list(dict.fromkeys(result.check for result in reproduction.results))
    rows = ["| check | before | after |", "|---|---|---|"]
    for name in names[:_MAX_ITEMS]:
        red = [result for result in reproduction.results if result.check == name]
        green = [result for result in attempt.verdict.results if result.check == name]
        command = red[0].command.strip().partition("\n")[0].replace("|", "/")  # a pipe ends a cell even in code
        rows.append(f"| {code(command)} | {_ending(red)} | {_ending(green)} |")
    where = (
        f"Before: tree of `{facts.head_sha[:12]}`, untouched. After: tree `{attempt.verdict.tree[:12]}` in a fresh "
        f"worktree no agent has run in, each check twice. Patch id `{attempt.verdict.patch_id[:12]}`."
    )
    before = [result for result in reproduction.results if not result.is_green][:_MAX_ITEMS]
    after = _last_of_each(attempt.verdict.results)[:_MAX_ITEMS]
    outputs = [_folded(f"Before: {_plain(r.check)}", r.excerpt, block) for r in before]
    outputs += [_folded(f"After: {_plain(r.check)}", r.excerpt, block) for r in after]
    more = f"And {len(names) - _MAX_ITEMS} more checks." if len(names) > _MAX_ITEMS else ""
    parts = ("### Proof: red before, green after", "\n".join(rows), more, where, *outputs)
    return "\n\n".join(part for part in parts if part)


def _last_of_each(results: Sequence[CheckResult]) -> Sequence[CheckResult]:
    return list({result.check: result for result in results}.values())


def _ending(results: Sequence[CheckResult]) -> str:
    if not results:
        return "not run"
    colour = "green" if all(result.is_green for result in results) else "**red**"
    ends = ", ".join(str(r.limit or f"exit {r.exit_code}") for r in results)
    return f"{colour}: {ends} ({sum(r.seconds for r in results):.1f} s)"


def _change(attempt: AttemptResult, block: int) -> str:
    patch = attempt.patch
    if patch is None:
        return ""
    files = _codes(patch.files, patch.files_changed)
    lines = [
        "### Change",
        f"{patch.files_changed} file(s), {patch.lines_changed} line(s): {files}. "
        f"Attempt {attempt.n}, agent {code(attempt.agent)}.",
        _folded("The agent's own words (not checked)", attempt.fix.summary, block),
    ]
    shown = [f for f in attempt.verdict.findings if f.severity is Severity.SHOW]
    lines += [f"- Please look: {code(f.name)} at {code(f.place)} {code(f.detail)}" for f in shown[:_MAX_ITEMS]]
    return "\n\n".join(line for line in lines if line)


class HowToAnswer:
    """The paragraph that says what a reviewer's word will do."""

    def __init__(self, expires_in: timedelta, merges_itself: bool) -> None:
        self._expires_in = expires_in
        self._merges_itself = merges_itself

    def text(self) -> str:
        """One line per possible answer."""
        approve = (
            "it is checked again against the branch as it is then, and merged"
            if self._merges_itself
            else "then merge it when you like"
        )
        return (
            "### How to answer\n\n"
            f"- **Approve** this head: {approve}.\n"
            "- **Request changes**: your text goes into one more attempt, pushed to this branch.\n"
            "- **Close**: everything of ours is cleaned up.\n"
            f"- No answer within {_span(self._expires_in)}: it closes itself and says so."
        )


def _span(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{seconds} seconds"


def _fine_print(attempt: AttemptResult) -> str:
    sandboxes = sorted({result.sandbox for result in attempt.verdict.results})
    loud = " **The checks ran without a sandbox.**" if "none" in sandboxes else ""
    return (
        f"---\n\nSandbox {code(', '.join(sandboxes))}, workflow {WORKFLOW_VERSION}, verifier {VERIFIER_VERSION}. "
        f"Not checked: whether the change is what you want. Tests run in the judged code's own process, so a human "
        f"has the last word.{loud}"
    )


def answered_request(attempt: AttemptResult, reviewer: str | None) -> str:
    """The reply after a request for changes was worked in."""
    commit = attempt.patch.commit[:12] if attempt.patch else "none"
    return (
        f"Done as {code(reviewer or 'the reviewer')} asked, in `{commit}` "
        f"(attempt {attempt.n}, agent {code(attempt.agent)}); verified green again. Please look at the new head."
    )
