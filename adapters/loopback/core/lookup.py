"""Finding things in the state document, and what a person may do."""

from adapters.loopback.core.pull_state import Comment, Pull, Review
from adapters.loopback.core.refusals import Moved, not_found
from adapters.loopback.core.run_state import Run
from adapters.loopback.core.state import Permission, Repo, State, User

_RANK = list(Permission)


def user_named(state: State, login: str) -> User | None:
    """Logins are compared without case, as GitHub does."""
    return next((user for user in state.users.values() if user.login.lower() == login.lower()), None)


def full_name(state: State, repo: Repo) -> str:
    """`owner/name`."""
    return f"{state.users[repo.owner_id].login}/{repo.name}"


def repo_named(state: State, name: str) -> Repo:
    """The repository called so. Raises Moved for a former name, Refused 404 for an unknown one."""
    wanted = name.lower()
    for repo in state.repos.values():
        if full_name(state, repo).lower() == wanted:
            return repo
    for repo in state.repos.values():
        if wanted in (former.lower() for former in repo.former_names):
            raise Moved(repo.id)
    raise not_found(f"there is no repository {name}")


def pull_numbered(repo: Repo, number: int) -> Pull:
    """Raises Refused 404."""
    if number not in repo.pulls:
        raise not_found(f"there is no pull request {number}")
    return repo.pulls[number]


def review_of(pull: Pull, review_id: int) -> Review:
    """Raises Refused 404."""
    for review in pull.reviews:
        if review.id == review_id:
            return review
    raise not_found(f"there is no review {review_id}")


def comment_of(repo: Repo, comment_id: int) -> Comment:
    """Raises Refused 404."""
    if comment_id not in repo.comments:
        raise not_found(f"there is no comment {comment_id}")
    return repo.comments[comment_id]


def comments_on(repo: Repo, number: int) -> list[Comment]:
    """Comments of a pull request, oldest first."""
    return [comment for comment in repo.comments.values() if comment.number == number]


def run_of(repo: Repo, run_id: int) -> Run:
    """Raises Refused 404."""
    if run_id not in repo.runs:
        raise not_found(f"there is no run {run_id}")
    return repo.runs[run_id]


def permission_of(state: State, repo: Repo, user: User) -> Permission:
    """The owner is admin; else the right given for the repository, else the one given for all."""
    if user.id == repo.owner_id:
        return Permission.ADMIN
    if state.app and user.id == state.app.bot_id:
        return Permission.WRITE
    return repo.permissions.get(user.id, user.permission)


def may(state: State, repo: Repo, user: User, needed: Permission) -> bool:
    """Whether the user has at least that right."""
    return _RANK.index(permission_of(state, repo, user)) >= _RANK.index(needed)


def label_of_head(state: State, pull: Pull) -> str:
    """`owner:branch` of a pull request's head."""
    return f"{state.users[state.repos[pull.head_repo_id].owner_id].login}:{pull.head}"
