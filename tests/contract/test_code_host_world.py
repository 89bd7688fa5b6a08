"""The world around a proposal, read through the CodeHost port: the same from the fake and from the real adapter."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sweeper.errors import NotFound
from sweeper.model import ChecksState, ReviewComment, ReviewState
from sweeper.ports import PullRef
from tests.support.code_host_contract import (
    BRANCH,
    FakeScene,
    Scene,
    propose,
)
from tests.support.github_loopback import loopback_scene


@pytest.fixture(params=["fake", pytest.param("loopback", marks=pytest.mark.slow)])
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    if request.param == "fake":
        yield FakeScene()
        return
    async with loopback_scene(tmp_path) as (_, on_loopback):
        yield on_loopback


class TestWorld:
    async def test_a_fresh_proposal(self, scene: Scene) -> None:
        main = await scene.commit("main")
        opened, pull = await propose(scene)

        world = await scene.host.read_world(pull)

        assert (world.state, world.merged, world.draft) == ("open", False, False)
        assert world.head_sha == world.branch_sha == opened.proposal.head_sha
        assert (world.base, world.target_head) == ("main", main)
        assert world.author == await scene.host.login()
        assert (world.closed_by, world.merged_by, world.merge_sha) == (None, None, None)
        assert (world.checks, world.reviews, world.run_green_later) == (ChecksState.NONE, (), False)

    async def test_a_push_by_a_human_moves_the_head(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        theirs = await scene.commit(BRANCH)

        world = await scene.host.read_world(pull)

        assert world.head_sha == world.branch_sha == theirs

    async def test_reviews_come_in_order_with_the_rights_of_now(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        await scene.permit("reader", "read")
        await scene.review(pull.number, "reader", ReviewState.APPROVED, "nice")
        await scene.review(pull.number, "maintainer", ReviewState.COMMENTED, "hm")
        await scene.review(pull.number, "maintainer", ReviewState.APPROVED)
        await scene.permit("maintainer", "maintain")

        reviews = (await scene.host.read_world(pull)).reviews

        assert [(review.user, review.state, review.permission, review.body) for review in reviews] == [
            ("reader", ReviewState.APPROVED, "read", "nice"),
            ("maintainer", ReviewState.COMMENTED, "maintain", "hm"),
            ("maintainer", ReviewState.APPROVED, "maintain", ""),
        ]
        assert {review.commit_id for review in reviews} == {opened.proposal.head_sha}
        assert {review.user_type for review in reviews} == {"User"}
        assert all(review.submitted_at is not None for review in reviews)

    async def test_an_approval_stays_bound_to_the_commit_it_was_given_for(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        await scene.review(pull.number, "maintainer", ReviewState.APPROVED)
        await scene.commit(BRANCH)

        (review,) = (await scene.host.read_world(pull)).reviews

        assert review.commit_id == opened.proposal.head_sha

    async def test_wanted_changes_bring_their_line_comments(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        lines = (ReviewComment(path=f"{BRANCH}.txt", line=1, body="say why"),)
        await scene.review(pull.number, "maintainer", ReviewState.CHANGES_REQUESTED, "not yet", lines)

        (review,) = (await scene.host.read_world(pull)).reviews

        assert (review.state, review.body) == (ReviewState.CHANGES_REQUESTED, "not yet")
        assert (review.comments, review.permission) == (lines, "write")

    async def test_a_dismissed_review_has_no_weight(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        review_id = await scene.review(pull.number, "maintainer", ReviewState.CHANGES_REQUESTED, "no")
        await scene.dismiss(pull.number, review_id)

        (review,) = (await scene.host.read_world(pull)).reviews

        assert (review.state, review.permission, review.comments) == (ReviewState.DISMISSED, "none", ())

    async def test_a_merge_by_a_human(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        await scene.merge_by(pull.number, "maintainer")

        world = await scene.host.read_world(pull)

        assert (world.state, world.merged, world.merged_by, world.closed_by) == ("closed", True, "maintainer", None)
        assert world.merge_sha == world.target_head

    async def test_a_close_by_a_human(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        await scene.close_by(pull.number, "maintainer")

        world = await scene.host.read_world(pull)

        assert (world.state, world.merged, world.closed_by) == ("closed", False, "maintainer")

    async def test_a_deleted_branch_closes_the_proposal(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        await scene.delete_branch(BRANCH)

        world = await scene.host.read_world(pull)

        assert (world.state, world.merged, world.branch_sha) == ("closed", False, None)

    @pytest.mark.parametrize("state", [ChecksState.GREEN, ChecksState.RED, ChecksState.PENDING])
    async def test_checks_of_the_head(self, scene: Scene, state: ChecksState) -> None:
        _, pull = await propose(scene)
        await scene.checks(BRANCH, state)

        assert (await scene.host.read_world(pull)).checks is state

    async def test_the_run_is_green_later_by_a_new_attempt(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        await scene.rerun(pull.run, "success")

        assert (await scene.host.read_world(pull)).run_green_later

    async def test_the_run_is_green_later_by_a_newer_run_of_that_commit(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        await scene.run("main", "success")

        assert (await scene.host.read_world(pull)).run_green_later

    async def test_another_commits_green_run_proves_nothing(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        await scene.commit("main")
        await scene.run("main", "success")

        assert not (await scene.host.read_world(pull)).run_green_later

    async def test_an_unknown_pull_request_is_not_found(self, scene: Scene) -> None:
        run = await scene.run("main")

        with pytest.raises(NotFound):
            await scene.host.read_world(PullRef(run=run, number=404, branch=BRANCH))
