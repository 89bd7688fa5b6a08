"""Which tree CI really built, as far as the run and its logs tell."""

import re
from collections.abc import Sequence

from sweeper.model import RunFacts, TestedTree
from sweeper.policy.triage.reader import read_log

_OF_A_PULL = frozenset({"pull_request", "pull_request_target"})
_MERGE = re.compile(r"HEAD is now at [0-9a-f]{7,40} Merge ([0-9a-f]{40}) into ([0-9a-f]{40})$")
_COMMIT = re.compile(r"HEAD is now at ([0-9a-f]{7,40}) ")


def tested_tree(facts: RunFacts, logs: Sequence[bytes | None]) -> TestedTree | None:
    """The commit, or its merge with the target, that was checked out; None: nothing says it.

    For a pull request GitHub makes a merge commit and checks that out, unless the workflow asks for another commit;
    actions/checkout prints which. Logs disagree only if jobs check out differently: the first that tells counts.
    """
    if facts.event not in _OF_A_PULL:
        return TestedTree(commit=facts.head_sha)
    for log in logs:
        if log and (told := _checked_out(facts, log)):
            return told
    if facts.event == "pull_request" and facts.pull and facts.pull.base_sha:
        source = "GitHub's record of the pull request: its target when the run was started"
        return TestedTree(commit=facts.head_sha, merged_with=facts.pull.base_sha, source=source)
    return None


def _checked_out(facts: RunFacts, log: bytes) -> TestedTree | None:
    """A commit's subject is its author's words: a merge counts only if it is one of the commit that failed."""
    for line in read_log([log]).checkouts:
        if (merge := _MERGE.match(line)) and merge[1] == facts.head_sha:
            return TestedTree(commit=merge[1], merged_with=merge[2], source="the merge that the log names")
        if (commit := _COMMIT.match(line)) and facts.head_sha.startswith(commit[1]):
            return TestedTree(commit=facts.head_sha, source="the commit that the log names, without a merge")
    return None
