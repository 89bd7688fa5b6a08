"""The embedded Temporal server: one per state directory, up while its owner lives, gone when the owner is gone."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest, RemoveSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client

from adapters.temporal.attributes import REGISTERED
from adapters.temporal.client import RETENTION, TemporalTarget, connect, prepare_namespace
from adapters.temporal.embedded import EmbeddedTemporal, Restarts
from adapters.temporal.server import DATABASE_FILE
from adapters.temporal.state import SERVER_LOCK, FileLock, ServerAddress, read_address, running_address, write_address
from sweeper.errors import OutOfReach
from sweeper.workflows.progress import SIGNATURE

pytestmark = pytest.mark.slow

OWNER = """
import asyncio, sys
from pathlib import Path
from adapters.temporal.embedded import EmbeddedTemporal

async def main():
    async with EmbeddedTemporal(Path(sys.argv[1])) as temporal:
        print(temporal.address, temporal.is_owner, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


@asynccontextmanager
async def another_process(state_dir: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that starts or joins the server and stays until its stdin ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, str(state_dir), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def said(process: asyncio.subprocess.Process) -> tuple[str, bool]:
    """Its address, and whether it is the owner."""
    assert process.stdout is not None
    address, is_owner = (await process.stdout.readline()).decode().split()
    return address, is_owner == "True"


async def so(condition: Callable[[], bool]) -> None:
    """Wait until it is so; the test's own timeout bounds it."""
    while not condition():
        await asyncio.sleep(0.02)


def is_served(state_dir: Path) -> bool:
    with FileLock(state_dir / SERVER_LOCK) as lock:
        return not lock.try_exclusive()


def server_pid(state_dir: Path) -> int:
    found = read_address(state_dir)
    assert found is not None
    return found.pid


async def client_of(address: str) -> Client:
    return await connect(TemporalTarget(address=address))


class TestStarting:
    async def test_a_server_answers_and_is_prepared_for_sweeps(self, tmp_path: Path) -> None:
        async with EmbeddedTemporal(tmp_path / "state") as temporal:
            client = await client_of(temporal.address)
            namespace = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))
            known = await client.operator_service.list_search_attributes(
                ListSearchAttributesRequest(namespace="default")
            )
        assert namespace.config.workflow_execution_retention_ttl.ToTimedelta() >= RETENTION
        assert {name: known.custom_attributes[name] for name in REGISTERED} == REGISTERED

    async def test_preparing_again_changes_nothing(self, tmp_path: Path) -> None:
        async with EmbeddedTemporal(tmp_path) as temporal:
            assert await prepare_namespace(await client_of(temporal.address)) == ()

    async def test_what_an_earlier_version_did_not_register_is_made_up_for_on_the_next_start(
        self, tmp_path: Path
    ) -> None:
        asked = ListSearchAttributesRequest(namespace="default")
        async with EmbeddedTemporal(tmp_path) as temporal:
            operator = (await client_of(temporal.address)).operator_service
            await operator.remove_search_attributes(
                RemoveSearchAttributesRequest(namespace="default", search_attributes=[SIGNATURE.name])
            )
            assert SIGNATURE.name not in (await operator.list_search_attributes(asked)).custom_attributes

        async with EmbeddedTemporal(tmp_path) as temporal:
            operator = (await client_of(temporal.address)).operator_service
            assert SIGNATURE.name in (await operator.list_search_attributes(asked)).custom_attributes

    async def test_all_it_keeps_is_for_its_owner_alone(self, tmp_path: Path) -> None:
        state_dir = tmp_path / "state"
        state_dir.mkdir(mode=0o755)
        async with EmbeddedTemporal(state_dir):
            assert state_dir.stat().st_mode & 0o777 == 0o700
            assert {path.name for path in state_dir.iterdir() if path.stat().st_mode & 0o077} == set()

    async def test_the_address_file_says_where_and_who(self, tmp_path: Path) -> None:
        async with EmbeddedTemporal(tmp_path) as temporal:
            found = json.loads((tmp_path / "temporal.json").read_text())
            assert found["address"] == temporal.address == running_address(tmp_path)
            assert temporal.address.startswith("127.0.0.1:")
            os.kill(found["pid"], 0)

    async def test_the_server_hears_no_ctrl_c_and_sees_no_secret(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SWEEPER_GITHUB_TOKEN", "hush")
        async with EmbeddedTemporal(tmp_path):
            pid = server_pid(tmp_path)
            assert os.getsid(pid) != os.getsid(0)
            assert b"hush" not in Path(f"/proc/{pid}/environ").read_bytes()

    async def test_a_database_it_cannot_read_is_told_with_the_servers_words(self, tmp_path: Path) -> None:
        (tmp_path / DATABASE_FILE).write_text("this is no database" * 100)
        with pytest.raises(OutOfReach, match="not a database"):
            await EmbeddedTemporal(tmp_path).start()
        assert not is_served(tmp_path)
        assert running_address(tmp_path) is None


class TestJoining:
    async def test_a_second_start_joins_and_its_end_leaves_the_server(self, tmp_path: Path) -> None:
        async with EmbeddedTemporal(tmp_path) as owner:
            async with EmbeddedTemporal(tmp_path) as guest:
                assert (owner.is_owner, guest.is_owner) == (True, False)
                assert guest.address == owner.address
            await client_of(owner.address)

    async def test_another_process_joins(self, tmp_path: Path) -> None:
        async with EmbeddedTemporal(tmp_path) as owner, another_process(tmp_path) as guest:
            assert await said(guest) == (owner.address, False)

    async def test_of_two_processes_that_start_at_once_one_owns_and_one_joins(self, tmp_path: Path) -> None:
        async with another_process(tmp_path) as one, another_process(tmp_path) as other:
            (address, owns), (same_address, owns_too) = await asyncio.gather(said(one), said(other))
        assert address == same_address
        assert sorted([owns, owns_too]) == [False, True]


class TestEnding:
    async def test_a_stop_ends_the_server_and_frees_the_directory(self, tmp_path: Path) -> None:
        temporal = EmbeddedTemporal(tmp_path)
        address = await temporal.start()
        watching = asyncio.create_task(temporal.watch())
        await temporal.stop()
        await temporal.stop()
        await watching
        assert not is_served(tmp_path)
        assert running_address(tmp_path) is None
        with pytest.raises(OutOfReach, match=address):
            await client_of(address)

    async def test_when_its_owner_is_killed_the_server_ends_and_the_next_start_has_the_data(
        self, tmp_path: Path
    ) -> None:
        async with another_process(tmp_path) as owner:
            address, _ = await said(owner)
            await (await client_of(address)).start_workflow("sweep", id="kept", task_queue="nobody")
            owner.kill()
            await owner.wait()
            await so(lambda: not is_served(tmp_path))
        assert running_address(tmp_path) is None
        async with EmbeddedTemporal(tmp_path) as temporal:
            assert temporal.is_owner
            assert temporal.address == address
            await (await client_of(address)).get_workflow_handle("kept").describe()

    async def test_when_its_owner_is_killed_one_that_joined_takes_over(self, tmp_path: Path) -> None:
        async with another_process(tmp_path) as owner:
            address, _ = await said(owner)
            client = await client_of(address)
            await client.start_workflow("sweep", id="kept", task_queue="nobody")
            async with EmbeddedTemporal(tmp_path) as guest:
                owner.kill()
                await so(lambda: guest.is_owner)
                assert running_address(tmp_path) == guest.address == address
                await client.get_workflow_handle("kept").describe()

    async def test_a_start_at_the_moment_of_the_kill_has_a_server_that_stays(self, tmp_path: Path) -> None:
        async with another_process(tmp_path) as owner:
            await said(owner)
            owner.kill()
            async with EmbeddedTemporal(tmp_path) as temporal:
                await so(lambda: temporal.is_owner)
                await client_of(temporal.address)


class TestWatching:
    async def test_a_killed_server_comes_back_where_it_was(self, tmp_path: Path) -> None:
        async with EmbeddedTemporal(tmp_path) as temporal:
            client = await client_of(temporal.address)
            await client.start_workflow("sweep", id="kept", task_queue="nobody")
            former = server_pid(tmp_path)
            os.kill(former, signal.SIGKILL)
            await so(lambda: server_pid(tmp_path) != former)
            await client.get_workflow_handle("kept").describe()
            assert running_address(tmp_path) == temporal.address

    async def test_one_that_dies_too_often_is_given_up(self, tmp_path: Path) -> None:
        async with EmbeddedTemporal(tmp_path, Restarts(most=1)) as temporal:
            former = server_pid(tmp_path)
            os.kill(former, signal.SIGKILL)
            await so(lambda: server_pid(tmp_path) != former)
            os.kill(server_pid(tmp_path), signal.SIGKILL)
            with pytest.raises(OutOfReach, match="died 2 times"):
                await temporal.watch()

    async def test_one_that_joined_learns_that_the_server_moved(self, tmp_path: Path) -> None:
        async with EmbeddedTemporal(tmp_path), EmbeddedTemporal(tmp_path) as guest:
            write_address(tmp_path, ServerAddress(address="127.0.0.1:1", pid=1))
            with pytest.raises(OutOfReach, match="moved"):
                await guest.watch()


class TestStaleAddress:
    async def test_the_port_of_a_former_life_is_used_again(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free_soon:
            port = free_soon.getsockname()[1]
        write_address(tmp_path, ServerAddress(address=f"127.0.0.1:{port}", pid=1))
        assert running_address(tmp_path) is None
        async with EmbeddedTemporal(tmp_path) as temporal:
            assert temporal.address == f"127.0.0.1:{port}"

    async def test_a_port_that_is_taken_is_left_alone(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            write_address(tmp_path, ServerAddress(address=address, pid=1))
            async with EmbeddedTemporal(tmp_path) as temporal:
                assert temporal.address != address

    async def test_a_torn_address_file_is_no_obstacle(self, tmp_path: Path) -> None:
        (tmp_path / "temporal.json").write_text('{"address": "127.')
        async with EmbeddedTemporal(tmp_path) as temporal:
            assert running_address(tmp_path) == temporal.address
