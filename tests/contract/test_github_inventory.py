"""What the inventory finds on a GitHub on loopback, by token and as an app."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.github.inventory import GitHubInventory
from adapters.loopback.core.state import Permission
from adapters.loopback.drive.requests import ChangeInstallation, NewRepo, NewUser
from adapters.loopback.options import LoopbackInfo
from sweeper.model import CheckReport, RunRef
from sweeper.model.upkeep import OpenCheck, PullTrace, RepositoryRef
from sweeper.ports import NewPull
from tests.support.code_host_contract import JobSpec
from tests.support.github_loopback import access_as_app, access_by_token, loopback_scene
from tests.support.loopback_scene import LoopbackScene

pytestmark = pytest.mark.slow

BRANCH, SWEEP = "sweeper/1-1", "sweep-1-1"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
async def on(tmp_path: Path) -> AsyncIterator[tuple[LoopbackInfo, LoopbackScene]]:
    async with loopback_scene(tmp_path) as (info, scene):
        yield info, scene


@pytest.fixture(params=["token", "app"])
def inventory(request: pytest.FixtureRequest, on: tuple[LoopbackInfo, LoopbackScene]) -> GitHubInventory:
    access = access_by_token(on[0]) if request.param == "token" else access_as_app(on[0])
    return GitHubInventory(access)


@pytest.fixture
def scene(on: tuple[LoopbackInfo, LoopbackScene]) -> LoopbackScene:
    return on[1]


async def here(scene: LoopbackScene) -> RepositoryRef:
    return RepositoryRef(id=(await scene.seen()).id, name=scene.repository)


async def proposed(scene: LoopbackScene) -> tuple[RunRef, str]:
    """A pull request of ours; its run and its head."""
    run, head = await scene.run("main"), await scene.commit(BRANCH)
    new = NewPull(
        run=run,
        branch=BRANCH,
        base="main",
        head_sha=head,
        title="Mend it",
        body="Red before, green after.",
        patch_id="p" * 40,
        effect_key=f"{SWEEP}/propose/1",
    )
    await scene.host.open_pull(new)
    return run, head


class TestRepositories:
    async def test_all_are_listed_that_we_may_work_in(self, scene: LoopbackScene, inventory: GitHubInventory) -> None:
        await scene.drive.repo(NewRepo(name="octo/gone", files={"a": "b"}))
        await scene.drive.installation(ChangeInstallation(repo="octo/gone", action="remove"))
        assert await inventory.repositories() == (await here(scene),)

    async def test_the_operator_may_narrow_them(self, on: tuple[LoopbackInfo, LoopbackScene]) -> None:
        info, scene = on
        await scene.drive.repo(NewRepo(name="Ann/tool", files={"a": "b"}))
        access = access_by_token(info)
        assert [found.name for found in await GitHubInventory(access, ("ann/*",)).repositories()] == ["Ann/tool"]
        assert await GitHubInventory(access, ("nobody/*",)).repositories() == ()

    async def test_a_persons_own_token_is_no_wish_to_have_everything_looked_after(
        self, on: tuple[LoopbackInfo, LoopbackScene]
    ) -> None:
        info, scene = on
        maker = await scene.drive.user(NewUser(login="maker", permission=Permission.WRITE))
        access = access_by_token(info).model_copy(update={"token": SecretStr(maker.token)})
        assert await GitHubInventory(access).repositories() == ()
        assert await GitHubInventory(access, ("octo/*",)).repositories() != ()

    async def test_where_a_token_may_not_push_is_no_place_to_work(self, on: tuple[LoopbackInfo, LoopbackScene]) -> None:
        info, scene = on
        reader = await scene.drive.user(NewUser(login="reader", permission=Permission.READ))
        access = access_by_token(info).model_copy(update={"token": SecretStr(reader.token)})
        assert await GitHubInventory(access, ("*",)).repositories() == ()


class TestFailedRuns:
    async def test_those_that_failed_are_listed_as_their_webhooks_would_tell(
        self, scene: LoopbackScene, inventory: GitHubInventory
    ) -> None:
        head = await scene.commit("main")
        failed = await scene.run("main")
        timed_out = await scene.run("main", "timed_out", [JobSpec(conclusion="timed_out")])
        for conclusion in ("success", "cancelled", None):
            await scene.run("main", conclusion, [JobSpec(conclusion=conclusion)])
        repository = await here(scene)
        found = await inventory.failed_runs(repository, LONG_AGO)
        assert [run.run for run in found] == [failed, timed_out]
        assert {(run.conclusion, run.head_branch, run.head_sha) for run in found} == {
            ("failure", "main", head),
            ("timed_out", "main", head),
        }
        assert {run.head_repository_id for run in found} == {repository.id}

    async def test_a_run_counts_by_its_newest_attempt(self, scene: LoopbackScene, inventory: GitHubInventory) -> None:
        await scene.rerun(await scene.run("main"), "success")
        again = await scene.rerun(await scene.run("main"), "failure")
        assert [run.run for run in await inventory.failed_runs(await here(scene), LONG_AGO)] == [again]

    async def test_what_ended_before_is_not_listed_again(
        self, scene: LoopbackScene, inventory: GitHubInventory
    ) -> None:
        await scene.run("main")
        later = datetime.now(UTC) + timedelta(minutes=1)
        assert await inventory.failed_runs(await here(scene), later) == ()


class TestRemains:
    async def test_a_pull_request_and_a_branch_of_one_sweep_belong_together(
        self, scene: LoopbackScene, inventory: GitHubInventory
    ) -> None:
        _, head = await proposed(scene)
        (found,) = await inventory.remains(await here(scene))
        assert (found.sweep, found.branch_sha) == (SWEEP, head)
        assert found.pulls == (PullTrace(number=1, branch=BRANCH, head_sha=head),)

    async def test_a_copied_marker_makes_nobody_elses_pull_request_ours(
        self, scene: LoopbackScene, inventory: GitHubInventory
    ) -> None:
        await proposed(scene)
        await scene.commit("feature")
        await scene.open_by("mallory", "feature", await scene.body_of(1))
        (found,) = await inventory.remains(await here(scene))
        assert [pull.number for pull in found.pulls] == [1]

    async def test_a_closed_one_is_nothing_that_is_left(self, scene: LoopbackScene, inventory: GitHubInventory) -> None:
        await proposed(scene)
        await scene.close_by(1, "maintainer")
        await scene.delete_branch(BRANCH)
        assert await inventory.remains(await here(scene)) == ()

    async def test_a_branch_alone_is_told_with_its_commit(
        self, scene: LoopbackScene, inventory: GitHubInventory
    ) -> None:
        head = await scene.commit("sweeper/9-1")
        await scene.commit("sweeperish")
        (found,) = await inventory.remains(await here(scene))
        assert (found.sweep, found.branch_sha, found.pulls) == ("sweep-9-1", head, ())


class TestChecks:
    async def test_only_those_that_go_on_for_this_sweep_are_found(
        self, scene: LoopbackScene, inventory: GitHubInventory
    ) -> None:
        run, head = await proposed(scene)
        going_on = CheckReport(sha=head, external_id=SWEEP, title="At work", summary="Wait for it.")
        other = going_on.model_copy(update={"external_id": "sweep-2-1"})
        await scene.host.report_check(run, other, "sweep-2-1/propose/9")
        repository = await here(scene)
        assert await inventory.open_checks(repository, SWEEP, [head]) == ()
        await scene.host.report_check(run, going_on, f"{SWEEP}/propose/9")
        assert await inventory.open_checks(repository, SWEEP, [head, "f" * 40]) == (OpenCheck(sha=head),)
        over = going_on.model_copy(update={"conclusion": "neutral"})
        await scene.host.report_check(run, over, f"{SWEEP}/propose/10")
        assert await inventory.open_checks(repository, SWEEP, [head]) == ()
