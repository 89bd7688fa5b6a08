"""Check runs and statuses that the app sets through the API."""

from dataclasses import dataclass, field

from adapters.loopback.core.refusals import Refused, not_found
from adapters.loopback.core.run_state import Annotation, CheckRun, Status
from adapters.loopback.core.state import Repo, User
from adapters.loopback.hooks import events
from adapters.loopback.hub import Hub
from adapters.loopback.shapes import checks as shapes

MAX_ANNOTATIONS = 50
MAX_TEXT = 65_535


@dataclass(frozen=True)
class CheckEdit:
    """Fields of a check run a caller sets; None stays as it is."""

    name: str | None = None
    external_id: str | None = None
    details_url: str | None = None
    status: str | None = None
    conclusion: str | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Annotation] = field(default_factory=list)


def create_check(hub: Hub, repo: Repo, head_sha: str, edit: CheckEdit, actor: User) -> CheckRun:
    """Raises Refused 422 for what GitHub bounds: 50 annotations a call, 65,535 characters a text."""
    check = CheckRun(
        id=hub.store.new_id(),
        suite_id=_suite_of(hub, repo, head_sha),
        name=edit.name or "",
        head_sha=head_sha,
        started_at=hub.store.now(),
    )
    repo.checks[check.id] = check
    _apply(hub, check, edit)
    _tell(hub, repo, check, "completed" if check.status == "completed" else "created", actor)
    return check


def update_check(hub: Hub, repo: Repo, check: CheckRun, edit: CheckEdit, actor: User) -> bool:
    """Change it; False if it is so already."""
    before = check.model_copy(deep=True)
    _apply(hub, check, edit)
    if check == before:
        return False
    if check.status == "completed" and before.status != "completed":
        _tell(hub, repo, check, "completed", actor)
    return True


def _suite_of(hub: Hub, repo: Repo, head_sha: str) -> int:
    """One suite per app and commit."""
    known = next((check.suite_id for check in repo.checks.values() if check.head_sha == head_sha), None)
    return known or hub.store.new_id()


def _apply(hub: Hub, check: CheckRun, edit: CheckEdit) -> None:
    if len(edit.annotations) > MAX_ANNOTATIONS:
        raise Refused(422, "Invalid request.\n\nNo more than 50 items are allowed; annotations")
    if any(len(text or "") > MAX_TEXT for text in (edit.summary, edit.text)):
        raise Refused(422, "Invalid request.\n\nOnly 65535 characters are allowed")
    for name in ("name", "external_id", "details_url", "status", "title", "summary", "text"):
        value = getattr(edit, name)
        if value is not None:
            setattr(check, name, value)
    check.annotations.extend(edit.annotations)
    if edit.conclusion is not None:
        check.conclusion, check.status = edit.conclusion, "completed"
        check.completed_at = check.completed_at or hub.store.now()
    elif edit.status is not None and edit.status != "completed":
        check.conclusion = check.completed_at = None


def _tell(hub: Hub, repo: Repo, check: CheckRun, action: str, actor: User) -> None:
    events.check_run(hub, repo, shapes.check_of_app(hub.view(), repo, check), action, actor)


def checks_of(hub: Hub, repo: Repo, sha: str) -> list[shapes.Check]:
    """All check runs of a commit: of apps, and of the latest attempts of its runs."""
    view = hub.view()
    found = [
        shapes.check_of_job(view, repo, run, job)
        for run in repo.runs.values()
        if run.head_sha == sha
        for job in run.latest.jobs
    ]
    return found + [shapes.check_of_app(view, repo, check) for check in repo.checks.values() if check.head_sha == sha]


def check_numbered(hub: Hub, repo: Repo, check_id: int) -> shapes.Check:
    """A check run of an app or of a job, in any attempt. Raises Refused 404."""
    if check_id in repo.checks:
        return shapes.check_of_app(hub.view(), repo, repo.checks[check_id])
    for run in repo.runs.values():
        for attempt in run.attempts:
            for job in attempt.jobs:
                if job.id == check_id:
                    return shapes.check_of_job(hub.view(), repo, run, job)
    raise not_found()


async def set_status(hub: Hub, repo: Repo, new: Status, actor: User) -> None:
    """Add a commit status; the newest of a context counts."""
    repo.statuses.append(new)
    events.status(hub, repo, new, await hub.bare(repo).commit(new.sha), actor)
