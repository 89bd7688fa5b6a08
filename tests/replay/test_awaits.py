import json
from textwrap import dedent

import pytest

from tests.replay.awaits import RECORD, awaits_of_package, awaits_of_source, complaints

BEFORE = """
class SweepWorkflow:
    async def run(self, sweep):
        self._task = asyncio.create_task(self._story())
        await self._collect()
        while True:
            decision = await self._calls.do(names.READ_WORLD, self._pull())
            if decision.ends:
                return await self._end(decision)
            try:
                await self._bell.wait(timeout=timedelta(hours=1))
            except TimeoutError:
                await self._give_up()

    async def _quiet(self):
        return 1

    def look(self):
        self._rung = True
"""
PARK = "            try:\n                await self._bell.wait"


def _complaints(after: str) -> list[str]:
    return complaints(awaits_of_source(BEFORE, "sweep"), awaits_of_source(after, "sweep"))


def test_the_workflows_await_what_is_on_record() -> None:
    """If this fails: put what is new behind a patch, or see `tests/replay/awaits.py` about recording."""
    assert RECORD.is_file(), "python -m tests.replay.awaits --record"
    assert complaints(json.loads(RECORD.read_text()), awaits_of_package()) == []


def test_awaits_are_told_in_order_with_the_activity_they_name() -> None:
    assert awaits_of_source(BEFORE, "sweep") == {
        "sweep:SweepWorkflow.run": [
            "asyncio.create_task(self._story())",
            "self._collect()",
            "self._calls.do(names.READ_WORLD)",
            "self._end()",
            "self._bell.wait()",
            "self._give_up()",
        ],
        "sweep:SweepWorkflow._quiet": [],
    }


NEW_AT_THE_PARK_POINT = "            await self._calls.do(names.COMMENT, self._text())\n" + PARK


@pytest.mark.parametrize(
    "change",
    [
        (PARK, NEW_AT_THE_PARK_POINT),
        ("        await self._collect()\n", ""),
        ("names.READ_WORLD", "names.ADMIT"),
        ("await self._bell.wait(timeout=timedelta(hours=1))", "await workflow.sleep(3600)"),
        ("        await self._collect()\n", "        await self._collect()\n        await self._collect()\n"),
        ("        return 1\n", "        await self._collect()\n"),
        ("self._rung = True", "asyncio.create_task(self._collect())"),
        ("def look(self):\n        self._rung = True", "async def look(self):\n        await self._collect()"),
        ("create_task(self._story())", "create_task(self._other())"),
        (PARK, "            async with self._lock:\n                pass\n" + PARK),
    ],
    ids=lambda change: change[1].strip()[:40],
)
def test_a_change_that_a_running_sweep_would_meet_is_refused(change: tuple[str, str]) -> None:
    assert change[0] in BEFORE
    (sentence,) = _complaints(BEFORE.replace(*change))
    assert "workflow.patched" in sentence


@pytest.mark.parametrize(
    "change",
    [
        (
            PARK,
            '            if workflow.patched("tell"):\n                await self._calls.do(names.COMMENT, 1)\n' + PARK,
        ),
        (
            "        await self._collect()\n",
            '        if workflow.patched("other"):\n            await self._gather()\n'
            "        else:\n            await self._collect()\n",
        ),
        (
            "        await self._collect()\n",
            '        if not workflow.patched("other"):\n            await self._collect()\n'
            "        else:\n            await self._gather()\n",
        ),
        (
            "        await self._collect()\n",
            '        if workflow.patched("a"):\n            return\n        await self._collect()\n',
        ),
        ("timedelta(hours=1)", "self._settings.poll_interval"),
        (
            "        return 1\n",
            "        return 1\n\n    async def _new(self):\n        await self._calls.do(names.COMMENT, 1)\n",
        ),
        ("self._rung = True", "self._rung = False"),
    ],
    ids=lambda change: change[1].strip()[:40],
)
def test_a_change_that_no_running_sweep_meets_is_accepted(change: tuple[str, str]) -> None:
    assert change[0] in BEFORE
    assert _complaints(BEFORE.replace(*change)) == []


def test_old_code_that_leaves_a_block_early_is_told_from_the_new_code_behind_it() -> None:
    after = dedent(
        """
        async def wait():
            if not workflow.patched("ask first"):
                return await old()
            await new()
        """
    )
    assert awaits_of_source(after, "m") == {"m:wait": ["old()"]}


def test_a_condition_that_is_no_patch_hides_nothing() -> None:
    (sentence,) = _complaints(BEFORE.replace(PARK, f"            if self._new:\n    {NEW_AT_THE_PARK_POINT}", 1))
    assert "names.COMMENT" in sentence
