"""What every code host does: the fake of the workflow tests and the GitHub adapter, held to the same story."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sweeper import ids
from sweeper.errors import MergeRefused, NotFound, Permanent, PolicyDenied
from sweeper.model import EffectState
from sweeper.ports import PullRef
from tests.support.code_host_contract import (
    BRANCH,
    KEY,
    MARKER_KEY,
    WORKFLOW,
    FakeScene,
    JobSpec,
    Scene,
    new_pull,
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


class TestRuns:
    async def test_a_run_is_read_with_its_branch_as_it_is_now(self, scene: Scene) -> None:
        failing_sha = await scene.commit("main")
        run = await scene.run("main")
        now = await scene.commit("main")

        facts = await scene.host.read_run(run)

        assert facts.run == run
        assert (facts.status, facts.conclusion, facts.event) == ("completed", "failure", "push")
        assert (facts.head_sha, facts.head_branch, facts.branch_head) == (failing_sha, "main", now)
        assert (facts.head_repository, facts.is_fork) == (scene.repository, False)
        assert facts.workflow_path == WORKFLOW

    async def test_a_run_is_found_by_name_and_number_in_its_newest_attempt(self, scene: Scene) -> None:
        first = await scene.run("main")
        second = await scene.rerun(first, "success")

        assert (await scene.host.find_run(scene.repository, first.run_id)).run == second
        assert (await scene.host.read_run(second)).conclusion == "success"
        assert (await scene.host.read_run(first)).conclusion == "failure", "an attempt keeps its own result"

    async def test_a_branch_that_is_gone_is_no_error(self, scene: Scene) -> None:
        await scene.commit("feature")
        run = await scene.run("feature")
        await scene.delete_branch("feature")

        assert (await scene.host.read_run(run)).branch_head is None

    async def test_an_unknown_run_is_not_found(self, scene: Scene) -> None:
        run = await scene.run("main")

        with pytest.raises(NotFound):
            await scene.host.find_run(scene.repository, run.run_id + 12345)
        with pytest.raises(NotFound):
            await scene.host.read_run(run.model_copy(update={"run_attempt": 7}))

    async def test_a_name_that_now_belongs_to_another_repository_is_not_found(self, scene: Scene) -> None:
        run = await scene.run("main")

        with pytest.raises(NotFound):
            await scene.host.read_run(run.model_copy(update={"repository_id": run.repository_id + 1}))

    async def test_jobs_name_the_step_that_failed(self, scene: Scene) -> None:
        run = await scene.run("main", jobs=[JobSpec("lint", "success", (("Run ruff", "success"),)), JobSpec("test")])

        lint, test = await scene.host.read_jobs(run)

        assert (lint.name, lint.conclusion, lint.failing_step()) == ("lint", "success", None)
        step = test.failing_step()
        assert step is not None
        assert (test.name, step.name, step.number) == ("test", "Run tests", 2)

    async def test_a_log_comes_as_it_was_written(self, scene: Scene) -> None:
        text = "2026-01-01T00:00:00.0000000Z \u00fcber alles\r\n##[error]no\n"
        run = await scene.run("main", jobs=[JobSpec(log=text)])
        (job,) = await scene.host.read_jobs(run)

        answer = await scene.host.read_log(run, job.id)

        assert (answer.text, answer.missing) == (text.encode(), None)

    @pytest.mark.parametrize("status", ["404", "410", "empty"])
    async def test_a_missing_log_is_an_answer_with_its_reason(self, scene: Scene, status: str) -> None:
        run = await scene.run("main", jobs=[JobSpec(log_status=status)])  # type: ignore[arg-type]
        (job,) = await scene.host.read_jobs(run)

        answer = await scene.host.read_log(run, job.id)

        assert answer.text is None
        assert status in (answer.missing or "")

    async def test_a_file_is_read_at_its_commit(self, scene: Scene) -> None:
        before = await scene.commit("main")
        after = await scene.commit("main", {"docs/a b.txt": "gr\u00fcn\n"})

        assert await scene.host.read_file(scene.repository, "docs/a b.txt", after) == "gr\u00fcn\n".encode()
        assert await scene.host.read_file(scene.repository, "docs/a b.txt", before) is None


class TestOpening:
    async def test_a_proposal_is_opened_once_however_often_it_is_asked_for(self, scene: Scene) -> None:
        new = await new_pull(scene, await scene.run("main"))

        first = await scene.host.open_pull(new)
        second = await scene.host.open_pull(new)

        assert (first.effect.key, first.effect.name, first.effect.state) == (KEY, "pull.create", EffectState.CREATED)
        assert second.effect.state is EffectState.DEDUPLICATED
        assert first.proposal == second.proposal
        assert first.effect.ref == first.proposal.url
        assert (first.proposal.head_sha, first.proposal.base) == (new.head_sha, "main")
        assert await scene.count("pull.create") == 1

    async def test_its_body_ends_in_a_marker_that_holds(self, scene: Scene) -> None:
        opened, pull = await propose(scene)

        body = await scene.body_of(opened.proposal.number)

        assert body.startswith("Red before, green after.\n\n")
        assert ids.effect_of_body(body, MARKER_KEY, pull.run.repository_id) == KEY

    async def test_an_open_one_of_an_earlier_life_is_adopted(self, scene: Scene) -> None:
        opened, pull = await propose(scene)

        again = await scene.host.open_pull(await new_pull(scene, pull.run, "sweep-1-1/propose/2"))

        assert again.effect.state is EffectState.ADOPTED
        assert again.proposal.number == opened.proposal.number
        assert await scene.count("pull.create") == 1

    async def test_one_that_was_closed_since_is_still_the_same_effect(self, scene: Scene) -> None:
        run = await scene.run("main")
        new = await new_pull(scene, run)
        opened = await scene.host.open_pull(new)
        await scene.close_by(opened.proposal.number, "maintainer")

        again = await scene.host.open_pull(new)

        assert (again.effect.state, again.proposal) == (EffectState.DEDUPLICATED, opened.proposal)

    async def test_a_closed_one_of_another_key_is_left_alone(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        await scene.close_by(opened.proposal.number, "maintainer")

        again = await scene.host.open_pull(await new_pull(scene, pull.run, "sweep-1-1/propose/2"))

        assert again.effect.state is EffectState.CREATED
        assert again.proposal.number != opened.proposal.number

    async def test_somebody_elses_pull_request_for_our_branch_is_not_taken_over(self, scene: Scene) -> None:
        run = await scene.run("main")
        new = await new_pull(scene, run)
        copied = ids.marker(KEY, MARKER_KEY, run.repository_id)
        await scene.open_by("maintainer", BRANCH, f"Mine\n\n{copied}")

        with pytest.raises(PolicyDenied, match="maintainer opened it for our branch"):
            await scene.host.open_pull(new)
        assert await scene.count("pull.create") == 0

    async def test_a_branch_that_was_never_pushed_cannot_be_proposed(self, scene: Scene) -> None:
        run = await scene.run("main")
        new = (await new_pull(scene, run)).model_copy(update={"branch": "sweeper/absent"})

        with pytest.raises(Permanent):
            await scene.host.open_pull(new)


class TestUpdating:
    async def test_the_body_is_changed_once_and_keeps_the_mark_it_was_opened_with(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        mark = (await scene.body_of(pull.number)).splitlines()[-1]

        first = await scene.host.update_pull(pull, "the new proof", "sweep-1-1/propose/4")
        second = await scene.host.update_pull(pull, "the new proof", "sweep-1-1/propose/4")

        assert (first.name, first.state, second.state) == (
            "pull.update",
            EffectState.CREATED,
            EffectState.DEDUPLICATED,
        )
        assert await scene.body_of(pull.number) == f"the new proof\n\n{mark}"
        assert await scene.count("pull.update") == 1

    async def test_somebody_elses_body_is_left_as_it_is(self, scene: Scene) -> None:
        run = await scene.run("main")
        await scene.commit("feature")
        pull = PullRef(run=run, number=await scene.open_by("maintainer", "feature", "theirs"), branch="feature")

        effect = await scene.host.update_pull(pull, "ours", "sweep-1-1/propose/4")

        assert (effect.state, effect.note) == (EffectState.SKIPPED, "the pull request is not ours")
        assert await scene.body_of(pull.number) == "theirs"


class TestCommenting:
    async def test_one_comment_per_effect_key(self, scene: Scene) -> None:
        _, pull = await propose(scene)

        first = await scene.host.comment(pull, "Closed because.", "sweep-1-1/compensate/1")
        second = await scene.host.comment(pull, "Closed because.", "sweep-1-1/compensate/1")
        other = await scene.host.comment(pull, "And then.", "sweep-1-1/compensate/2")

        states = (first.state, second.state, other.state)
        assert states == (EffectState.CREATED, EffectState.DEDUPLICATED, EffectState.CREATED)
        assert first.ref == second.ref != other.ref
        assert first.name == "comment.create"
        assert await scene.count("comment.create") == 2
        assert len(await scene.comments_of(pull.number)) == 2

    async def test_a_marker_that_somebody_copied_or_forged_is_passed_over(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        key = "sweep-1-1/compensate/1"
        await scene.comment_by(pull.number, "maintainer", ids.marker(key, MARKER_KEY, pull.run.repository_id))
        await scene.comment_by(
            pull.number, await scene.host.login(), ids.marker(key, b"another key", pull.run.repository_id)
        )

        effect = await scene.host.comment(pull, "Closed because.", key)

        login = await scene.host.login()
        assert effect.state is EffectState.CREATED
        assert effect.note == f"passed over a forged marker of maintainer, {login}"
        assert len(await scene.comments_of(pull.number)) == 3

    async def test_two_comments_of_one_key_become_one(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        key = "sweep-1-1/compensate/1"
        ours = ids.marker(key, MARKER_KEY, pull.run.repository_id)
        for text in ("first", "second"):
            await scene.comment_by(pull.number, await scene.host.login(), f"{text}\n\n{ours}")

        effect = await scene.host.comment(pull, "third", key)

        assert (effect.state, effect.note) == (EffectState.DEDUPLICATED, "removed a double")
        assert await scene.comments_of(pull.number) == [f"first\n\n{ours}"]


class TestClosing:
    async def test_ours_is_closed_once(self, scene: Scene) -> None:
        _, pull = await propose(scene)

        first = await scene.host.close_pull(pull, "sweep-1-1/compensate/1")
        second = await scene.host.close_pull(pull, "sweep-1-1/compensate/1")

        assert (first.name, first.state, second.state) == (
            "pull.close",
            EffectState.CREATED,
            EffectState.DEDUPLICATED,
        )
        assert (await scene.host.read_world(pull)).closed_by == await scene.host.login()
        assert await scene.count("pull.close") == 1

    async def test_somebody_elses_is_left_open(self, scene: Scene) -> None:
        run = await scene.run("main")
        await scene.commit("feature")
        copied = ids.marker(KEY, MARKER_KEY, run.repository_id)
        pull = PullRef(run=run, number=await scene.open_by("maintainer", "feature", copied), branch="feature")

        effect = await scene.host.close_pull(pull, "sweep-1-1/compensate/1")

        said = "the pull request is not ours; passed over a forged marker of maintainer"
        assert (effect.state, effect.note) == (EffectState.SKIPPED, said)
        assert (await scene.host.read_world(pull)).state == "open"

    async def test_a_merged_one_is_left_alone(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        await scene.merge_by(pull.number, "maintainer")

        effect = await scene.host.close_pull(pull, "sweep-1-1/compensate/1")

        assert (effect.state, effect.note) == (EffectState.SKIPPED, "it is merged already")


class TestMerging:
    KEY = "sweep-1-1/merge/1"

    async def test_the_approved_head_is_merged_once(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        head = opened.proposal.head_sha

        first = await scene.host.merge_pull(pull, head, self.KEY)
        second = await scene.host.merge_pull(pull, head, self.KEY)

        assert (first.name, first.state, second.state) == (
            "pull.merge",
            EffectState.CREATED,
            EffectState.DEDUPLICATED,
        )
        world = await scene.host.read_world(pull)
        assert first.ref == second.ref == world.merge_sha == world.target_head
        assert world.merged_by == await scene.host.login()
        assert await scene.count("pull.merge") == 1

    async def test_a_head_that_moved_is_not_merged(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        await scene.commit(BRANCH)

        with pytest.raises(MergeRefused):
            await scene.host.merge_pull(pull, opened.proposal.head_sha, self.KEY)
        assert not (await scene.host.read_world(pull)).merged

    async def test_a_closed_one_is_not_merged(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        await scene.close_by(pull.number, "maintainer")

        with pytest.raises(MergeRefused):
            await scene.host.merge_pull(pull, opened.proposal.head_sha, self.KEY)

    async def test_a_humans_merge_of_that_head_is_as_good_as_ours(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        await scene.merge_by(pull.number, "maintainer")

        effect = await scene.host.merge_pull(pull, opened.proposal.head_sha, self.KEY)

        assert effect.state is EffectState.DEDUPLICATED
        assert effect.ref == (await scene.host.read_world(pull)).merge_sha

    async def test_a_merge_with_another_head_is_not_taken_for_ours(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        await scene.commit(BRANCH)
        await scene.merge_by(pull.number, "maintainer")

        with pytest.raises(MergeRefused):
            await scene.host.merge_pull(pull, opened.proposal.head_sha, self.KEY)


async def test_git_is_reached_over_http(scene: Scene) -> None:
    access = await scene.host.git_access(scene.repository)

    assert access.url.startswith("http")
    assert access.url.endswith(f"{scene.repository}.git")
