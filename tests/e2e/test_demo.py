"""`sweeper demo`: the whole story in one command, with a kill -9 in the middle."""

import signal
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue

from tests.support.commands import Ended, environment, nothing_runs_on, on_terminal, running_on, sweeper

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

ONCE = {
    "check.create": 1,
    "branch.push": 1,
    "pull.create": 1,
    "pull.merge": 1,
    "branch.delete": 1,
    "check.update": 1,
}
CRASH = [
    {"phase": "created", "effect": "pull.create"},
    {"phase": "crash", "effect": "worker"},
    {"phase": "deduplicated", "effect": "pull.create"},
]


@dataclass(frozen=True)
class Demos:
    """Demos in one state directory, one after the other; in the second deterministic fixers mend a lint error."""

    state_dir: Path
    ended: tuple[Ended, ...]
    left_running: list[str]

    @property
    def told(self) -> list[dict[str, JsonValue]]:
        """What each said of itself."""
        return [ended.document_as(0) for ended in self.ended]


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Demos:
    state_dir = tmp_path_factory.mktemp("demo") / "state"
    env = environment(state_dir)
    first = sweeper("demo", "--json", env=env)
    second = sweeper("demo", "--agent", "autofix", "--json", env=env)
    return Demos(state_dir, (first, second), running_on(state_dir))


@pytest.mark.xdist_group("demo")
class TestWithoutATerminal:
    def test_the_fix_is_merged_and_each_side_effect_happened_once(self, demos: Demos) -> None:
        for told in demos.told:
            assert told["outcome"] == "merged"
            assert told["effects"] == ONCE

    def test_the_worker_died_with_the_answer_and_the_effect_was_found_again(self, demos: Demos) -> None:
        for told in demos.told:
            assert told["worker_kills"] == 1
            assert told["events"] == CRASH

    def test_every_webhook_was_delivered_twice(self, demos: Demos) -> None:
        for told in demos.told:
            doubles = told["duplicate_deliveries"]
            assert isinstance(doubles, int)
            assert doubles >= 1

    def test_two_demos_are_two_sweeps(self, demos: Demos) -> None:
        assert len({str(told["workflow_id"]) for told in demos.told}) == 2

    def test_nothing_is_left_running(self, demos: Demos) -> None:
        assert demos.left_running == []


@pytest.mark.xdist_group("demo-terminal")
class TestOnATerminal:
    @pytest.fixture(scope="class")
    def state_dir(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """One for all, so that each also shows that the one before left no harm."""
        return tmp_path_factory.mktemp("demo") / "state"

    def test_killed_in_the_middle_it_takes_all_it_started_along(self, state_dir: Path) -> None:
        with on_terminal("demo", env=environment(state_dir)) as terminal:
            terminal.waits_for("reproduce")
            terminal.gets(signal.SIGKILL)
            assert terminal.ends().code == -signal.SIGKILL
            nothing_runs_on(state_dir)

    def test_interrupted_it_says_so_and_leaves_nothing_running(self, state_dir: Path) -> None:
        with on_terminal("demo", "--json", env=environment(state_dir)) as terminal:
            terminal.waits_for("reproduce")
            terminal.gets(signal.SIGINT)
            ended = terminal.ends()
        assert "Interrupted" in str(ended.document_as(130)["error"])
        assert running_on(state_dir) == []

    def test_while_it_asks_no_second_one_starts_and_enter_approves(self, state_dir: Path) -> None:
        env = environment(state_dir)
        with on_terminal("demo", "--json", env=env) as terminal:
            terminal.waits_for("press Enter to approve")
            assert "A demo runs in" in str(sweeper("demo", "--json", env=env).document_as(2)["error"])
            terminal.press_enter()
            told = terminal.ends().document_as(0)
        assert told["outcome"] == "merged"
        assert told["effects"] == ONCE

    def test_an_approval_in_the_browser_counts_as_well(self, state_dir: Path) -> None:
        with on_terminal("demo", "--agent", "autofix", env=environment(state_dir)) as terminal:
            page = terminal.waits_for(r"Review it in the browser: (\S+)\n")[1]
            terminal.waits_for("press Enter to approve")
            assert ">Approve</button>" in httpx.get(page).text
            assert httpx.post(page, data={"user": "mia", "action": "approve"}).status_code == 303
            ended = terminal.ends()
        assert ended.code == 0, ended.stderr
        assert "outcome merged: approved by mia" in " ".join(ended.stderr.split())
