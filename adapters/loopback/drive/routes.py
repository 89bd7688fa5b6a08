"""The drive API: what people and CI do. It says what happened, so it does not ask whether they may."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.types import ASGIApp

from adapters.loopback.acts import merging, people, pulls, repos, reviews
from adapters.loopback.core.lookup import label_of_head, pull_numbered, review_of
from adapters.loopback.core.refusals import Moved, Refused
from adapters.loopback.core.state import User
from adapters.loopback.drive import answers, requests
from adapters.loopback.drive.ci import make_run
from adapters.loopback.drive.world import world
from adapters.loopback.hooks import events
from adapters.loopback.hooks.events import OnPull
from adapters.loopback.hub import Hub
from adapters.loopback.turns import ReadAsJson, Turns

router = APIRouter(prefix="/_drive")
DONE = answers.Done()


def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


Here = Annotated[Hub, Depends(_hub)]


def _user(hub: Hub, login: str) -> User:
    """People nobody introduced exist too; they have no rights."""
    return people.known_or_new(hub.store, login)


def _on(hub: Hub, asked: requests.PullAct | requests.EditPull) -> OnPull:
    repo = hub.repo(asked.repo)
    return OnPull(repo, pull_numbered(repo, asked.pr))


@router.post("/repos")
async def make_repo(hub: Here, new: requests.NewRepo) -> answers.RepoMade:
    """A repository, empty, from files, or cloned."""
    repo = await repos.create_repo(hub, new.name, repos.Source(new.path, new.files, new.default_branch))
    return answers.RepoMade(
        repo=hub.repo_name(repo),
        id=repo.id,
        clone_url=f"{hub.info.git_url}/{hub.repo_name(repo)}.git",
        default_branch=repo.default_branch,
        head=await hub.bare(repo).branch(repo.default_branch) or "",
    )


@router.post("/repos/rename")
async def rename(hub: Here, asked: requests.Rename) -> answers.Done:
    """Ids stay; the old name answers 301."""
    repo = hub.repo(asked.repo)
    repos.rename_repo(hub, repo, asked.name, hub.state.users[repo.owner_id])
    return DONE


@router.post("/users")
async def make_user(hub: Here, new: requests.NewUser) -> answers.UserMade:
    """A person or bot and their right, on one repository or all."""
    user = people.known_or_new(hub.store, new.login, new.type)
    user.type = new.type
    people.grant(user, new.permission, hub.repo(new.repo) if new.repo else None)
    return answers.UserMade(login=user.login, id=user.id, token=user.token)


@router.post("/runs")
async def run(hub: Here, new: requests.NewRun) -> answers.RunMade:
    """A workflow run, with its webhooks and check runs."""
    return await make_run(hub, new)


@router.post("/pushes")
async def push(hub: Here, new: requests.NewPush) -> answers.Pushed:
    """A commit pushed by a person."""
    wanted = repos.FilePush(new.branch, new.files, new.from_, new.force, new.message)
    return answers.Pushed(sha=await repos.push_files(hub, hub.repo(new.repo), _user(hub, new.user), wanted))


@router.post("/pulls")
async def open_pull(hub: Here, new: requests.OpenPull) -> answers.PullMade:
    """A pull request opened by a person."""
    wanted = pulls.Draft(new.title, new.head, new.base, new.body, new.draft)
    pull = await pulls.open_pull(hub, hub.repo(new.repo), _user(hub, new.user), wanted)
    return answers.PullMade(number=pull.number)


@router.patch("/pulls")
async def edit_pull(hub: Here, asked: requests.EditPull) -> answers.Done:
    """Title, body, base or draft changed by a person."""
    on = _on(hub, asked)
    edit = pulls.Edit(asked.title, asked.body, asked.base, asked.draft)
    await pulls.edit_pull(hub, on.repo, on.pull, edit, _user(hub, asked.user))
    return DONE


@router.post("/pulls/close")
async def close_pull(hub: Here, asked: requests.PullAct) -> answers.Done:
    """Closed without merging. Raises Refused 422 when it is closed."""
    on = _on(hub, asked)
    if not pulls.close_pull(hub, on.repo, on.pull, _user(hub, asked.user)):
        raise Refused(422, f"{label_of_head(hub.state, on.pull)} is closed already")
    return DONE


@router.post("/pulls/reopen")
async def reopen_pull(hub: Here, asked: requests.PullAct) -> answers.Done:
    """Opened again. Raises Refused 422 when it is open."""
    on = _on(hub, asked)
    if not await pulls.reopen_pull(hub, on.repo, on.pull, _user(hub, asked.user)):
        raise Refused(422, f"{label_of_head(hub.state, on.pull)} is open already")
    return DONE


@router.post("/pulls/merge")
async def merge_pull(hub: Here, asked: requests.PullAct) -> answers.Pushed:
    """Merged by a person; the answer is the merge commit."""
    on = _on(hub, asked)
    return answers.Pushed(sha=await merging.merge_pull(hub, on.repo, on.pull, "merge", _user(hub, asked.user)))


@router.post("/reviews")
async def review(hub: Here, new: requests.NewReview) -> answers.ReviewMade:
    """A review by a person."""
    repo = hub.repo(new.repo)
    lines = [reviews.Line(one.path, one.line, one.body) for one in new.comments]
    opinion = reviews.Opinion(new.state, new.body, new.commit_id, new.submitted_at, lines)
    made = reviews.submit_review(hub, OnPull(repo, pull_numbered(repo, new.pr)), _user(hub, new.user), opinion)
    return answers.ReviewMade(review_id=made.id)


@router.post("/reviews/dismiss")
async def dismiss(hub: Here, asked: requests.DismissReview) -> answers.Done:
    """A review taken back."""
    repo = hub.repo(asked.repo)
    pull = pull_numbered(repo, asked.pr)
    found = review_of(pull, asked.review_id)
    reviews.dismiss_review(hub, OnPull(repo, pull), found, asked.message, _user(hub, asked.user))
    return DONE


@router.post("/comments")
async def comment(hub: Here, new: requests.NewComment) -> answers.CommentMade:
    """A comment by a person."""
    repo = hub.repo(new.repo)
    made = reviews.add_comment(hub, OnPull(repo, pull_numbered(repo, new.pr)), _user(hub, new.user), new.body)
    return answers.CommentMade(comment_id=made.id)


@router.post("/labels")
async def labels(hub: Here, asked: requests.ChangeLabels) -> answers.Done:
    """Labels put on and taken off."""
    repo = hub.repo(asked.repo)
    on = OnPull(repo, pull_numbered(repo, asked.pr))
    actor = _user(hub, asked.user)
    reviews.add_labels(hub, on, asked.add, actor)
    for name in asked.remove:
        reviews.remove_label(hub, on, name, actor)
    return DONE


@router.post("/branches/delete")
async def delete_branch(hub: Here, asked: requests.DeleteBranch) -> answers.Done:
    """A branch deleted by a person."""
    await repos.delete_branch(hub, hub.repo(asked.repo), asked.branch, _user(hub, asked.user))
    return DONE


@router.post("/dispatches")
async def dispatch(hub: Here, new: requests.NewDispatch) -> answers.Dispatched:
    """A repository_dispatch by a person."""
    repo, sender = hub.repo(new.repo), _user(hub, new.user)
    guid = events.repository_dispatch(hub, repo, new.event_type, new.client_payload, sender)
    return answers.Dispatched(guid=guid)


@router.post("/faults")
async def set_faults(hub: Here, rules: Annotated[list[requests.FaultRule], Body()]) -> answers.Done:
    """Replace all rules; an empty list lets held answers go."""
    hub.faults.replace(rules)
    return DONE


@router.post("/hooks")
async def set_hooks(hub: Here, asked: requests.SetHooks) -> answers.Done:
    """How deliveries are treated from now on."""
    hub.outbox.set_mode(asked.mode)
    return DONE


@router.post("/redeliver")
async def redeliver(hub: Here, asked: requests.Redeliver) -> answers.Dispatched:
    """Send an event again, same guid."""
    return answers.Dispatched(guid=hub.outbox.redeliver(asked.guid).guid)


@router.post("/clock")
async def advance(hub: Here, asked: requests.Advance) -> answers.Clock:
    """Move GitHub's clock forward."""
    hub.state.clock_offset_s += asked.advance_s
    return answers.Clock(now=hub.store.now())


@router.get("/ledger")
async def ledger(hub: Here) -> answers.LedgerView:
    """Every call and how often each effect happened."""
    return hub.ledger.view()


@router.get("/world")
async def get_world(hub: Here) -> answers.WorldView:
    """Everything, as it is now."""
    return await world(hub)


def drive_app(hub: Hub) -> ASGIApp:
    """The drive API of a hub."""
    app = FastAPI(openapi_url=None)
    app.state.hub = hub
    app.include_router(router)
    app.add_exception_handler(Refused, _refuse)
    app.add_exception_handler(Moved, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse)
    app.add_exception_handler(404, _refuse)
    app.add_exception_handler(405, _refuse)
    return Turns(ReadAsJson(app), hub)


async def _refuse(_: Request, error: Exception) -> Response:
    if isinstance(error, RequestValidationError):
        said = "; ".join(f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors())
        return JSONResponse({"error": said}, 422)
    if isinstance(error, Refused):
        return JSONResponse({"error": error.sentence()}, error.status)
    if isinstance(error, Moved):
        return JSONResponse({"error": f"{error}; use its new name"}, 404)
    return JSONResponse({"error": "There is no such drive call"}, 404)
