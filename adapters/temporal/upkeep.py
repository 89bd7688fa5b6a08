"""The upkeep workflow as a starting worker meets it: there is one, and it is rung."""

from contextlib import suppress

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from adapters.temporal.client import READ_SECONDS, RPC_TIMEOUT, reaching
from sweeper.activities.names import TASK_QUEUE
from sweeper.errors import NotFound
from sweeper.model.upkeep import Rung, UpkeepInput, UpkeepMemo
from sweeper.workflows.upkeep import MEMO, WORKFLOW_ID

UPKEEP_WORKFLOW = "upkeep"
LOOK_SIGNAL = "look"


async def ring_upkeep(client: Client, rung: Rung, task_queue: str = TASK_QUEUE) -> None:
    """Start upkeep if it does not run, and make it pass now with these settings. Twice is one more pass at most.

    Raises OutOfReach, AuthBroken.
    """
    async with reaching(client):
        await client.start_workflow(
            UPKEEP_WORKFLOW,
            UpkeepInput(settings=rung.settings),
            id=WORKFLOW_ID,
            task_queue=task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            start_signal=LOOK_SIGNAL,
            start_signal_args=[rung],
            static_summary="missed runs, orphans, stuck sweeps",
            rpc_timeout=RPC_TIMEOUT,
        )


async def stop_upkeep(client: Client) -> None:
    """End upkeep if it runs: the operator does not want it. Twice is a no-op. Nothing depends on its record."""
    with suppress(NotFound):
        async with reaching(client):
            handle = client.get_workflow_handle(WORKFLOW_ID)
            await handle.terminate("switched off", rpc_timeout=RPC_TIMEOUT)


async def read_upkeep(client: Client) -> UpkeepMemo | None:
    """What upkeep says of itself; None if it never ran here. Raises OutOfReach."""
    try:
        async with reaching(client, READ_SECONDS):
            described = await client.get_workflow_handle(WORKFLOW_ID).describe(rpc_timeout=RPC_TIMEOUT)
    except NotFound:
        return None
    return await described.memo_value(MEMO, default=UpkeepMemo(), type_hint=UpkeepMemo)
