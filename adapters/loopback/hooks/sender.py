"""The sender: one delivery after the other, signed, ten seconds each, never tried again by itself."""

import asyncio
import hashlib
import hmac
import time

import httpx

from adapters.loopback.core.state import App, Delivery, DeliveryState
from adapters.loopback.core.store import Store

TIMEOUT_S = 10.0
"""GitHub hangs up after this long."""

REORDER_WINDOW_S = 0.2
"""How long the sender collects before it turns the order of a batch round."""


class Sender:
    """Sends what waits in the outbox. Runs until cancelled; `wake` is cheap and may be called at any time."""

    def __init__(self, store: Store, hook: str | None) -> None:
        self._store = store
        self._hook = hook
        self._waiting = asyncio.Event()

    def wake(self) -> None:
        """There may be something to send."""
        self._waiting.set()

    async def run(self) -> None:
        """Send until cancelled."""
        async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as client:
            while True:
                self._waiting.clear()
                delivery = await self._next()
                if delivery is None:
                    await self._waiting.wait()
                else:
                    await self._send(client, delivery)

    async def _next(self) -> Delivery | None:
        waiting = await self._find_waiting()
        if waiting and waiting[0].reorder:
            await asyncio.sleep(REORDER_WINDOW_S)
            batch = [delivery for delivery in await self._find_waiting() if delivery.reorder]
            return batch[-1]
        return waiting[0] if waiting else None

    async def _find_waiting(self) -> list[Delivery]:
        # Between turns: what an unfinished turn recorded may yet be undone.
        async with self._store.between_turns() as state:
            return [one for one in state.deliveries if one.state is DeliveryState.WAITING]

    async def _send(self, client: httpx.AsyncClient, delivery: Delivery) -> None:
        app = self._store.state.app
        if self._hook is None or app is None:
            return
        body = self._store.body_file(delivery.body_of).read_bytes()
        started = time.monotonic()
        try:
            answer = await client.post(self._hook, content=body, headers=_headers(delivery, app, body))
            code, status, text = answer.status_code, answer.reason_phrase or str(answer.status_code), answer.text[:2000]
        except httpx.TimeoutException:
            code, status, text = 0, "timed out", ""
        except httpx.HTTPError:
            code, status, text = 0, "failed to connect to host", ""
        await self._keep(delivery.id, code, status, (text, time.monotonic() - started))

    async def _keep(self, delivery_id: int, code: int, status: str, rest: tuple[str, float]) -> None:
        async with self._store.turn():
            # Found anew: the document may have been replaced while the answer was awaited.
            for one in self._store.state.deliveries:
                if one.id == delivery_id:
                    one.state, one.status_code, one.status = DeliveryState.SENT, code, status
                    one.response, one.duration = rest
                    one.delivered_at = self._store.now()


def _headers(delivery: Delivery, app: App, body: bytes) -> dict[str, str]:
    secret = app.webhook_secret + ("-wrong" if delivery.bad_signature else "")
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": f"GitHub-Hookshot/{app.id:07x}",
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Hook-ID": str(app.id),
        "X-GitHub-Hook-Installation-Target-ID": str(app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature-256": f"sha256={digest}",
    }
