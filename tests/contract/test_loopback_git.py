"""The git door: real git clones, pushes and leases; what a push changes is seen at once."""

import asyncio
import base64
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.loopback.core.state import Permission
from adapters.loopback.drive.requests import (
    ChangeInstallation,
    DeleteBranch,
    ForkHead,
    NewPush,
    NewRepo,
    NewRun,
    NewUser,
    OpenPull,
    PullAct,
    Rename,
)
from adapters.loopback.drive_client import DriveClient, DriveRefused
from adapters.loopback.options import LoopbackInfo
from tests.support.loopback import SHOP, WORKFLOW, open_fix, open_shop, push_fix, rest, running_loopback

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Scene:
    info: LoopbackInfo
    drive: DriveClient
    remote: str
    work: Path
    main_sha: str

    async def git(self, *args: str, token: str | None = None, ok: bool = True) -> str:
        """Run git in the working copy, logged in by header as the product does."""
        done = await asyncio.to_thread(self._git, args, token or self.info.token)
        if ok:
            assert done.returncode == 0, done.stderr
        else:
            assert done.returncode != 0, done.stdout
        return done.stdout.strip() if ok else done.stderr

    def _git(self, args: tuple[str, ...], token: str) -> subprocess.CompletedProcess[str]:
        login = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        env = os.environ | {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_COUNT": "3",
            "GIT_CONFIG_KEY_0": "http.extraheader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {login}",
            "GIT_CONFIG_KEY_1": "user.name",
            "GIT_CONFIG_VALUE_1": "Wim",
            "GIT_CONFIG_KEY_2": "user.email",
            "GIT_CONFIG_VALUE_2": "wim@example.org",
        }
        return subprocess.run(["git", *args], cwd=self.work, env=env, capture_output=True, text=True, check=False)

    async def commit(self, content: str) -> str:
        (self.work / "shop.py").write_text(content)
        await self.git("commit", "--quiet", "--all", "--message", content)
        return await self.git("rev-parse", "HEAD")

    async def branches(self) -> dict[str, str]:
        return (await self.drive.world()).repos[0].branches


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with running_loopback(tmp_path / "github") as (info, drive):
        shop = await open_shop(drive)
        work = tmp_path / "work"
        work.mkdir()
        scene = Scene(info, drive, shop.clone_url, work, shop.head)
        await scene.git("clone", "--quiet", scene.remote, ".")
        yield scene


async def test_a_push_is_one_effect_keyed_by_ref_and_sha(scene: Scene) -> None:
    sha = await scene.commit("total = 1\n")
    await scene.git("push", "--quiet", "origin", "HEAD:refs/heads/fix")
    assert (await scene.branches())["fix"] == sha
    calls = [call for call in (await scene.drive.ledger()).calls if call.effect]
    assert [(call.effect, call.key, call.status) for call in calls] == [
        ("branch.push", f"{SHOP} refs/heads/fix {sha}", 200)
    ]
    assert calls[0].client.startswith("git/")
    await scene.git("push", "--quiet", "origin", "HEAD:refs/heads/fix")
    assert (await scene.drive.ledger()).effects == {"branch.push": 1}


async def test_a_large_push_comes_through_whole(scene: Scene) -> None:
    (scene.work / "big.bin").write_bytes(os.urandom(3_000_000))
    await scene.git("add", "big.bin")
    sha = await scene.commit("total = 1\n")
    await scene.git("push", "--quiet", "origin", "HEAD:refs/heads/fix")
    await scene.git("clone", "--quiet", "--branch", "fix", scene.remote, "again")
    assert (scene.work / "again" / "big.bin").read_bytes() == (scene.work / "big.bin").read_bytes()
    assert (await scene.branches())["fix"] == sha


async def test_a_wrong_lease_is_refused_and_a_right_one_moves_the_branch(scene: Scene) -> None:
    first = await scene.commit("total = 1\n")
    await scene.git("push", "--quiet", "origin", "HEAD:refs/heads/fix")
    await scene.git("reset", "--quiet", "--hard", scene.main_sha)
    second = await scene.commit("total = 2\n")
    wrong = f"--force-with-lease=refs/heads/fix:{scene.main_sha}"
    assert "stale info" in await scene.git("push", wrong, "origin", "HEAD:refs/heads/fix", ok=False)
    assert (await scene.branches())["fix"] == first
    await scene.git("push", "--quiet", f"--force-with-lease=refs/heads/fix:{first}", "origin", "HEAD:refs/heads/fix")
    assert (await scene.branches())["fix"] == second
    await scene.git("push", "--quiet", f"--force-with-lease=refs/heads/fix:{second}", "origin", ":refs/heads/fix")
    assert "fix" not in await scene.branches()
    assert (await scene.drive.ledger()).effects == {"branch.push": 2, "branch.delete": 1}


async def test_any_commit_may_be_fetched_by_its_sha(scene: Scene) -> None:
    sha = await push_fix(scene.drive)
    await scene.drive.delete_branch(DeleteBranch(repo=SHOP, branch="fix", user="wim"))
    await scene.git("fetch", "--quiet", "--depth", "1", "origin", sha)
    assert await scene.git("rev-parse", "FETCH_HEAD") == sha


async def test_a_pull_request_has_its_own_refs_and_follows_pushes(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    await scene.git("fetch", "--quiet", "origin", "fix")
    await scene.git("checkout", "--quiet", "-b", "fix", "FETCH_HEAD")
    sha = await scene.commit("total = 2\n")
    await scene.git("push", "--quiet", "origin", "fix")
    assert (await scene.drive.world()).repos[0].pulls[0].head_sha == sha
    refs = dict(line.split("\t")[::-1] for line in (await scene.git("ls-remote", "origin")).splitlines())
    assert refs[f"refs/pull/{number}/head"] == sha
    await scene.git("fetch", "--quiet", "origin", f"refs/pull/{number}/merge")
    assert await scene.git("show", "--no-patch", "--format=%P", "FETCH_HEAD") == f"{scene.main_sha} {sha}"


async def test_a_file_that_became_a_link_is_one_changed_file_with_its_end_and_its_start(scene: Scene) -> None:
    (scene.work / "shop.py").unlink()
    (scene.work / "shop.py").symlink_to("elsewhere.py")
    (scene.work / "zebra.py").write_text("x = 1\n")
    await scene.git("add", "--all")
    await scene.commit("a link")
    await scene.git("push", "--quiet", "origin", "HEAD:refs/heads/fix")
    number = await scene.drive.open_pull(OpenPull(repo=SHOP, head="fix", base="main", title="Link", user="wim"))
    async with rest(scene.info) as client:
        files = (await client.get(f"/repos/{SHOP}/pulls/{number}/files")).json()
    assert [(file["filename"], file["status"]) for file in files] == [("shop.py", "changed"), ("zebra.py", "added")]
    assert "+elsewhere.py" in files[0]["patch"]
    assert files[1]["patch"].endswith("+x = 1")


async def test_a_conflict_takes_the_merge_ref_away(scene: Scene) -> None:
    number = await open_fix(scene.drive)
    await push_fix(scene.drive, "main", "quite another line\n")
    refs = await scene.git("ls-remote", "origin")
    assert f"refs/pull/{number}/head" in refs
    assert f"refs/pull/{number}/merge" not in refs


async def test_pushing_the_head_into_the_base_merges_the_pull_request(scene: Scene) -> None:
    await open_fix(scene.drive)
    await scene.git("fetch", "--quiet", "origin", "fix")
    await scene.git("push", "--quiet", "origin", "FETCH_HEAD:refs/heads/main")
    pull = (await scene.drive.world()).repos[0].pulls[0]
    assert (pull.state, pull.merged, pull.merged_by) == ("closed", True, scene.info.bot_login)


async def test_deleting_the_head_branch_closes_the_pull_request(scene: Scene) -> None:
    await open_fix(scene.drive)
    await scene.git("push", "--quiet", "origin", ":refs/heads/fix")
    pull = (await scene.drive.world()).repos[0].pulls[0]
    assert (pull.state, pull.merged) == ("closed", False)


async def test_nobody_pushes_to_the_refs_of_pull_requests(scene: Scene) -> None:
    await open_fix(scene.drive)
    sha = await scene.commit("total = 3\n")
    assert "hidden ref" in await scene.git("push", "origin", f"{sha}:refs/pull/1/head", ok=False)


async def test_the_door_asks_for_a_login_and_for_rights(scene: Scene) -> None:
    reader = await scene.drive.user(NewUser(login="rea", permission=Permission.READ))
    stranger = await scene.drive.user(NewUser(login="eve", permission=Permission.NONE))
    await scene.git("fetch", "--quiet", "origin", token=reader.token)
    assert "denied to rea" in await scene.git("push", "origin", "HEAD:refs/heads/x", token=reader.token, ok=False)
    assert "not found" in await scene.git("fetch", "origin", token=stranger.token, ok=False)
    assert "could not read Username" in await scene.git("fetch", "origin", token="ghs_wrong", ok=False)


async def test_a_suspended_installation_is_refused_by_git_in_githubs_words(scene: Scene) -> None:
    await scene.drive.installation(ChangeInstallation(action="suspend"))
    await scene.commit("while suspended")
    for command in (("ls-remote", scene.remote), ("push", "--quiet", scene.remote, "HEAD:refs/heads/suspended")):
        said = await scene.git(*command, ok=False)
        assert "403" in said
        assert "This installation has been suspended" in said
    await scene.drive.installation(ChangeInstallation(action="unsuspend"))
    await scene.git("push", "--quiet", scene.remote, "HEAD:refs/heads/suspended")


async def test_without_the_installation_git_finds_no_repository(scene: Scene) -> None:
    for repo in (SHOP, None):
        await scene.drive.installation(ChangeInstallation(repo=repo, action="remove"))
        assert "not found" in await scene.git("ls-remote", scene.remote, ok=False)
        await scene.drive.installation(ChangeInstallation(repo=repo, action="add"))
        await scene.git("ls-remote", scene.remote)


async def test_a_renamed_repository_is_found_by_git_under_its_old_name(scene: Scene) -> None:
    await scene.drive.rename(Rename(repo=SHOP, name="store"))
    await scene.commit("after the rename")
    await scene.git("push", "--quiet", scene.remote, "HEAD:refs/heads/renamed")
    (seen,) = (await scene.drive.world()).repos
    assert seen.name == "octo/store"
    assert "renamed" in seen.branches


async def test_a_repository_is_cloned_and_never_used_in_place(scene: Scene, tmp_path: Path) -> None:
    sha = await scene.commit("total = 5\n")
    await scene.git("checkout", "--quiet", "--detach")
    before = {path.name for path in (scene.work / ".git").rglob("*")}
    made = await scene.drive.repo(NewRepo(name="octo/copy", path=str(scene.work)))
    assert (made.default_branch, made.head) == ("main", sha)
    await scene.drive.push(NewPush(repo="octo/copy", branch="main", files={"new.py": "x = 1\n"}, user="wim"))
    assert {path.name for path in (scene.work / ".git").rglob("*")} == before
    with pytest.raises(DriveRefused, match="does not exist"):
        await scene.drive.repo(NewRepo(name="octo/none", path=str(tmp_path / "nowhere")))
    with pytest.raises(DriveRefused, match="cannot be taken"):
        await scene.drive.repo(NewRepo(name="octo/none", path=str(tmp_path / "github")))


async def test_people_push_by_drive_on_top_aside_and_by_force(scene: Scene) -> None:
    first = await push_fix(scene.drive)
    second = await scene.drive.push(
        NewPush.model_validate({"repo": SHOP, "branch": "fix", "files": {"shop.py": None}, "user": "wim"})
    )
    await scene.git("fetch", "--quiet", "origin", "fix")
    assert await scene.git("show", "--no-patch", "--format=%P %an", "FETCH_HEAD") == f"{first} wim"
    assert "shop.py" not in await scene.git("ls-tree", "--name-only", "FETCH_HEAD")
    forced = await scene.drive.push(
        NewPush.model_validate(
            {"repo": SHOP, "branch": "fix", "from": "main", "files": {"a.py": "1\n"}, "user": "wim", "force": True}
        )
    )
    assert forced != second
    await scene.git("fetch", "--quiet", "origin", "fix")
    assert await scene.git("show", "--no-patch", "--format=%P", "FETCH_HEAD") == scene.main_sha
    with pytest.raises(DriveRefused, match="cannot be committed"):
        await scene.drive.push(NewPush(repo=SHOP, branch="fix", files={"../outside": "x"}, user="wim"))


async def test_a_pull_request_from_a_fork_has_its_head_in_the_base_repository(scene: Scene) -> None:
    fork = ForkHead(repo="eve/shop", branch="main")
    await scene.drive.run(
        NewRun(repo=SHOP, fork=fork, workflow_path=WORKFLOW, event="pull_request", conclusion="failure")
    )
    sha = await scene.drive.push(NewPush(repo="eve/shop", branch="fix", files={"shop.py": "x = 1\n"}, user="eve"))
    number = await scene.drive.open_pull(OpenPull(repo=SHOP, head="eve:fix", base="main", title="x", user="eve"))
    refs = await scene.git("ls-remote", "origin", f"refs/pull/{number}/head")
    assert refs.startswith(sha)
    newer = await scene.drive.push(NewPush(repo="eve/shop", branch="fix", files={"shop.py": "x = 2\n"}, user="eve"))
    assert (await scene.git("ls-remote", "origin", f"refs/pull/{number}/head")).startswith(newer)
    await scene.drive.merge_pull(PullAct(repo=SHOP, pr=number, user="ada"))
    await scene.git("fetch", "--quiet", "origin", "main")
    assert await scene.git("show", "FETCH_HEAD:shop.py") == "x = 2"
