"""One Temporal and one GitHub for all sweeps of a module; both outlive every worker that is killed."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.loopback import running_loopback
from tests.support.small_sweep import Ground
from tests.support.temporal import dev_server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    root = tmp_path_factory.mktemp("ground")
    async with dev_server(root / "temporal") as client, running_loopback(root / "github") as (info, drive):
        yield Ground(client=client, info=info, drive=drive)
