"""The world as the drive API shows it: states and shas, for tests and demos to read."""

from adapters.loopback.acts.checks import checks_of
from adapters.loopback.core.lookup import comments_on
from adapters.loopback.core.pull_state import Pull
from adapters.loopback.core.state import Repo
from adapters.loopback.drive.answers import (
    CheckSeen,
    CommentSeen,
    DeliverySeen,
    PullSeen,
    RepoSeen,
    ReviewSeen,
    RunSeen,
    StatusSeen,
    WorldView,
)
from adapters.loopback.hub import Hub
from adapters.loopback.shapes.checks import latest_statuses
from adapters.loopback.shapes.runs import status_of


async def world(hub: Hub) -> WorldView:
    """Everything, as it is now."""
    deliveries = [
        DeliverySeen(
            guid=one.guid, event=one.event, status_code=one.status_code, action=one.action, state=one.state.value
        )
        for one in hub.state.deliveries
    ]
    return WorldView(repos=[await _repo(hub, repo) for repo in hub.state.repos.values()], deliveries=deliveries)


async def _repo(hub: Hub, repo: Repo) -> RepoSeen:
    return RepoSeen(
        name=hub.repo_name(repo),
        id=repo.id,
        default_branch=repo.default_branch,
        branches=await hub.bare(repo).branches(),
        pulls=[_pull(hub, repo, pull) for pull in repo.pulls.values()],
        runs=_runs(repo),
        checks=_checks(hub, repo),
        statuses=[
            StatusSeen(sha=sha, context=one.context, state=one.state, description=one.description)
            for sha in dict.fromkeys(status.sha for status in repo.statuses)
            for one in latest_statuses(repo, sha)
        ],
    )


def _pull(hub: Hub, repo: Repo, pull: Pull) -> PullSeen:
    people = hub.state.users
    return PullSeen(
        number=pull.number,
        state="open" if pull.open else "closed",
        merged=pull.merged_at is not None,
        draft=pull.draft,
        head=pull.head,
        base=pull.base,
        head_sha=pull.head_sha,
        title=pull.title,
        body=pull.body,
        user=people[pull.user_id].login,
        labels=pull.labels,
        reviews=[
            ReviewSeen(
                id=one.id,
                user=people[one.user_id].login,
                state=one.state,
                commit_id=one.commit_id,
                body=one.body,
                submitted_at=one.submitted_at,
            )
            for one in pull.reviews
        ],
        comments=[
            CommentSeen(id=one.id, user=people[one.user_id].login, body=one.body)
            for one in comments_on(repo, pull.number)
        ],
        merge_sha=pull.merge_sha if pull.merged_at else None,
        merged_by=people[pull.merged_by].login if pull.merged_by else None,
        queued=pull.queued,
    )


def _runs(repo: Repo) -> list[RunSeen]:
    return [
        RunSeen(
            run_id=run.id,
            attempt=run.latest.number,
            status=status_of(run.latest.conclusion),
            conclusion=run.latest.conclusion,
            head_sha=run.head_sha,
            head_branch=run.head_branch,
            event=run.event,
            workflow_path=run.workflow_path,
        )
        for run in repo.runs.values()
    ]


def _checks(hub: Hub, repo: Repo) -> list[CheckSeen]:
    shas = [run.head_sha for run in repo.runs.values()] + [check.head_sha for check in repo.checks.values()]
    return [
        CheckSeen(
            id=check.id,
            name=check.name,
            head_sha=check.head_sha,
            status=check.status,
            conclusion=check.conclusion,
            external_id=check.external_id,
            app=check.app.slug if check.app else "github-actions",
        )
        for sha in dict.fromkeys(shas)
        for check in checks_of(hub, repo, sha)
    ]
