"""What people and CI do on the in-memory GitHub: the scenario verbs of the fake."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime

from sweeper.model import ChecksState, PullFacts, Review, ReviewComment, ReviewState, RunRef
from tests.support.code_host_state import FakeCheck, FakeComment, FakeJob, FakePull, FakeRun


class FakeGitHub:
    """One repository with branches, runs and pull requests. Refuses what GitHub refuses, with ValueError."""

    def __init__(self, repository: str, repository_id: int, clock: Callable[[], datetime]) -> None:
        self.repository = repository
        self.repository_id = repository_id
        self.default_branch = "main"
        self.branches: dict[str, str] = {}
        self.pulls: dict[int, FakePull] = {}
        self.clock = clock
        self.runs: dict[int, list[FakeRun]] = {}
        self.files: dict[tuple[str, str | None], bytes] = {}
        self.parents: dict[str, str] = {}
        self.subjects: dict[str, str] = {}
        self.permissions: dict[str, str] = {}
        self.checks: dict[str, ChecksState] = {}
        self.check_runs: list[FakeCheck] = []
        self.merges_refused: str | None = None
        self._serial = 1000
        self.commit(self.default_branch)

    def commit(self, branch: str, start: str | None = None, message: str = "Change something") -> str:
        """A new commit on `branch`; a new branch starts at `start` (a branch) or at the default branch."""
        parent = self.branches.get(branch) or self.branches.get(start or self.default_branch, "")
        sha = hashlib.sha1(f"{parent}\n{self.next_id()}".encode()).hexdigest()
        self.parents[sha], self.subjects[sha] = parent, message
        self.set_branch_head(branch, sha)
        return sha

    def history_of(self, sha: str) -> list[str]:
        """The commit and all before it, newest first."""
        found = []
        while sha:
            found.append(sha)
            sha = self.parents.get(sha, "")
        return found

    def set_branch_head(self, branch: str, sha: str) -> None:
        """A push: the branch moves, and with it the head of its open pull requests."""
        self.branches[branch] = sha
        for pull in self.open_of(branch):
            pull.head_sha = sha

    def push_by_human(self, branch: str, sha: str | None = None) -> str:
        """Somebody pushes to an existing branch, ours perhaps."""
        if sha is None:
            return self.commit(branch)
        self.set_branch_head(branch, sha)
        return sha

    def delete_branch(self, branch: str, user: str = "maintainer") -> None:
        """The branch goes, and GitHub closes its open pull requests."""
        self.branches.pop(branch, None)
        for pull in self.open_of(branch):
            self.close_by(pull.number, user)

    def set_file(self, path: str, content: bytes, commit: str | None = None) -> None:
        """A file at one commit, or at all commits that have none of their own."""
        self.files[path, commit] = content

    def add_run(
        self,
        branch: str = "main",
        *,
        sha: str | None = None,
        conclusion: str | None = "failure",
        jobs: Sequence[FakeJob] = (FakeJob("test"),),
        workflow_path: str = ".github/workflows/ci.yml",
        event: str = "push",
        fork: str | None = None,
        pull: int | None = None,
    ) -> RunRef:
        """A workflow run's first attempt. `fork`: the repository the code comes from, with a branch of that name;
        `pull`: the pull request it is for.
        """
        ref = RunRef(repository=self.repository, repository_id=self.repository_id, run_id=self.next_id())
        run = FakeRun(
            ref=ref,
            sha=sha or self.branches[branch],
            branch=branch,
            conclusion=conclusion,
            workflow_path=workflow_path,
            event=event,
            fork=fork,
            created_at=self.clock(),
            jobs={self.next_id(): job for job in jobs},
            pull=None if pull is None else self._pull_facts(pull),
        )
        self.runs[ref.run_id] = [run]
        return ref

    def _pull_facts(self, number: int) -> PullFacts:
        base = self.pulls[number].base
        return PullFacts(number=number, base_ref=base, base_sha=self.branches[base])

    def rerun(self, run: RunRef, conclusion: str | None = "success") -> RunRef:
        """The next attempt of a run."""
        attempts = self.runs[run.run_id]
        attempts.append(attempts[-1].again(conclusion, {self.next_id(): job for job in attempts[-1].jobs.values()}))
        return attempts[-1].ref

    def set_permission(self, user: str, permission: str) -> None:
        """none, read, triage, write, maintain or admin."""
        self.permissions[user] = permission

    def review(
        self,
        number: int,
        user: str,
        state: ReviewState,
        *,
        body: str = "",
        comments: Sequence[ReviewComment] = (),
        commit_id: str | None = None,
        user_type: str = "User",
    ) -> int:
        """A review on the head (or on `commit_id`). An author cannot approve himself, as on GitHub."""
        pull = self.pulls[number]
        if user == pull.author and state is not ReviewState.COMMENTED:
            raise ValueError("422 Can not approve your own pull request")
        review = Review(
            id=self.next_id(),
            user=user,
            user_type=user_type,
            state=state,
            commit_id=commit_id or pull.head_sha,
            submitted_at=self.clock(),
            body=body,
            comments=tuple(comments),
        )
        pull.reviews.append(review)
        return review.id

    def dismiss(self, number: int, review_id: int) -> None:
        """Take back a review's weight."""
        self.pulls[number].dismiss(review_id)

    def open_by(self, user: str, branch: str, base: str = "main", body: str = "") -> int:
        """Somebody opens a pull request."""
        number = len(self.pulls) + 1
        pull = FakePull(number, branch, base, self.branches[branch], user, "", body, updated_at=self.clock())
        self.pulls[number] = pull
        return number

    def open_from_fork(self, user: str, branch: str, base: str = "main") -> int:
        """Somebody opens one for a branch of their fork: it is no branch here."""
        number = self.open_by(user, base, base)
        pull = self.pulls[number]
        pull.branch, pull.fork = branch, f"{user}/app"
        pull.head_sha = hashlib.sha1(f"{pull.fork} {self.next_id()}".encode()).hexdigest()
        self.parents[pull.head_sha], self.subjects[pull.head_sha] = self.branches[base], "Theirs"
        return number

    def comment_by(self, number: int, user: str, body: str) -> int:
        """Somebody comments; forged markers are welcome."""
        self.pulls[number].comments.append(FakeComment(self.next_id(), user, body))
        return self.pulls[number].comments[-1].id

    def close_by(self, number: int, user: str) -> None:
        """Somebody closes it unmerged."""
        self.pulls[number].state, self.pulls[number].closed_by = "closed", user

    def merge_by(self, number: int, user: str) -> str:
        """Somebody merges the head as it is."""
        pull = self.pulls[number]
        merge_sha = hashlib.sha1(f"merge {self.branches.get(pull.base)} {pull.head_sha}".encode()).hexdigest()
        pull.state, pull.merged_by, pull.merge_sha = "closed", user, merge_sha
        pull.merged_onto = self.branches.get(pull.base)
        self.branches[pull.base] = merge_sha
        return merge_sha

    def set_checks(self, sha: str, state: ChecksState) -> None:
        """CI of a commit, all checks together."""
        self.checks[sha] = state

    def refuse_merges(self, why: str | None) -> None:
        """A branch rule: merges answer 405 with this reason until it is None again."""
        self.merges_refused = why

    def next_id(self) -> int:
        self._serial += 1
        return self._serial

    def open_of(self, branch: str) -> list[FakePull]:
        return [
            pull for pull in self.pulls.values() if pull.branch == branch and pull.state == "open" and pull.fork is None
        ]
