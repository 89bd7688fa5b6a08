"""What the GitHub adapter reads, and how it reads it: calls, connections, checks."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

from adapters.github import GitHubHost
from adapters.loopback.drive.requests import FaultRule, NewPush, Rename
from adapters.loopback.options import LoopbackInfo
from sweeper import ids
from sweeper.model import ChecksState, EffectState, PullFacts, RunHistory
from sweeper.ports import NewPull, PullRef
from tests.support.code_host_contract import BRANCH, MARKER_KEY, JobSpec, new_pull
from tests.support.github_loopback import access_as_app, loopback_scene
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


class TestReading:
    async def test_the_log_is_fetched_from_storage_without_our_token(self, scene: LoopbackScene) -> None:
        run = await scene.run("main", jobs=[JobSpec(log="from storage\n")])
        (job,) = await scene.host.read_jobs(run)

        answer = await scene.host.read_log(run, job.id)

        assert answer.text == b"from storage\n", "this storage answers 403 to whoever brings an Authorization header"
        hops = [call.status for call in await scene.calls() if call.path.endswith("/logs")]
        assert hops == [302]

    async def test_a_rename_is_followed_by_reads_and_writes(self, scene: LoopbackScene) -> None:
        new, pull = await propose(scene)
        (job,) = await scene.host.read_jobs(pull.run)
        next_head = await scene.commit("sweeper/2-1")
        following = {"branch": "sweeper/2-1", "head_sha": next_head, "effect_key": "sweep-2-1/propose/1"}
        await scene.drive.rename(Rename(repo=scene.repository, name="octo/renamed"))

        facts = await scene.host.read_run(pull.run)
        found = await scene.host.find_run("octo/app", pull.run.run_id)
        world = await scene.host.read_world(pull)
        again = await scene.host.open_pull(new)
        opened = await scene.host.open_pull(new.model_copy(update=following))
        commented = await scene.host.comment(pull, "Still here.", "sweep-1-1/compensate/1")
        merged = await scene.host.merge_pull(pull, new.head_sha, "sweep-1-1/merge/1")

        assert facts.run.repository == found.run.repository == "octo/renamed"
        assert (await scene.host.read_log(pull.run, job.id)).text is not None
        assert (await scene.host.git_access("octo/app")).url.endswith("octo/renamed.git")
        assert world.branch_sha == new.head_sha
        assert again.effect.state is EffectState.DEDUPLICATED
        assert opened.effect.state is commented.state is merged.state is EffectState.CREATED

    async def test_an_app_follows_a_rename_too(self, scene: LoopbackScene, github: LoopbackInfo) -> None:
        run = await scene.run("main")
        await scene.drive.rename(Rename(repo=scene.repository, name="octo/renamed"))
        host = GitHubHost(access_as_app(github))

        assert (await host.read_run(run)).run.repository == "octo/renamed"

    async def test_a_list_is_read_to_its_end(self, scene: LoopbackScene) -> None:
        _, pull = await propose(scene)
        for n in range(100):
            await scene.comment_by(pull.number, "maintainer", f"number {n}")
        first = await scene.host.comment(pull, "The last word.", "sweep-1-1/compensate/1")

        second = await scene.host.comment(pull, "The last word.", "sweep-1-1/compensate/1")

        assert (first.state, second.state) == (EffectState.CREATED, EffectState.DEDUPLICATED)

    async def test_many_calls_at_once_do_not_mix_up(self, scene: LoopbackScene) -> None:
        _, pull = await propose(scene)
        runs = [await scene.run("main") for _ in range(4)]
        keys = [f"sweep-1-1/compensate/{n}" for n in range(4)]

        facts, effects = await asyncio.gather(
            asyncio.gather(*(scene.host.read_run(run) for run in runs)),
            asyncio.gather(*(scene.host.comment(pull, key, key) for key in keys)),
        )

        assert [found.run for found in facts] == runs
        assert [(effect.key, effect.state) for effect in effects] == [(key, EffectState.CREATED) for key in keys]
        bodies = await scene.comments_of(pull.number)
        assert sorted(ids.effect_of_body(body, MARKER_KEY, pull.run.repository_id) or "" for body in bodies) == keys


class TestDiagnosing:
    async def test_a_pull_request_that_has_moved_on_in_a_fork_is_not_taken_for_the_runs(
        self, scene: LoopbackScene
    ) -> None:
        number = await scene.open_from_fork("stranger", "patch-1")
        run = await scene.run_of_pull(number)
        assert (await scene.host.read_run(run)).pull is not None

        await scene.drive.push(NewPush(repo="stranger/app", branch="patch-1", files={"more.txt": "x"}, user="stranger"))

        assert (await scene.host.read_run(run)).pull is None

    async def test_one_that_has_moved_on_here_is_named_without_the_commit_of_its_target(
        self, scene: LoopbackScene
    ) -> None:
        await scene.commit("feature")
        number = await scene.open_by("maintainer", "feature", "Mine")
        run = await scene.run_of_pull(number)
        await scene.commit("feature")

        assert (await scene.host.read_run(run)).pull == PullFacts(number=number, base_ref="main")

    async def test_the_history_of_a_run_costs_few_requests(self, scene: LoopbackScene) -> None:
        await scene.run("main", "success")
        await scene.commit("feature")
        failed = await scene.run_of_pull(await scene.open_by("maintainer", "feature", "Mine"))
        for _ in range(3):
            await scene.commit("main")
            await scene.run("main")
        facts = await scene.host.read_run(failed)
        before = len(await scene.calls())

        found = await scene.host.read_history(facts)

        assert found.base_failing_jobs == ("test",)
        assert len(await scene.calls()) - before <= 8

    async def test_a_run_that_is_gone_has_no_history(self, scene: LoopbackScene) -> None:
        facts = await scene.host.read_run(await scene.run("main"))
        gone = facts.model_copy(update={"run": facts.run.model_copy(update={"run_id": facts.run.run_id + 999})})

        assert await scene.host.read_history(gone) == RunHistory()

    async def test_without_the_right_to_see_check_runs_a_cancelled_run_is_just_that(self, scene: LoopbackScene) -> None:
        run = await scene.run("main", "cancelled", [JobSpec(conclusion="cancelled")])
        await spoil(scene, "GET", "/annotations$", "403_resource", "before")

        assert not (await scene.host.read_run(run)).hit_time_limit

    async def test_without_the_right_to_see_check_runs_a_job_has_no_notes(self, scene: LoopbackScene) -> None:
        run = await scene.run("main")
        (job,) = await scene.host.read_jobs(run)
        await spoil(scene, "GET", "/annotations$", "403_resource", "before")

        assert await scene.host.read_annotations(run, job.id) == ()


class TestChecks:
    async def test_a_green_job_does_not_hide_a_red_one_of_its_name(self, scene: LoopbackScene) -> None:
        _, pull = await propose(scene)
        for path, end in ((".github/workflows/a.yml", "failure"), (".github/workflows/b.yml", "success")):
            await scene.report([JobSpec(conclusion=end)], path, branch=BRANCH, conclusion=end)

        assert (await scene.host.read_world(pull)).checks is ChecksState.RED

    async def test_a_newer_run_of_a_workflow_replaces_the_older_one(self, scene: LoopbackScene) -> None:
        _, pull = await propose(scene)
        await scene.checks(BRANCH, ChecksState.RED)
        await scene.checks(BRANCH, ChecksState.GREEN)

        assert (await scene.host.read_world(pull)).checks is ChecksState.GREEN

    @pytest.mark.parametrize(
        ("context", "state", "expected"),
        [
            ("ci/other", "failure", ChecksState.RED),
            ("ci/other", "pending", ChecksState.PENDING),
            ("ci/other", "success", ChecksState.GREEN),
            ("sweeper/evidence", "failure", ChecksState.GREEN),
        ],
    )
    async def test_commit_statuses_count_but_our_own_does_not(
        self, scene: LoopbackScene, github: LoopbackInfo, context: str, state: str, expected: ChecksState
    ) -> None:
        new, pull = await propose(scene)
        await scene.checks(BRANCH, ChecksState.GREEN)
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {github.token}"}) as http:
            url = f"{github.url}/repos/{scene.repository}/statuses/{new.head_sha}"
            assert (await http.post(url, json={"context": context, "state": state})).status_code == 201

        assert (await scene.host.read_world(pull)).checks is expected
