from collections.abc import AsyncIterator

import pytest

from tests.support.scene import Scene, sweep_scene


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with sweep_scene() as scene:
        yield scene
