"""CI of one commit: check runs and commit statuses, taken together."""

from datetime import datetime

from adapters.github.ci_replies import CheckRunReply, StatusReply
from adapters.github.client import Repository
from adapters.github.runs import runs_of
from sweeper import ids
from sweeper.model import ChecksState

CHECK_NAME = "CI Sweeper"
"""The check run a sweep reports under; its external id is the sweep's."""

OUR_CHECK = "sweeper/evidence"
"""Our own word on a commit is no reason for us to act on it."""

_GREEN = frozenset({"success", "neutral", "skipped"})
_STATUS = {"success": ChecksState.GREEN, "pending": ChecksState.PENDING}
_WORST_FIRST = (ChecksState.RED, ChecksState.PENDING, ChecksState.GREEN)


def checks_of(there: Repository, sha: str) -> ChecksState:
    """Red if anything is red, else pending, else green; none if there is nothing.

    A conclusion that is not known to be good (timed_out, cancelled, action_required, stale, ...) is red.
    """
    states = [_of_check(check) for check in latest_of(there, sha)]
    statuses = there.pages(StatusReply, f"commits/{sha}/status", within="statuses")
    states += [_STATUS.get(status.state, ChecksState.RED) for status in statuses if status.context != OUR_CHECK]
    return next((state for state in _WORST_FIRST if state in states), ChecksState.NONE)


def green_jobs(there: Repository, sha: str, since: datetime | None = None) -> tuple[str, ...]:
    """Names under which a commit passed after `since`. One that is red in another workflow is none of them."""
    checks = latest_of(there, sha)
    not_green = {check.name for check in checks if check.conclusion != "success"}
    green = [check for check in checks if check.name not in not_green]
    if since is not None:
        green = [check for check in green if check.completed_at is not None and check.completed_at >= since]
    return tuple(dict.fromkeys(check.name for check in green))


def _is_our_own(check: CheckRunReply) -> bool:
    """A job may bear our name, but no sweep's id."""
    is_report = check.name == CHECK_NAME and (check.external_id or "").startswith(ids.SWEEP_PREFIX)
    return is_report or check.name == OUR_CHECK


def _of_check(check: CheckRunReply) -> ChecksState:
    if check.status != "completed":
        return ChecksState.PENDING
    return ChecksState.GREEN if check.conclusion in _GREEN else ChecksState.RED


def latest_of(there: Repository, sha: str) -> list[CheckRunReply]:
    """The newest check run of each name, app and workflow.

    The workflow counts: two of them may each have a job `test`, and the green one must not hide the red one.
    """
    checks = [
        check
        for check in there.pages(CheckRunReply, f"commits/{sha}/check-runs", within="check_runs")
        if not _is_our_own(check)
    ]
    origin = _workflow_of_suite(there, sha) if _have_namesakes(checks) else {}
    newest: dict[tuple[str, int, str], CheckRunReply] = {}
    for check in sorted(checks, key=lambda check: check.id):
        suite = check.check_suite.id if check.check_suite else 0
        newest[check.name, check.app.id if check.app else 0, origin.get(suite, "")] = check
    return list(newest.values())


def _have_namesakes(checks: list[CheckRunReply]) -> bool:
    names = [(check.name, check.app) for check in checks]
    return len(set(names)) < len(names)


def _workflow_of_suite(there: Repository, sha: str) -> dict[int, str]:
    """Which workflow and event a check suite of Actions stands for; asked only when names collide."""
    return {
        run.check_suite_id: f"workflow {run.workflow_id} on {run.event}"
        for run in runs_of(there, sha)
        if run.check_suite_id is not None
    }
