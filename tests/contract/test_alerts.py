"""Alerts as an operator receives them: real commands and real HTTP."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.alerts import Alerts
from sweeper.errors import BadInput, Transient
from sweeper.model.upkeep import Alert
from sweeper.policy.stuck import task_fails
from tests.support.hook_receiver import receiving_hooks

CASE = task_fails("sweep-1-1", "a bug", datetime(2026, 11, 29, tzinfo=UTC))
ALERT = Alert(id="task_fails/sweep-1-1/20261129T000000", case=CASE)


async def test_a_command_gets_the_alert_on_stdin_and_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWEEPER_GITHUB_TOKEN", "hunter2")
    alerts = Alerts(f"cat > {tmp_path}/told; env > {tmp_path}/env", None)
    assert alerts.channels == ("command",)
    await alerts.send(ALERT, "command")
    assert json.loads((tmp_path / "told").read_text())["case"]["sentence"] == CASE.sentence
    assert "hunter2" not in (tmp_path / "env").read_text()


async def test_a_command_that_fails_or_takes_too_long_is_to_be_tried_again(tmp_path: Path) -> None:
    with pytest.raises(Transient, match="code 3"):
        await Alerts("exit 3", None).send(ALERT, "command")
    slow = Alerts(f"(sleep 60; touch {tmp_path}/late) & sleep 60", None, seconds=0.2)
    with pytest.raises(Transient, match=r"within 0\.2 s"):
        await slow.send(ALERT, "command")


async def test_a_command_may_leave_stdin_unread() -> None:
    await Alerts("exec 0<&-; true", None).send(ALERT, "command")


async def test_an_address_gets_the_alert_posted() -> None:
    async with receiving_hooks() as hook:
        alerts = Alerts(None, SecretStr(hook.url))
        assert alerts.channels == ("url",)
        await alerts.send(ALERT, "url")
        (posted,) = hook.received
        assert posted.body["id"] == ALERT.id
        assert posted.headers["content-type"] == "application/json"


async def test_an_address_that_refuses_or_is_not_there_is_to_be_tried_again_and_stays_secret() -> None:
    async with receiving_hooks() as hook:
        hook.status = 404
        with pytest.raises(Transient, match="404"):
            await Alerts(None, SecretStr(hook.url)).send(ALERT, "url")
    for address in (hook.url, "no address at all"):
        with pytest.raises(Transient) as gone:
            await Alerts(None, SecretStr(address)).send(ALERT, "url")
        assert address not in str(gone.value)


async def test_a_way_that_is_not_set_up_is_said() -> None:
    assert Alerts(None, None).channels == ()
    with pytest.raises(BadInput, match="SWEEPER_ALERT_URL"):
        await Alerts("true", None).send(ALERT, "url")
