"""The identities: a GitHub App with its short-lived tokens, and a plain token."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue, SecretBytes

from adapters.github import GitHubAccess, GitHubHost
from adapters.github.app_tokens import MODEST, PERMISSIONS, AppTokens, rights_within, where_usable
from adapters.github.replies import InstallationReply
from adapters.loopback.drive.requests import ChangeInstallation, FaultRule
from adapters.loopback.options import LoopbackInfo
from sweeper.errors import AuthBroken, RateLimited
from sweeper.ports import PullRef
from tests.support.code_host_contract import propose
from tests.support.github_loopback import access_as_app, access_by_token, loopback_scene
from tests.support.loopback_scene import LoopbackScene
from tests.support.stub_github import Script, StubGitHub, stub_github

pytestmark = pytest.mark.slow


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[tuple[LoopbackInfo, LoopbackScene]]:
    """A scene whose host is the app."""
    async with loopback_scene(tmp_path) as (info, scene):
        by_token, scene.host = scene.host, GitHubHost(access_as_app(info))
        yield info, scene
        assert isinstance(scene.host, GitHubHost)
        scene.host.close()
        scene.host = by_token


@pytest.fixture
def github(stage: tuple[LoopbackInfo, LoopbackScene]) -> LoopbackInfo:
    return stage[0]


@pytest.fixture
def scene(stage: tuple[LoopbackInfo, LoopbackScene]) -> LoopbackScene:
    return stage[1]


@pytest.fixture
def app(scene: LoopbackScene) -> GitHubHost:
    assert isinstance(scene.host, GitHubHost)
    return scene.host


async def spoil(scene: LoopbackScene, kind: str, **more: int) -> None:
    rule = {"method": "POST", "path": "/access_tokens$", "kind": kind, **more}
    await scene.drive.faults(FaultRule.model_validate(rule))


async def bought(scene: LoopbackScene) -> int:
    """How many tokens were given out."""
    return sum(call.path.endswith("/access_tokens") and call.status == 201 for call in await scene.calls())


class TestTokensOfAnApp:
    async def test_one_is_bought_and_kept_and_we_act_as_the_bot(
        self, scene: LoopbackScene, app: GitHubHost, github: LoopbackInfo
    ) -> None:
        _, pull = await propose(scene)
        world = await app.read_world(pull)
        access = await app.git_access(scene.repository)

        assert world.author == await app.login() == github.bot_login
        assert access.token is not None
        assert access.token.get_secret_value() != github.token
        assert await bought(scene) == 1

    async def test_it_opens_no_other_repository(
        self, scene: LoopbackScene, app: GitHubHost, github: LoopbackInfo
    ) -> None:
        other = LoopbackScene(scene.drive, app, "octo/other")
        await other.begin()
        token = (await app.git_access(scene.repository)).token
        assert token is not None

        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token.get_secret_value()}"}) as http:
            names = (scene.repository, other.repository)
            statuses = [(await http.get(f"{github.url}/repos/{name}/pulls")).status_code for name in names]

        assert statuses[0] == 200
        assert statuses[1] in (403, 404)

    async def test_one_that_was_revoked_is_renewed_once_however_many_notice(
        self, scene: LoopbackScene, app: GitHubHost
    ) -> None:
        run = await scene.run("main")
        await asyncio.gather(*(app.read_run(run) for _ in range(8)))
        assert await bought(scene) == 1
        await scene.drive.advance(2 * 3600)

        facts = await asyncio.gather(*(app.read_run(run) for _ in range(8)))

        assert [found.run for found in facts] == [run] * 8
        assert await bought(scene) == 2

    async def test_a_write_with_a_revoked_one_happens_once(self, scene: LoopbackScene, app: GitHubHost) -> None:
        _, pull = await propose(scene)
        await scene.drive.advance(2 * 3600)

        await app.comment(pull, "Closed because.", "sweep-1-1/compensate/1")

        assert await scene.count("comment.create") == 1

    async def test_it_is_renewed_before_its_end(self, scene: LoopbackScene, github: LoopbackInfo) -> None:
        now = datetime.now(UTC)
        key = Path(github.app_key_file).read_text()
        tokens = AppTokens(access_as_app(github), github.app_id, key, clock=lambda: now)

        first = await asyncio.to_thread(tokens.token, scene.repository)
        now += timedelta(minutes=49)
        same = await asyncio.to_thread(tokens.token, scene.repository)
        now += timedelta(minutes=2)
        second = await asyncio.to_thread(tokens.token, scene.repository)
        tokens.close()

        assert (first, await bought(scene)) == (same, 2)
        assert second != first

    async def test_a_limit_on_tokens_is_a_limit(self, scene: LoopbackScene, app: GitHubHost) -> None:
        await spoil(scene, "403_secondary", retry_after=30)

        with pytest.raises(RateLimited):
            await app.git_access(scene.repository)


class TestInstallation:
    async def test_without_one_it_says_where_to_install(self, app: GitHubHost) -> None:
        with pytest.raises(AuthBroken, match=r"Install app .* on octo/elsewhere"):
            await app.git_access("octo/elsewhere")

    async def test_missing_rights_are_for_the_operator(self, scene: LoopbackScene, app: GitHubHost) -> None:
        await spoil(scene, "403_resource")

        with pytest.raises(AuthBroken, match="Give app"):
            await app.git_access(scene.repository)

    @pytest.mark.parametrize(("off", "on"), [("suspend", "unsuspend"), ("remove", "add")])
    async def test_while_it_is_away_we_are_refused_and_afterwards_all_goes_on(
        self, scene: LoopbackScene, app: GitHubHost, off: str, on: str
    ) -> None:
        _, pull = await propose(scene)
        await scene.drive.installation(ChangeInstallation.model_validate({"action": off}))
        for _ in range(2):
            with pytest.raises(AuthBroken):
                await app.read_world(pull)
            with pytest.raises(AuthBroken):
                await app.comment(pull, "Closed because.", "sweep-1-1/compensate/1")
        refused = len(await scene.calls())

        await scene.drive.installation(ChangeInstallation.model_validate({"action": on}))
        await app.comment(pull, "Closed because.", "sweep-1-1/compensate/1")

        assert await scene.count("comment.create") == 1
        assert refused < 60, "no storm of requests"


class TestRights:
    """What a token is asked for, at a GitHub that is told what to answer."""

    def app_of(self, stub: StubGitHub, github: LoopbackInfo) -> AppTokens:
        key = Path(github.app_key_file)
        access = GitHubAccess(api_url=stub.url, app_id=7, app_key_file=key, marker_key=SecretBytes(b"k"))
        return AppTokens(access, 7, key.read_text())

    def test_no_more_than_we_need_and_for_one_repository(self, github: LoopbackInfo) -> None:
        with stub_github(INSTALLED, GIVEN) as stub:
            self.app_of(stub, github).token("octo/app")

        assert stub.asked[-1].body == {"permissions": PERMISSIONS, "repositories": ["app"]}
        assert "workflows" not in PERMISSIONS
        assert {name for name, right in PERMISSIONS.items() if right == "write"} == {
            "actions",
            "checks",
            "contents",
            "pull_requests",
        }

    def test_an_app_that_may_not_write_check_runs_works_without_them(self, github: LoopbackInfo) -> None:
        with stub_github(INSTALLED, Script("POST", "/access_tokens$", 422, NOT_GRANTED, times=1), GIVEN) as stub:
            self.app_of(stub, github).token("octo/app")

        assert [asked.body for asked in stub.asked[1:]] == [
            {"permissions": PERMISSIONS, "repositories": ["app"]},
            {"permissions": MODEST, "repositories": ["app"]},
        ]

    def test_an_app_that_was_granted_less_is_refused_with_githubs_words(self, github: LoopbackInfo) -> None:
        refused = Script("POST", "/access_tokens$", 422, NOT_GRANTED)
        with stub_github(INSTALLED, refused) as stub, pytest.raises(AuthBroken, match="are not granted"):
            self.app_of(stub, github).token("octo/app")

        assert len(stub.asked) == 3


@pytest.mark.parametrize("lacking", [{"actions": "read"}, {"checks": "read"}, {"actions": "read", "checks": "read"}])
def test_what_we_can_do_without_is_not_asked_for_where_it_was_not_granted(lacking: dict[str, str]) -> None:
    assert rights_within(PERMISSIONS | lacking) == PERMISSIONS | lacking


def test_a_right_we_need_is_asked_for_whatever_was_granted() -> None:
    assert rights_within({"metadata": "read"}) == MODEST
    assert rights_within({}) == PERMISSIONS


INSTALLED = Script("GET", "/installation$", 200, {"id": 5})
NOT_GRANTED: JsonValue = {"message": "The permissions requested are not granted to this installation."}
GIVEN = Script("POST", "/access_tokens$", 201, {"token": "ghs_x", "expires_at": "2999-01-01T00:00:00Z"})


class TestSecrets:
    async def test_no_secret_is_in_a_log_a_repr_or_an_error(
        self, scene: LoopbackScene, app: GitHubHost, github: LoopbackInfo, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.DEBUG):
            _, pull = await propose(scene)
            (job,) = await app.read_jobs(pull.run)
            await app.read_log(pull.run, job.id)
            access = await app.git_access(scene.repository)
            errors = [str(await self.refused(app, pull, scene))]
        assert access.token is not None
        held = [repr(value) for owner in (app, app._tokens, app._client) for value in vars(owner).values()]

        shown = "\n".join([caplog.text, repr(access), *errors, *held, repr(access_as_app(github))])
        for secret in (access.token.get_secret_value(), github.token, "PRIVATE KEY", "Bearer ey"):
            assert secret not in shown

    async def refused(self, app: GitHubHost, pull: PullRef, scene: LoopbackScene) -> AuthBroken:
        await scene.drive.installation(ChangeInstallation(action="suspend"))
        with pytest.raises(AuthBroken) as refused:
            await app.read_world(pull)
        return refused.value


class TestCheckingTheLogin:
    async def test_an_app_tells_where_it_is_installed(self, app: GitHubHost, github: LoopbackInfo) -> None:
        assert await app.check_login() == f"{github.bot_login}, installed on 1 account(s)"

    async def test_a_suspended_or_absent_installation_is_named(self, scene: LoopbackScene, app: GitHubHost) -> None:
        await scene.drive.installation(ChangeInstallation(action="suspend"))
        with pytest.raises(AuthBroken, match="suspended"):
            await app.check_login()
        await scene.drive.installation(ChangeInstallation(action="remove"))
        with pytest.raises(AuthBroken, match="installed nowhere"):
            await app.check_login()

    async def test_a_token_is_asked_for_each_time(self, github: LoopbackInfo, scene: LoopbackScene) -> None:
        host = GitHubHost(access_by_token(github))
        assert await host.check_login() == await host.login() == github.bot_login
        await scene.drive.installation(ChangeInstallation(action="suspend"))

        with pytest.raises(AuthBroken):
            await host.check_login()
        host.close()


GRANTED = {name: "write" for name in MODEST}


@pytest.mark.parametrize(
    ("installations", "said"),
    [
        ([{"id": 1, "permissions": GRANTED}], "installed on 1 account(s)"),
        (
            [{"id": 1, "permissions": MODEST}, {"id": 2, "permissions": {}}],
            "installed on 2 account(s); does without some of its work on installation 1: not granted actions=write, "
            "checks=write",
        ),
        (
            [{"id": 1}, {"id": 2, "account": {"login": "octo"}, "suspended_at": "2026-01-01T00:00:00Z"}],
            "installed on 1 account(s); not usable on octo: suspended",
        ),
        (
            [{"id": 1}, {"id": 2, "permissions": MODEST | {"contents": "read"}}],
            "installed on 1 account(s); not usable on installation 2: not granted contents=write",
        ),
    ],
)
def test_what_is_wrong_with_an_installation_is_said(installations: list[dict[str, object]], said: str) -> None:
    assert where_usable(7, [InstallationReply.model_validate(one) for one in installations]) == said
