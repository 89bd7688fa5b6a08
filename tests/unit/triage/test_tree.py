import pytest

from sweeper.model import PullFacts, TestedTree
from sweeper.policy.triage import tested_tree as tree_that_ci_built
from tests.support.values import FAILING_SHA, run_facts

BASE = "b" * 40
PULL = PullFacts(number=7, base_ref="main", base_sha="c" * 40)
STAMP = "2026-07-30T10:55:18.2467887Z "


def _tree(*lines: str, event: str = "pull_request", pull: PullFacts | None = None) -> TestedTree | None:
    log = "".join(f"{STAMP}{line}\n" for line in ("##[group]Run actions/checkout@v4", "##[endgroup]", *lines))
    return tree_that_ci_built(run_facts(event=event, pull=pull), [None, log.encode()])


@pytest.mark.parametrize("event", ["push", "schedule", "workflow_dispatch", "merge_group"])
def test_outside_of_pull_requests_it_is_the_commit(event: str) -> None:
    assert _tree(f"HEAD is now at 1234567 Merge {FAILING_SHA} into {BASE}", event=event) == TestedTree(
        commit=FAILING_SHA
    )


def test_the_merge_that_was_checked_out_is_in_the_log() -> None:
    tree = _tree(f"HEAD is now at 1234567 Merge {FAILING_SHA} into {BASE}", pull=PULL)
    assert tree is not None
    assert (tree.commit, tree.merged_with) == (FAILING_SHA, BASE)
    assert "log" in tree.source


def test_a_workflow_may_check_out_the_commit_itself() -> None:
    tree = _tree(f"HEAD is now at {FAILING_SHA[:7]} Merge old into new", pull=PULL)
    assert tree is not None
    assert (tree.commit, tree.merged_with) == (FAILING_SHA, None)


def test_a_merge_of_another_commit_is_no_evidence() -> None:
    tree = _tree(f"HEAD is now at 1234567 Merge {'d' * 40} into {BASE}", pull=PULL)
    assert tree is not None
    assert tree.merged_with == PULL.base_sha
    assert "GitHub" in tree.source


def test_where_nothing_says_it_nothing_is_said() -> None:
    assert _tree("Syncing repository: octo/app") is None
    assert _tree("HEAD is now at 1234567 Something", event="pull_request_target", pull=PULL) is None
