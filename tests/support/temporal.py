"""Real Temporal servers for tests: one that skips time, and one as the product embeds it."""

import sysconfig
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from adapters.temporal.attributes import REGISTERED
from adapters.temporal.client import TemporalTarget, connect
from adapters.temporal.embedded import EmbeddedTemporal

TEST_SERVER = Path(sysconfig.get_path("scripts")) / "temporal-test-server"


async def register_attributes(client: Client) -> None:
    """Let sweeps set their search attributes in the client's namespace, which must not know them yet."""
    request = AddSearchAttributesRequest(namespace=client.namespace)
    request.search_attributes.update(REGISTERED)
    await client.operator_service.add_search_attributes(request)


@asynccontextmanager
async def time_skipping_env() -> AsyncIterator[WorkflowEnvironment]:
    """A server whose clock jumps over timers. It has no listing and no schedules."""
    async with await WorkflowEnvironment.start_time_skipping(
        data_converter=pydantic_data_converter, test_server_existing_path=str(TEST_SERVER)
    ) as env:
        await register_attributes(env.client)
        yield env


@asynccontextmanager
async def dev_server(state_dir: Path) -> AsyncIterator[Client]:
    """A client of the embedded server of that directory; it is as the product starts it, listing included."""
    async with EmbeddedTemporal(state_dir) as temporal:
        yield await connect(TemporalTarget(address=temporal.address))
