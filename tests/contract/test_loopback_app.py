"""The app: its key, its installation tokens, its deliveries, and losing the installation."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from github import Auth, GithubIntegration

from adapters.loopback.drive.requests import ChangeInstallation, NewDispatch
from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo
from tests.support.hook_receiver import HookReceiver, receiving_hooks
from tests.support.loopback import SHOP, open_shop, rest, running_loopback

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Scene:
    info: LoopbackInfo
    drive: DriveClient
    hooks: HookReceiver

    def token(self, changes: Mapping[str, object] | None = None, key: str | None = None) -> str:
        """A JWT of the app, with claims changed."""
        now = int(time.time())
        claims = {"iat": now - 60, "exp": now + 300, "iss": str(self.info.app_id)} | dict(changes or {})
        return jwt.encode(claims, key or Path(self.info.app_key_file).read_text(), algorithm="RS256")

    def as_app(self) -> httpx.AsyncClient:
        return rest(self.info, self.token())

    async def installation_token(self, **limits: object) -> str:
        async with self.as_app() as api:
            path = f"/app/installations/{self.info.installation_id}/access_tokens"
            made = await api.post(path, json=limits)
            assert made.status_code == 201, made.text
            return str(made.json()["token"])


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with (
        receiving_hooks() as hooks,
        running_loopback(tmp_path / "github", hook=hooks.url) as (info, drive),
    ):
        await open_shop(drive)
        yield Scene(info, drive, hooks)


async def test_the_key_lies_in_the_state_directory_for_its_owner_only(scene: Scene) -> None:
    file = Path(scene.info.app_key_file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert (file.parent / "loopback.json").stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


async def test_pygithub_logs_in_as_the_app_and_works_by_installation_token(scene: Scene) -> None:
    def work() -> None:
        key = Path(scene.info.app_key_file).read_text()
        integration = GithubIntegration(auth=Auth.AppAuth(scene.info.app_id, key), base_url=scene.info.url)
        installation = integration.get_repo_installation(*SHOP.split("/"))
        assert installation.id == scene.info.installation_id
        repository = integration.get_github_for_installation(installation.id).get_repo(SHOP)
        assert repository.default_branch == "main"

    await asyncio.to_thread(work)


async def test_an_installation_token_acts_as_the_bot_and_is_no_user(scene: Scene) -> None:
    async with rest(scene.info, await scene.installation_token()) as api:
        assert (await api.get("/user")).status_code == 403
        assert (await api.get("/app")).status_code == 401
        assert (await api.get(f"/repos/{SHOP}")).status_code == 200
        head = (await api.get(f"/repos/{SHOP}/branches/main")).json()["commit"]["sha"]
        made = await api.post(f"/repos/{SHOP}/statuses/{head}", json={"state": "success", "context": "x"})
        assert made.json()["creator"]["login"] == scene.info.bot_login


async def test_an_installation_token_lives_an_hour_of_githubs_clock(scene: Scene) -> None:
    async with rest(scene.info, await scene.installation_token()) as api:
        await scene.drive.advance(3590)
        assert (await api.get(f"/repos/{SHOP}")).status_code == 200
        await scene.drive.advance(11)
        assert (await api.get(f"/repos/{SHOP}")).status_code == 401
    async with rest(scene.info, await scene.installation_token()) as api:
        assert (await api.get(f"/repos/{SHOP}")).status_code == 200


async def test_a_token_may_be_limited_to_repositories(scene: Scene) -> None:
    world = await scene.drive.world()
    token = await scene.installation_token(repositories=["shop"])
    async with rest(scene.info, token) as api:
        assert (await api.get(f"/repositories/{world.repos[0].id}")).json()["full_name"] == SHOP
    async with scene.as_app() as api:
        path = f"/app/installations/{scene.info.installation_id}/access_tokens"
        assert (await api.post(path, json={"repositories": ["unknown"]})).status_code == 422


@pytest.mark.parametrize(
    "changes",
    [{"exp": 1}, {"exp": int(time.time()) + 7200}, {"iss": "12345"}, {"iss": None}],
    ids=["expired", "too long", "another app", "nobody"],
)
async def test_a_false_claim_is_refused(scene: Scene, changes: dict[str, object]) -> None:
    claims = {name: value for name, value in changes.items() if value is not None} or {"iss": ""}
    async with rest(scene.info, scene.token(claims)) as api:
        assert (await api.get("/app")).status_code == 401


async def test_a_token_signed_by_another_key_is_refused(scene: Scene) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    async with rest(scene.info, scene.token(key=other.decode())) as api:
        assert (await api.get("/app")).status_code == 401


async def test_a_token_of_the_bot_is_none_of_the_app(scene: Scene) -> None:
    async with rest(scene.info) as api:
        assert (await api.get("/app")).status_code == 401
        assert (await api.get("/user")).json()["login"] == scene.info.bot_login
    async with scene.as_app() as api:
        assert (await api.get(f"/repos/{SHOP}/pulls")).status_code == 401


async def test_a_suspended_installation_is_refused_and_hears_nothing(scene: Scene) -> None:
    token = await scene.installation_token()
    await scene.drive.installation(ChangeInstallation(action="suspend"))
    async with rest(scene.info, token) as api:
        refused = await api.get(f"/repos/{SHOP}")
        assert (refused.status_code, refused.json()["message"]) == (403, "This installation has been suspended")
    async with scene.as_app() as api:
        no_token = await api.post(f"/app/installations/{scene.info.installation_id}/access_tokens")
        assert (no_token.status_code, no_token.json()["message"]) == (403, "This installation has been suspended")
    await scene.drive.dispatch(NewDispatch(repo=SHOP, event_type="unheard", user="ada"))
    await scene.drive.installation(ChangeInstallation(action="unsuspend"))
    async with rest(scene.info, token) as api:
        assert (await api.get(f"/repos/{SHOP}")).status_code == 200
    await scene.hooks.count("installation.unsuspend")
    assert "repository_dispatch.unheard" not in scene.hooks.names()


async def test_a_repository_taken_from_the_installation_is_not_there(scene: Scene) -> None:
    await scene.drive.installation(ChangeInstallation(repo=SHOP, action="remove"))
    async with rest(scene.info, await scene.installation_token()) as api:
        assert (await api.get(f"/repos/{SHOP}")).status_code == 404
    async with scene.as_app() as api:
        assert (await api.get(f"/repos/{SHOP}/installation")).status_code == 404
    await scene.hooks.count("installation_repositories.removed")


async def test_an_app_that_was_removed_gets_no_token(scene: Scene) -> None:
    token = await scene.installation_token()
    await scene.drive.installation(ChangeInstallation(action="remove"))
    async with scene.as_app() as api:
        path = f"/app/installations/{scene.info.installation_id}/access_tokens"
        assert (await api.post(path)).status_code == 404
    async with rest(scene.info, token) as api:
        assert (await api.get(f"/repos/{SHOP}")).status_code == 401


async def test_missed_deliveries_are_listed_read_and_sent_again(scene: Scene) -> None:
    scene.hooks.status = 500
    guid = await scene.drive.dispatch(NewDispatch(repo=SHOP, event_type="missed", user="ada"))
    await scene.hooks.count("repository_dispatch.missed")
    scene.hooks.status = 202
    await scene.drive.dispatch(NewDispatch(repo=SHOP, event_type="heard", user="ada"))
    await scene.hooks.count("repository_dispatch.heard")
    async with scene.as_app() as api:
        listed = (await api.get("/app/hook/deliveries?status=failure")).json()
        assert [(one["guid"], one["status_code"], one["redelivery"]) for one in listed] == [(guid, 500, False)]
        one = (await api.get(f"/app/hook/deliveries/{listed[0]['id']}")).json()
        assert one["request"]["payload"]["action"] == "missed"
        assert (await api.post(f"/app/hook/deliveries/{listed[0]['id']}/attempts")).status_code == 202
        first, again = await scene.hooks.count("repository_dispatch.missed", 2)
        assert (again.guid, again.raw) == (first.guid, first.raw)
        await scene.drive.advance(3 * 86_400 + 1)
        assert (await api.get("/app/hook/deliveries")).json() == []


async def test_deliveries_come_in_pages_by_cursor(scene: Scene) -> None:
    for at in range(5):
        await scene.drive.dispatch(NewDispatch(repo=SHOP, event_type=f"e{at}", user="ada"))
    await scene.drive.dispatch(NewDispatch(repo=SHOP, event_type="end", user="ada"))
    await scene.hooks.count("repository_dispatch.end")
    async with scene.as_app() as api:
        seen: list[str] = []
        url = "/app/hook/deliveries?per_page=2"
        while url:
            page = await api.get(url)
            seen += [one["action"] or one["event"] for one in page.json()]
            url = page.links.get("next", {}).get("url", "")
    assert [name for name in seen if name.startswith("e") and name != "end"] == ["e4", "e3", "e2", "e1", "e0"]
