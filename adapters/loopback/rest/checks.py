"""Check runs and commit statuses."""

from typing import Literal

from fastapi import APIRouter
from fastapi.responses import Response

from adapters.loopback.acts import checks as acts
from adapters.loopback.core.refusals import Refused, not_found
from adapters.loopback.core.run_state import Annotation, Status
from adapters.loopback.rest.common import At, Body, Listing, Read, Write, answer, paged
from adapters.loopback.shapes import checks

router = APIRouter(prefix="/repos/{owner}/{name}")


class OutputBody(Body):
    """A check run's texts."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Annotation] = []


class CheckBody(Body):
    """Fields of a check run; for a new one `name` and `head_sha` are needed."""

    name: str | None = None
    head_sha: str | None = None
    external_id: str | None = None
    details_url: str | None = None
    status: Literal["queued", "in_progress", "completed", "waiting", "requested", "pending"] | None = None
    conclusion: (
        Literal["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"] | None
    ) = None
    output: OutputBody = OutputBody()

    def edit(self) -> acts.CheckEdit:
        """As the act takes it."""
        return acts.CheckEdit(
            name=self.name,
            external_id=self.external_id,
            details_url=self.details_url,
            status=self.status,
            conclusion=self.conclusion,
            title=self.output.title,
            summary=self.output.summary,
            text=self.output.text,
            annotations=self.output.annotations,
        )


@router.post("/check-runs")
async def create_check(at: Write, body: CheckBody) -> Response:
    """POST check-checks."""
    if not body.name or not body.head_sha:
        raise Refused(422, 'Invalid request.\n\n"name", "head_sha" weren\'t supplied.')
    if await at.bare.resolve(body.head_sha) is None:
        raise Refused(422, f"No commit found for SHA: {body.head_sha}")
    check = acts.create_check(at.hub, at.repo, body.head_sha, body.edit(), at.user)
    at.effect("check.create", f"{at.name} {check.head_sha} {check.name} {check.external_id}")
    return answer(checks.check(at.view, at.repo, checks.check_of_app(at.view, at.repo, check)), 201)


@router.patch("/check-runs/{check_id}")
async def update_check(at: Write, check_id: int, body: CheckBody) -> Response:
    """PATCH check-runs/{id}: only a check run of the app itself."""
    if check_id not in at.repo.checks:
        raise not_found()
    check = at.repo.checks[check_id]
    if acts.update_check(at.hub, at.repo, check, body.edit(), at.user):
        at.effect("check.update", f"{at.name} {check.head_sha} {check.name} {check.external_id} {check.conclusion}")
    return answer(checks.check(at.view, at.repo, checks.check_of_app(at.view, at.repo, check)))


@router.get("/check-runs/{check_id}")
async def get_check(at: Read, check_id: int) -> Response:
    """GET check-runs/{id}: of an app or of a job."""
    return answer(checks.check(at.view, at.repo, acts.check_numbered(at.hub, at.repo, check_id)))


@router.get("/check-runs/{check_id}/annotations")
async def list_annotations(at: Read, check_id: int) -> Response:
    """GET check-runs/{id}/annotations: where a time limit or a lost runner says so."""
    check = acts.check_numbered(at.hub, at.repo, check_id)
    return paged(at, check.annotations, lambda found: checks.annotation(at.view, at.repo, check.head_sha, found))


@router.get("/commits/{ref:path}/check-runs")
async def list_checks(at: Read, ref: str) -> Response:
    """GET commits/{ref}/check-runs: the latest of each name and suite, or all with filter=all."""
    found = acts.checks_of(at.hub, at.repo, await _sha(at, ref))
    query = at.request.query_params
    if query.get("filter") != "all":
        found = list({(check.suite_id, check.name): check for check in found}.values())
    for name, value in (("check_name", "name"), ("status", "status")):
        if name in query:
            found = [check for check in found if getattr(check, value) == query[name]]
    if "app_id" in query:
        ours = str(at.hub.app.id)
        found = [check for check in found if (check.app is not None) == (query["app_id"] == ours)]
    return paged(at, found, lambda check: checks.check(at.view, at.repo, check), Listing(under="check_runs"))


async def _sha(at: At, ref: str) -> str:
    sha = await at.bare.branch(ref) or await at.bare.resolve(ref)
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {ref}")
    return sha


@router.get("/commits/{ref:path}/status")
async def get_status(at: Read, ref: str) -> Response:
    """GET commits/{ref}/status: the combined one."""
    return answer(checks.combined_status(at.view, at.repo, await _sha(at, ref)))


@router.get("/commits/{ref:path}/statuses")
async def list_statuses(at: Read, ref: str) -> Response:
    """GET commits/{ref}/statuses, newest first."""
    sha = await _sha(at, ref)
    found = [status for status in reversed(at.repo.statuses) if status.sha == sha]
    return paged(at, found, lambda status: checks.status(at.view, at.repo, status))


class StatusBody(Body):
    """A commit status."""

    state: Literal["error", "failure", "pending", "success"]
    context: str = "default"
    description: str | None = None
    target_url: str | None = None


@router.post("/statuses/{sha}")
async def create_status(at: Write, sha: str, body: StatusBody) -> Response:
    """POST statuses/{sha}."""
    if await at.bare.resolve(sha) is None:
        raise Refused(422, f"No commit found for SHA: {sha}")
    new = Status(
        id=at.hub.store.new_id(),
        sha=sha,
        state=body.state,
        context=body.context,
        description=body.description,
        target_url=body.target_url,
        user_id=at.user.id,
        created_at=at.hub.store.now(),
    )
    await acts.set_status(at.hub, at.repo, new, at.user)
    at.effect("status.create", f"{at.name} {sha} {body.context} {body.state}")
    return answer(checks.status(at.view, at.repo, new), 201)
