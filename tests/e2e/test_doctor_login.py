"""`sweeper doctor` asks GitHub whether our credentials work."""

import asyncio
import json
from pathlib import Path

import pytest

from adapters.loopback.drive.requests import ChangeInstallation
from adapters.loopback.options import LoopbackInfo
from tests.support.commands import environment, sweeper
from tests.support.loopback import running_loopback

pytestmark = pytest.mark.slow


async def looked_at(state_dir: Path, info: LoopbackInfo, **login: str) -> tuple[int, bool, str]:
    """Exit code, and what it found about GitHub."""
    env = environment(state_dir, github_url=info.url, **login)
    ended = await asyncio.to_thread(sweeper, "doctor", "--json", env=env)
    findings = json.loads(json.dumps(ended.document["findings"]))
    (github,) = (finding for finding in findings if finding["name"] == "github")
    return ended.code, github["ok"], github["detail"]


async def test_doctor_shows_whether_the_credentials_work(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with running_loopback(tmp_path / "github") as (info, drive):
        as_app = {"app_id": str(info.app_id), "app_key_file": info.app_key_file}
        by_token = await looked_at(state, info, github_token=info.token)
        by_app = await looked_at(state, info, **as_app)
        wrong = await looked_at(state, info, github_token="ghp_wrong")
        await drive.installation(ChangeInstallation(action="suspend"))
        suspended = await looked_at(state, info, **as_app)

    assert by_token[1:] == (True, f"{info.url} as {info.bot_login}")
    assert by_app[1:] == (True, f"{info.url} as {info.bot_login}, installed on 1 account(s)")
    assert (wrong[0], wrong[1]) == (4, False)
    assert wrong[2].startswith("Renew the GitHub token or app key")
    assert "ghp_wrong" not in wrong[2]
    assert (suspended[0], suspended[1]) == (4, False)
    assert "suspended" in suspended[2]
