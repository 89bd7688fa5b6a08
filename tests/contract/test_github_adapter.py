"""What only the GitHub adapter has to get right: lost answers, limits, identities, redirects, paging."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from pydantic import SecretStr

from adapters.github import GitHubHost
from adapters.loopback.drive.requests import FaultRule
from adapters.loopback.options import LoopbackInfo
from sweeper import ids
from sweeper.errors import AuthBroken, MergeRefused, OutcomeUnknown, PolicyDenied, RateLimited, Transient
from sweeper.model import CheckReport, EffectState, RunRef
from sweeper.ports import NewPull, PullRef
from tests.support.code_host_contract import BRANCH, KEY, MARKER_KEY, new_pull
from tests.support.github_loopback import access_by_token, loopback_scene
from tests.support.loopback import rest
from tests.support.loopback_scene import LoopbackScene

pytestmark = pytest.mark.slow

Answer = TypeVar("Answer")
LOST = ["502", "reset", "truncate"]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[tuple[LoopbackInfo, LoopbackScene]]:
    async with loopback_scene(tmp_path) as both:
        yield both


@pytest.fixture
def github(stage: tuple[LoopbackInfo, LoopbackScene]) -> LoopbackInfo:
    return stage[0]


@pytest.fixture
def scene(stage: tuple[LoopbackInfo, LoopbackScene]) -> LoopbackScene:
    return stage[1]


async def propose(scene: LoopbackScene) -> tuple[NewPull, PullRef]:
    new = await new_pull(scene, await scene.run("main"))
    opened = await scene.host.open_pull(new)
    return new, PullRef(run=new.run, number=opened.proposal.number, branch=BRANCH)


async def spoil(scene: LoopbackScene, method: str, path: str, kind: str, when: str = "after", **more: int) -> None:
    rule = {"method": method, "path": path, "kind": kind, "when": when, **more}
    await scene.drive.faults(FaultRule.model_validate(rule))


@asynccontextmanager
async def held(
    scene: LoopbackScene, method: str, path: str, call: Coroutine[None, None, Answer]
) -> AsyncIterator[asyncio.Task[Answer]]:
    """Make a call whose write is under way, but not done, as long as the block lasts."""
    await spoil(scene, method, path, "hold", "before")
    task = asyncio.create_task(call)
    async with asyncio.timeout(20):
        while not any(call.fault == "hold" for call in await scene.calls()):
            await asyncio.sleep(0.02)
    yield task
    await scene.drive.faults()
    await task


class TestLostAnswers:
    """The effect happened and its answer was lost: the next call finds it, and it happened once."""

    @pytest.mark.parametrize("kind", LOST)
    async def test_opening(self, scene: LoopbackScene, kind: str) -> None:
        new = await new_pull(scene, await scene.run("main"))
        await spoil(scene, "POST", "/pulls$", kind)

        with pytest.raises(OutcomeUnknown):
            await scene.host.open_pull(new)
        again = await scene.host.open_pull(new)

        assert again.effect.state is EffectState.DEDUPLICATED
        assert await scene.count("pull.create") == 1

    @pytest.mark.parametrize("kind", LOST)
    async def test_commenting(self, scene: LoopbackScene, kind: str) -> None:
        _, pull = await propose(scene)
        await spoil(scene, "POST", "/comments$", kind)

        with pytest.raises(OutcomeUnknown):
            await scene.host.comment(pull, "Closed because.", "sweep-1-1/compensate/1")
        again = await scene.host.comment(pull, "Closed because.", "sweep-1-1/compensate/1")

        assert again.state is EffectState.DEDUPLICATED
        assert await scene.count("comment.create") == 1

    @pytest.mark.parametrize("kind", LOST)
    async def test_merging(self, scene: LoopbackScene, kind: str) -> None:
        new, pull = await propose(scene)
        await spoil(scene, "PUT", "/merge$", kind)

        with pytest.raises(OutcomeUnknown):
            await scene.host.merge_pull(pull, new.head_sha, "sweep-1-1/merge/1")
        again = await scene.host.merge_pull(pull, new.head_sha, "sweep-1-1/merge/1")

        assert again.state is EffectState.DEDUPLICATED
        assert again.ref == (await scene.host.read_world(pull)).merge_sha
        assert await scene.count("pull.merge") == 1

    @pytest.mark.parametrize("kind", LOST)
    async def test_closing(self, scene: LoopbackScene, kind: str) -> None:
        _, pull = await propose(scene)
        await spoil(scene, "PATCH", "/pulls/", kind)

        with pytest.raises(OutcomeUnknown):
            await scene.host.close_pull(pull, "sweep-1-1/compensate/1")
        again = await scene.host.close_pull(pull, "sweep-1-1/compensate/1")

        assert again.state is EffectState.DEDUPLICATED
        assert await scene.count("pull.close") == 1

    async def test_a_second_open_pull_request_is_refused_by_github_and_found_by_us(self, scene: LoopbackScene) -> None:
        new = await new_pull(scene, await scene.run("main"))
        async with held(scene, "POST", "/pulls$", scene.host.open_pull(new)) as late:
            first = await scene.host.open_pull(new)

        assert (first.effect.state, (await late).effect.state) == (EffectState.CREATED, EffectState.DEDUPLICATED)
        assert await scene.count("pull.create") == 1

    async def test_a_comment_that_lands_late_gives_way_to_the_one_that_took_its_place(
        self, scene: LoopbackScene
    ) -> None:
        _, pull = await propose(scene)
        key = "sweep-1-1/compensate/1"
        async with held(scene, "POST", "/comments$", scene.host.comment(pull, "Closed because.", key)) as late:
            first = await scene.host.comment(pull, "Closed because.", key)

        assert (first.state, (await late).state) == (EffectState.CREATED, EffectState.DEDUPLICATED)
        assert first.ref == (await late).ref
        assert len(await scene.comments_of(pull.number)) == 1


class TestDoubles:
    """Two of us acted at once, because neither saw the other's write: the next look leaves the older one."""

    REPORT = CheckReport(sha="", external_id="sweep-1-1", title="Looking", summary="It failed.")

    async def test_of_two_check_runs_the_younger_one_is_ended(self, scene: LoopbackScene) -> None:
        sha = await scene.commit("main")
        run = await scene.run("main")
        report = self.REPORT.model_copy(update={"sha": sha})
        call = scene.host.report_check(run, report, "sweep-1-1/admit/1")
        async with held(scene, "POST", "/check-runs$", call) as late:
            first = await scene.host.report_check(run, report, "sweep-1-1/admit/1")
        ended = report.model_copy(update={"title": "Mended", "conclusion": "success"})
        last = await scene.host.report_check(run, ended, "sweep-1-1/propose/1")

        assert (first.state, (await late).state) == (EffectState.CREATED, EffectState.DEDUPLICATED)
        assert (await late).note == "removed a double"
        assert first.ref == (await late).ref == last.ref
        assert (last.state, last.note) == (EffectState.CREATED, "")
        assert await scene.reports_on(sha) == [("sweep-1-1", "success"), ("sweep-1-1", "neutral")]

    async def test_of_two_pull_requests_the_younger_one_is_closed(
        self, scene: LoopbackScene, github: LoopbackInfo
    ) -> None:
        new, pull = await propose(scene)
        await scene.commit("develop")
        body = f"{new.body}\n\n{ids.marker(KEY, MARKER_KEY, pull.run.repository_id)}"
        wish = {"title": new.title, "head": BRANCH, "base": "develop", "body": body}
        async with rest(github) as http:
            double = (await http.post(f"/repos/{scene.repository}/pulls", json=wish)).json()["number"]

        found = await scene.host.open_pull(new)
        again = await scene.host.open_pull(new)

        assert (found.proposal.number, found.effect.note) == (pull.number, "removed a double")
        assert (again.effect.state, again.effect.note) == (EffectState.DEDUPLICATED, "")
        pulls = {one.number: one.state for one in (await scene.seen()).pulls}
        assert pulls == {pull.number: "open", double: "closed"}


class TestPausesBetweenWrites:
    async def test_who_stops_waiting_for_his_turn_has_written_nothing_and_reads_never_wait(
        self, scene: LoopbackScene, github: LoopbackInfo
    ) -> None:
        _, pull = await propose(scene)
        access = access_by_token(github).model_copy(update={"write_pause": timedelta(hours=1)})
        host = GitHubHost(access)
        await host.comment(pull, "first", "sweep-1-1/compensate/1")

        second = asyncio.create_task(host.comment(pull, "second", "sweep-1-1/compensate/2"))
        async with asyncio.timeout(20):
            while not host.writes_waiting(scene.repository):
                await asyncio.sleep(0.01)
            assert (await host.read_world(pull)).state == "open"
            second.cancel()
            while host.writes_waiting(scene.repository):
                await asyncio.sleep(0.01)

        assert await scene.count("comment.create") == 1
        with pytest.raises(asyncio.CancelledError):
            await second
        host.close()


class TestWhereAMergeLanded:
    async def test_a_squash_by_somebody_else_is_compared_too(self, scene: LoopbackScene, github: LoopbackInfo) -> None:
        new, pull = await propose(scene)
        proved_on = (await scene.host.read_world(pull)).target_head
        moved_to = await scene.commit("main")
        async with rest(github) as http:
            path = f"/repos/{scene.repository}/pulls/{pull.number}/merge"
            assert (await http.put(path, json={"merge_method": "squash"})).status_code == 200

        effect = await scene.host.merge_pull(pull, new.head_sha, "sweep-1-1/merge/1", proved_on)
        same = await scene.host.merge_pull(pull, new.head_sha, "sweep-1-1/merge/1", moved_to)

        assert effect.state is EffectState.DEDUPLICATED
        assert effect.note == f"merged onto {moved_to}, proved on {proved_on}"
        assert same.note == ""


class TestRefusals:
    async def test_a_failing_read_is_asked_once_and_left_to_the_one_retrier(self, scene: LoopbackScene) -> None:
        run = await scene.run("main")
        await spoil(scene, "GET", "/attempts/1$", "503", "before")

        with pytest.raises(Transient):
            await scene.host.read_run(run)

        asked = [call for call in await scene.calls() if call.path.endswith("/attempts/1")]
        assert len(asked) == 1

    @pytest.mark.parametrize("kind", ["429", "403_secondary"])
    async def test_a_limit_names_when_to_come_back(self, scene: LoopbackScene, kind: str) -> None:
        new = await new_pull(scene, await scene.run("main"))
        await spoil(scene, "POST", "/pulls$", kind, "before", retry_after=120)

        before = datetime.now(UTC)
        with pytest.raises(RateLimited) as limited:
            await scene.host.open_pull(new)

        wait = timedelta(seconds=120)
        assert before + wait <= limited.value.retry_at <= datetime.now(UTC) + wait
        assert await scene.count("pull.create") == 0

    async def test_a_limit_without_a_time_is_a_minute(self, scene: LoopbackScene) -> None:
        run = await scene.run("main")
        await spoil(scene, "GET", "/attempts/1$", "403_secondary", "before")

        before = datetime.now(UTC)
        with pytest.raises(RateLimited) as limited:
            await scene.host.read_run(run)

        assert limited.value.retry_at >= before + timedelta(seconds=60)

    async def test_a_missing_right_is_a_matter_of_policy(self, scene: LoopbackScene) -> None:
        _, pull = await propose(scene)
        await spoil(scene, "POST", "/comments$", "403_resource", "before")

        with pytest.raises(PolicyDenied, match="Resource not accessible by integration"):
            await scene.host.comment(pull, "Closed because.", "sweep-1-1/compensate/1")

    async def test_a_run_that_github_does_not_run_again_is_left_with_its_words(self, scene: LoopbackScene) -> None:
        run = await scene.run("main", "success")

        effect = await scene.host.rerun_failed(run, "sweep-1-1/rerun/1")

        assert effect.state is EffectState.SKIPPED
        assert effect.note == "GitHub does not re-run it: This workflow run cannot be retried"
        assert effect.ref.endswith(f"/actions/runs/{run.run_id}/attempts/1")

    async def test_a_run_that_runs_now_is_looked_at_again_later(self, scene: LoopbackScene) -> None:
        run = await scene.run("main", None)

        with pytest.raises(Transient, match="it runs"):
            await scene.host.rerun_failed(run, "sweep-1-1/rerun/1")
        assert await scene.count("run.rerun") == 0

    async def test_a_rerun_that_github_shows_late_is_looked_for_again(self, scene: LoopbackScene) -> None:
        run = await scene.run("main")
        await scene.host.rerun_failed(run, "sweep-1-1/rerun/1")
        await spoil(scene, "GET", f"/runs/{run.run_id}$", "stale_read", "before", times=2)

        with pytest.raises(Transient, match="it runs"):
            await scene.host.rerun_failed(run, "sweep-1-1/rerun/1")
        assert (await scene.host.rerun_failed(run, "sweep-1-1/rerun/1")).state is EffectState.DEDUPLICATED
        assert await scene.count("run.rerun") == 1

    async def test_a_merge_that_may_not_be_yet_is_refused_with_githubs_words(self, scene: LoopbackScene) -> None:
        new, pull = await propose(scene)
        await spoil(scene, "PUT", "/merge$", "405", "before")

        with pytest.raises(MergeRefused, match="Pull Request is not mergeable"):
            await scene.host.merge_pull(pull, new.head_sha, "sweep-1-1/merge/1")
        assert (await scene.host.merge_pull(pull, new.head_sha, "sweep-1-1/merge/1")).state is EffectState.CREATED

    async def test_a_refused_merge_that_had_happened_is_done(self, scene: LoopbackScene) -> None:
        new, pull = await propose(scene)
        await spoil(scene, "PUT", "/merge$", "405", "after")

        effect = await scene.host.merge_pull(pull, new.head_sha, "sweep-1-1/merge/1")

        assert effect.state is EffectState.DEDUPLICATED
        assert await scene.count("pull.merge") == 1

    async def test_a_wrong_token_is_for_the_operator(self, scene: LoopbackScene, github: LoopbackInfo) -> None:
        run = await scene.run("main")
        (job,) = await scene.host.read_jobs(run)
        stranger = GitHubHost(access_by_token(github).model_copy(update={"token": SecretStr("ghp_wrong")}))

        with pytest.raises(AuthBroken):
            await stranger.read_run(run)
        with pytest.raises(AuthBroken):
            await stranger.read_log(run, job.id)
        with pytest.raises(AuthBroken):
            await stranger.login()
        stranger.close()

    async def test_a_github_that_is_not_there_is_a_passing_fault(self, github: LoopbackInfo) -> None:
        nowhere = access_by_token(github).model_copy(update={"api_url": "http://127.0.0.1:1"})
        host = GitHubHost(nowhere)

        with pytest.raises(Transient):
            await host.find_run("octo/app", 1)
        with pytest.raises(Transient):
            await host.read_log(RunRef(repository="octo/app", repository_id=1, run_id=1), 1)
        host.close()
