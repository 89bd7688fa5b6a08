"""What every code host does around a proposal: labels, reviewers, drafts, check runs, re-runs, where a merge landed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sweeper import ids
from sweeper.errors import NotFound
from sweeper.model import CheckReport, EffectState
from sweeper.ports import PullRef
from tests.support.code_host_contract import BRANCH, KEY, MARKER_KEY, FakeScene, Scene, new_pull, propose
from tests.support.github_loopback import loopback_scene

CREATED, DEDUPLICATED, SKIPPED = EffectState.CREATED, EffectState.DEDUPLICATED, EffectState.SKIPPED


@pytest.fixture(params=["fake", pytest.param("loopback", marks=pytest.mark.slow)])
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    if request.param == "fake":
        yield FakeScene()
        return
    async with loopback_scene(tmp_path) as (_, on_loopback):
        yield on_loopback


async def by_a_human(scene: Scene) -> PullRef:
    run = await scene.run("main")
    await scene.commit("feature")
    copied = ids.marker(KEY, MARKER_KEY, run.repository_id)
    return PullRef(run=run, number=await scene.open_by("maintainer", "feature", copied), branch="feature")


class TestFinding:
    async def test_our_open_proposal_is_found_by_its_branch(self, scene: Scene) -> None:
        opened, pull = await propose(scene)

        found = await scene.host.find_pull(pull.run, BRANCH)

        assert found == opened.proposal.model_copy(update={"patch_id": ""})

    async def test_nothing_is_found_where_none_of_ours_is_open(self, scene: Scene) -> None:
        human = await by_a_human(scene)
        _, pull = await propose(scene)
        await scene.close_by(pull.number, "maintainer")

        assert await scene.host.find_pull(pull.run, BRANCH) is None
        assert await scene.host.find_pull(pull.run, "sweeper/absent") is None
        assert await scene.host.find_pull(human.run, human.branch) is None

    async def test_a_foreign_one_to_another_base_is_passed_over_and_named(self, scene: Scene) -> None:
        run = await scene.run("main")
        new = await new_pull(scene, run)
        await scene.commit("develop")
        copied = ids.marker(KEY, MARKER_KEY, run.repository_id)
        await scene.open_by("maintainer", BRANCH, copied, "develop")

        opened = await scene.host.open_pull(new)

        assert opened.effect.state is CREATED
        assert opened.effect.note == "passed over a forged marker of maintainer"
        assert await scene.host.find_pull(run, BRANCH) == opened.proposal.model_copy(update={"patch_id": ""})


class TestLabels:
    async def test_labels_are_put_on_once_beside_those_there_are(self, scene: Scene) -> None:
        _, pull = await propose(scene)

        first = await scene.host.label_pull(pull, ("ci-sweeper",), "sweep-1-1/propose/2")
        more = await scene.host.label_pull(pull, ("CI-Sweeper", "help wanted"), "sweep-1-1/compensate/1")
        again = await scene.host.label_pull(pull, ("help wanted", "ci-sweeper"), "sweep-1-1/compensate/1")

        assert (first.name, first.state, more.state, again.state) == ("label.add", CREATED, CREATED, DEDUPLICATED)
        assert await scene.labels_of(pull.number) == ["ci-sweeper", "help wanted"]
        assert await scene.count("label.add") == 2

    async def test_somebody_elses_pull_request_gets_none(self, scene: Scene) -> None:
        pull = await by_a_human(scene)

        effect = await scene.host.label_pull(pull, ("ci-sweeper",), "sweep-1-1/propose/2")

        assert effect.state is SKIPPED
        assert effect.note == "the pull request is not ours; passed over a forged marker of maintainer"
        assert await scene.labels_of(pull.number) == []


class TestReviewers:
    KEY = "sweep-1-1/propose/2"

    async def test_reviewers_are_asked_once(self, scene: Scene) -> None:
        _, pull = await propose(scene)

        first = await scene.host.request_reviewers(pull, ("maintainer",), self.KEY)
        second = await scene.host.request_reviewers(pull, ("maintainer",), self.KEY)

        assert (first.name, first.state, second.state) == ("reviewers.request", CREATED, DEDUPLICATED)
        assert await scene.count("reviewers.request") == 1

    async def test_those_who_cannot_be_asked_are_named_and_spoil_nothing(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        login = await scene.host.login()

        first = await scene.host.request_reviewers(pull, ("stranger", "maintainer", login), self.KEY)
        second = await scene.host.request_reviewers(pull, ("stranger", "maintainer", login), self.KEY)

        assert (first.state, second.state) == (CREATED, DEDUPLICATED)
        for effect in (first, second):
            assert effect.note.startswith("GitHub does not let us ask ")
            assert {"stranger", login} == set(effect.note.removeprefix("GitHub does not let us ask ").split(", "))
        assert await scene.count("reviewers.request") == 1

    async def test_nobody_to_ask_is_no_error(self, scene: Scene) -> None:
        _, pull = await propose(scene)

        effect = await scene.host.request_reviewers(pull, ("stranger",), self.KEY)

        assert (effect.state, effect.note) == (SKIPPED, "GitHub does not let us ask stranger")
        assert await scene.count("reviewers.request") == 0


class TestDrafts:
    KEY = "sweep-1-1/compensate/1"

    async def test_a_proposal_becomes_a_draft_once(self, scene: Scene) -> None:
        _, pull = await propose(scene)

        first = await scene.host.draft_pull(pull, self.KEY)
        second = await scene.host.draft_pull(pull, self.KEY)

        assert (first.name, first.state, second.state) == ("pull.draft", CREATED, DEDUPLICATED)
        assert (await scene.host.read_world(pull)).draft
        assert await scene.count("pull.draft") == 1

    async def test_a_closed_one_and_somebody_elses_stay_as_they_are(self, scene: Scene) -> None:
        human = await by_a_human(scene)
        _, pull = await propose(scene)
        await scene.close_by(pull.number, "maintainer")

        closed = await scene.host.draft_pull(pull, self.KEY)
        foreign = await scene.host.draft_pull(human, self.KEY)

        assert (closed.state, closed.note) == (SKIPPED, "it is not open any more")
        assert foreign.state is SKIPPED
        assert not (await scene.host.read_world(human)).draft


class TestReports:
    async def test_a_sweep_has_one_check_run_on_a_commit_and_it_says_the_last_word(self, scene: Scene) -> None:
        sha = await scene.commit("main")
        run = await scene.run("main")
        begun = CheckReport(sha=sha, external_id="sweep-1-1", title="Looking", summary="It failed.")
        ended = begun.model_copy(update={"title": "Mended", "conclusion": "success"})

        effects = [
            await scene.host.report_check(run, report, f"sweep-1-1/admit/{n}")
            for n, report in enumerate([begun, begun, ended, ended], 1)
        ]

        assert [(effect.name, effect.state) for effect in effects] == [
            ("check.create", CREATED),
            ("check.update", DEDUPLICATED),
            ("check.update", CREATED),
            ("check.update", DEDUPLICATED),
        ]
        assert len({effect.ref for effect in effects}) == 1
        assert await scene.reports_on(sha) == [("sweep-1-1", "success")]
        assert (await scene.count("check.create"), await scene.count("check.update")) == (1, 1)

    async def test_another_sweep_and_another_commit_have_their_own(self, scene: Scene) -> None:
        first = await scene.commit("main")
        run = await scene.run("main")
        report = CheckReport(sha=first, external_id="sweep-1-1", title="Looking", summary="", conclusion="neutral")
        second = await scene.commit("main")

        await scene.host.report_check(run, report, "sweep-1-1/admit/1")
        await scene.host.report_check(run, report.model_copy(update={"external_id": "sweep-2-1"}), "sweep-2-1/admit/1")
        await scene.host.report_check(run, report.model_copy(update={"sha": second}), "sweep-1-1/propose/1")

        assert await scene.reports_on(first) == [("sweep-1-1", "neutral"), ("sweep-2-1", "neutral")]
        assert await scene.reports_on(second) == [("sweep-1-1", "neutral")]

    async def test_our_own_word_is_no_ci_of_the_proposal(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        report = CheckReport(sha=opened.proposal.head_sha, external_id="sweep-1-1", title="Looking", summary="")
        before = (await scene.host.read_world(pull)).checks

        await scene.host.report_check(pull.run, report, "sweep-1-1/propose/2")

        assert (await scene.host.read_world(pull)).checks is before


class TestRerunning:
    KEY = "sweep-1-1/verify/1"

    async def test_failed_jobs_run_again_once(self, scene: Scene) -> None:
        run = await scene.run("main")

        first = await scene.host.rerun_failed(run, self.KEY)
        second = await scene.host.rerun_failed(run, self.KEY)

        assert (first.name, first.state, second.state) == ("run.rerun", CREATED, DEDUPLICATED)
        assert first.ref == second.ref == f"{scene.repository}/actions/runs/{run.run_id}/attempts/2"
        assert (await scene.host.find_run(scene.repository, run.run_id)).run.run_attempt == 2
        assert await scene.count("run.rerun") == 1

    async def test_without_the_right_to_it_is_skipped_and_the_right_is_named(self, scene: Scene) -> None:
        run = await scene.run("main")
        await scene.refuse_reruns()

        effect = await scene.host.rerun_failed(run, self.KEY)

        assert (effect.name, effect.state) == ("run.rerun", SKIPPED)
        assert effect.note == "our login may not re-run jobs here: grant actions=write"
        assert (await scene.host.find_run(scene.repository, run.run_id)).run.run_attempt == 1
        assert await scene.count("run.rerun") == 0

    async def test_somebody_elses_rerun_is_as_good(self, scene: Scene) -> None:
        run = await scene.run("main")
        await scene.rerun(run, "failure")

        assert (await scene.host.rerun_failed(run, self.KEY)).state is DEDUPLICATED
        assert await scene.count("run.rerun") == 0

    async def test_an_unknown_run_is_not_found(self, scene: Scene) -> None:
        run = await scene.run("main")

        with pytest.raises(NotFound):
            await scene.host.rerun_failed(run.model_copy(update={"run_id": run.run_id + 999}), self.KEY)


class TestWhereAMergeLanded:
    KEY = "sweep-1-1/merge/1"

    async def test_a_merge_on_what_was_proved_needs_no_word(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        base = (await scene.host.read_world(pull)).target_head

        effects = [
            await scene.host.merge_pull(pull, opened.proposal.head_sha, self.KEY, base),
            await scene.host.merge_pull(pull, opened.proposal.head_sha, self.KEY, base),
        ]

        assert [(effect.state, effect.note) for effect in effects] == [(CREATED, ""), (DEDUPLICATED, "")]

    async def test_a_base_that_moved_in_the_last_moment_is_said(self, scene: Scene) -> None:
        opened, pull = await propose(scene)
        proved_on = (await scene.host.read_world(pull)).target_head
        moved_to = await scene.commit("main")

        effects = [
            await scene.host.merge_pull(pull, opened.proposal.head_sha, self.KEY, proved_on),
            await scene.host.merge_pull(pull, opened.proposal.head_sha, self.KEY, proved_on),
        ]

        assert {effect.note for effect in effects} == {f"merged onto {moved_to}, proved on {proved_on}"}
        assert [effect.state for effect in effects] == [CREATED, DEDUPLICATED]
