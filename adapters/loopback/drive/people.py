"""What people and CI do. The drive API says what happened, so it does not ask whether they may."""

from fastapi import APIRouter

from adapters.loopback.acts import merging, people, pulls, repos, reviews
from adapters.loopback.core.lookup import label_of_head, review_of
from adapters.loopback.core.refusals import Refused
from adapters.loopback.drive import answers, requests
from adapters.loopback.drive.ci import make_run
from adapters.loopback.drive.common import DONE, Here, on_pull, person
from adapters.loopback.hooks import events

router = APIRouter()


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
    return answers.Pushed(sha=await repos.push_files(hub, hub.repo(new.repo), person(hub, new.user), wanted))


@router.post("/pulls")
async def open_pull(hub: Here, new: requests.OpenPull) -> answers.PullMade:
    """A pull request opened by a person."""
    wanted = pulls.Draft(new.title, new.head, new.base, new.body, new.draft)
    pull = await pulls.open_pull(hub, hub.repo(new.repo), person(hub, new.user), wanted)
    return answers.PullMade(number=pull.number)


@router.patch("/pulls")
async def edit_pull(hub: Here, asked: requests.EditPull) -> answers.Done:
    """Title, body, base or draft changed by a person."""
    on = on_pull(hub, asked.repo, asked.pr)
    edit = pulls.Edit(asked.title, asked.body, asked.base, asked.draft)
    await pulls.edit_pull(hub, on.repo, on.pull, edit, person(hub, asked.user))
    return DONE


@router.post("/pulls/close")
async def close_pull(hub: Here, asked: requests.PullAct) -> answers.Done:
    """Closed without merging. Raises Refused 422 when it is closed."""
    on = on_pull(hub, asked.repo, asked.pr)
    if not pulls.close_pull(hub, on.repo, on.pull, person(hub, asked.user)):
        raise Refused(422, f"{label_of_head(hub.state, on.pull)} is closed already")
    return DONE


@router.post("/pulls/reopen")
async def reopen_pull(hub: Here, asked: requests.PullAct) -> answers.Done:
    """Opened again. Raises Refused 422 when it is open."""
    on = on_pull(hub, asked.repo, asked.pr)
    if not await pulls.reopen_pull(hub, on.repo, on.pull, person(hub, asked.user)):
        raise Refused(422, f"{label_of_head(hub.state, on.pull)} is open already")
    return DONE


@router.post("/pulls/merge")
async def merge_pull(hub: Here, asked: requests.PullAct) -> answers.Pushed:
    """Merged by a person; the answer is the merge commit."""
    on = on_pull(hub, asked.repo, asked.pr)
    return answers.Pushed(sha=await merging.merge_pull(hub, on.repo, on.pull, "merge", person(hub, asked.user)))


@router.post("/reviews")
async def review(hub: Here, new: requests.NewReview) -> answers.ReviewMade:
    """A review by a person."""
    lines = [reviews.Line(one.path, one.line, one.body) for one in new.comments]
    opinion = reviews.Opinion(new.state, new.body, new.commit_id, new.submitted_at, lines)
    made = reviews.submit_review(hub, on_pull(hub, new.repo, new.pr), person(hub, new.user), opinion)
    return answers.ReviewMade(review_id=made.id)


@router.post("/reviews/dismiss")
async def dismiss(hub: Here, asked: requests.DismissReview) -> answers.Done:
    """A review taken back."""
    on = on_pull(hub, asked.repo, asked.pr)
    found = review_of(on.pull, asked.review_id)
    reviews.dismiss_review(hub, on, found, asked.message, person(hub, asked.user))
    return DONE


@router.post("/comments")
async def comment(hub: Here, new: requests.NewComment) -> answers.CommentMade:
    """A comment by a person."""
    made = reviews.add_comment(hub, on_pull(hub, new.repo, new.pr), person(hub, new.user), new.body)
    return answers.CommentMade(comment_id=made.id)


@router.post("/labels")
async def labels(hub: Here, asked: requests.ChangeLabels) -> answers.Done:
    """Labels put on and taken off."""
    on = on_pull(hub, asked.repo, asked.pr)
    actor = person(hub, asked.user)
    reviews.add_labels(hub, on, asked.add, actor)
    for name in asked.remove:
        reviews.remove_label(hub, on, name, actor)
    return DONE


@router.post("/branches/delete")
async def delete_branch(hub: Here, asked: requests.DeleteBranch) -> answers.Done:
    """A branch deleted by a person."""
    await repos.delete_branch(hub, hub.repo(asked.repo), asked.branch, person(hub, asked.user))
    return DONE


@router.post("/dispatches")
async def dispatch(hub: Here, new: requests.NewDispatch) -> answers.Dispatched:
    """A repository_dispatch by a person."""
    repo, sender = hub.repo(new.repo), person(hub, new.user)
    guid = events.repository_dispatch(hub, repo, new.event_type, new.client_payload, sender)
    return answers.Dispatched(guid=guid)
