"""The proof in a proposal's body: what was red before, what is green after, and where that ends."""

from collections.abc import Sequence

from sweeper.model import (
    VERIFIER_VERSION,
    WORKFLOW_VERSION,
    AttemptResult,
    CheckResult,
    Part,
    Reproduction,
    RunFacts,
    Tally,
    Verdict,
)
from sweeper.policy.rendering.cause import bullets
from sweeper.policy.rendering.neutral import MAX_ITEMS, cell, code, codes, fenced, folded, plain

MAX_ROWS = 20
_MAX_ENDS = 6
_PARTS = {Part.BEFORE: "prepares it", Part.CHECK: "**the check**", Part.AFTER: "another step"}
_DESPITE = "Tests run in the judged code's own process, so a human has the last word."

Key = tuple[str, Part, str]
"""A command of a plan: check, part, step."""


class Runs:
    """Every command of a proof with its runs before and after the patch, in the order they were first run."""

    def __init__(self, before: Sequence[CheckResult], after: Sequence[CheckResult]) -> None:
        self.before = _grouped(before)
        self.after = _grouped(after)
        self.keys = tuple(dict.fromkeys([*self.before, *self.after]))

    def command(self, key: Key) -> str:
        """As it was run."""
        return (self.before.get(key) or self.after[key])[0].command


def _grouped(results: Sequence[CheckResult]) -> dict[Key, list[CheckResult]]:
    groups: dict[Key, list[CheckResult]] = {}
    for result in results:
        groups.setdefault((result.check, result.part, result.step), []).append(result)
    return groups


def proof(
    facts: RunFacts, reproduction: Reproduction, attempt: AttemptResult, errors: Sequence[str], block: int
) -> str:
    """Commands, how they ended, counts of tests, trees, and outputs folded; `block` bounds one output, in characters.

    `errors` are the lines an output is shown around where it does not fit.
    """
    runs = Runs(reproduction.results, attempt.verdict.results)
    parts = (
        "### Proof: red before, green after",
        _commands(runs),
        _counts(runs),
        _trees(facts, reproduction, attempt.verdict),
        _restored(attempt.verdict),
        *_outputs(runs, errors, block),
    )
    return "\n\n".join(part for part in parts if part)


def _commands(runs: Runs) -> str:
    rows = ["| command | part | before | after |", "|---|---|---|---|"]
    for key in runs.keys[:MAX_ROWS]:
        first = runs.command(key).strip().partition("\n")[0]
        before, after = (_ending(side.get(key, ())) for side in (runs.before, runs.after))
        rows.append(f"| {cell(first)} | {_PARTS[key[1]]} | {before} | {after} |")
    more = f"\n\nAnd {len(runs.keys) - MAX_ROWS} more commands." if len(runs.keys) > MAX_ROWS else ""
    return "\n".join(rows) + more


def _ending(results: Sequence[CheckResult]) -> str:
    if not results:
        return "not run"
    colour = "green" if all(result.is_green for result in results) else "**red**"
    ends = ", ".join(_end(result) for result in results[:_MAX_ENDS])
    more = f" and {len(results) - _MAX_ENDS} more" if len(results) > _MAX_ENDS else ""
    return f"{colour}: {ends}{more} ({sum(result.seconds for result in results):.1f} s)"


def _end(result: CheckResult) -> str:
    return f"{plain(result.limit)[:20]} limit" if result.limit else f"exit {result.exit_code}"


def _counts(runs: Runs) -> str:
    rows = []
    for key in runs.keys[:MAX_ROWS]:
        for when, side in (("before", runs.before), ("after", runs.after)):
            tally = next((run.tally for run in reversed(side.get(key, ())) if run.tally), None)
            if tally is not None:
                rows.append(f"| {cell(key[2] or key[0], 60)} | {when} | {_numbers(tally)} | {_counted(tally)} |")
    head = ("| tests of | | collected | passed | failed | skipped | counted by |", "|---|---|---|---|---|---|---|")
    return "\n".join([*head, *rows]) if rows else ""


def _counted(tally: Tally) -> str:
    """The digest is the same for the same tests with the same ends."""
    return cell(tally.source, 60) + (f", by name ({code(tally.names.digest[-12:])})" if tally.names else "")


def _numbers(tally: Tally) -> str:
    collected = "not known" if tally.collected is None else str(tally.collected)
    return f"{collected} | {tally.passed} | {tally.failed} | {tally.skipped}"


def _trees(facts: RunFacts, reproduction: Reproduction, verdict: Verdict) -> str:
    commit = reproduction.commit or facts.head_sha
    tree = f", tree {code(reproduction.tree[:12])}" if reproduction.tree else ""
    merge = "" if commit == facts.head_sha else ", the merge that CI built"
    return (
        f"Before: commit {code(commit[:12])}{merge}{tree}, untouched. After: tree {code(verdict.tree[:12])} in a fresh "
        f"worktree no agent has run in. Patch id {code(verdict.patch_id[:12])}."
    )


def _restored(verdict: Verdict) -> str:
    if not verdict.restored:
        return ""
    return f"For the deciding run these files were put back to their state before the patch: {codes(verdict.restored)}."


def _outputs(runs: Runs, errors: Sequence[str], block: int) -> list[str]:
    """Of each command the last red run before, and the last run after, the check itself first."""
    if not block:
        return ["The outputs are left out: this text would be too long with them."]
    keys = sorted(runs.keys, key=lambda key: key[1] is not Part.CHECK)
    red = [(key, [run for run in runs.before.get(key, ()) if not run.is_green]) for key in keys]
    shown = [("Before", key, found[-1]) for key, found in red if found][:MAX_ITEMS]
    shown += [("After", key, found[-1]) for key in keys if (found := runs.after.get(key))][:MAX_ITEMS]
    shown = [(when, key, run) for when, key, run in shown if key[1] is Part.CHECK or run.excerpt.strip()]
    return [_output(f"{when}: {plain(key[2] or key[0])}", run, errors, block) for when, key, run in shown]


def _output(summary: str, run: CheckResult, errors: Sequence[str], block: int) -> str:
    said = fenced(run.excerpt, block, errors) if run.excerpt.strip() else "It wrote nothing, or nothing was kept of it."
    return folded(f"{summary} ({_end(run)})", fenced(run.command, min(block, 600)), said)


def fine_print(reproduction: Reproduction, attempt: AttemptResult) -> str:
    """Where it ran, what that held, which rules judged, and what was not checked."""
    verdict = attempt.verdict
    sandboxes = sorted({result.sandbox for result in (*reproduction.results, *verdict.results) if result.sandbox})
    held = (
        f"its probe found to hold: {codes(verdict.sandbox_held)}"
        if verdict.sandbox_held
        else "what it held is not recorded"
    )
    loud = " **The checks ran without a sandbox.**" if "none" in sandboxes else ""
    return (
        f"### Where it ran, and what was not checked\n\n"
        f"Sandbox {code(', '.join(sandboxes))}, {held}. Workflow {WORKFLOW_VERSION}, "
        f"verifier {VERIFIER_VERSION}.{loud}\n\n"
        f"{bullets(verdict.unchecked, 'Nothing that the check plan names was recorded as left out.')}\n"
        f"- Not checked: whether the change is what you want. {_DESPITE}"
    )
