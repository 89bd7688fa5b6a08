"""The outbox: deliveries are recorded in the state document in the same turn as what caused them.

So a kill between an effect and its webhook loses nothing: the sender goes on with what is waiting after a restart.
How a delivery is treated is decided when it is recorded, by the hook mode of that moment.
"""

import json
import uuid
from dataclasses import dataclass

from adapters.loopback.core.refusals import not_found
from adapters.loopback.core.state import Delivery, DeliveryState, HookMode
from adapters.loopback.core.store import Store
from adapters.loopback.shapes.view import Json

MAX_BODY = 25 * 1024 * 1024
"""GitHub never sends a larger payload."""


@dataclass(frozen=True)
class Event:
    """Something that happened: GitHub's event name and body (whose `action` is part of it).

    `wanted` False: the app is suspended or not installed there, so GitHub sends it nothing.
    """

    name: str
    repository_id: int | None
    body: Json
    wanted: bool = True


class Outbox:
    """Records deliveries. `hook` None: nobody to send to, everything is undeliverable."""

    def __init__(self, store: Store, hook: str | None) -> None:
        self._store = store
        self.hook = hook

    def put(self, event: Event) -> str:
        """Record an event and how its delivery is treated; the answer is its guid."""
        guid = str(uuid.uuid4())
        body = json.dumps(event.body, separators=(",", ":"))
        self._store.body_file(guid).write_text(body)
        mode = self._store.state.hook_mode
        state = self._fate(mode) if event.wanted and len(body) <= MAX_BODY else DeliveryState.UNDELIVERABLE
        self._record(event, guid, guid, state)
        if mode is HookMode.DUPLICATE:
            self._record(event, guid, guid, state)
        if mode is HookMode.DUPLICATE_NEW_GUID:
            self._record(event, str(uuid.uuid4()), guid, state)
        return guid

    def _record(self, event: Event, guid: str, body_of: str, state: DeliveryState) -> None:
        action, mode = event.body.get("action"), self._store.state.hook_mode
        self._store.state.deliveries.append(
            Delivery(
                id=self._store.new_id(),
                guid=guid,
                body_of=body_of,
                event=event.name,
                action=action if isinstance(action, str) else None,
                repository_id=event.repository_id,
                state=state,
                bad_signature=mode is HookMode.BAD_SIGNATURE,
                reorder=mode is HookMode.REORDER,
                created_at=self._store.now(),
            )
        )

    def _fate(self, mode: HookMode) -> DeliveryState:
        if self.hook is None:
            return DeliveryState.UNDELIVERABLE
        return {HookMode.HOLD: DeliveryState.HELD, HookMode.DROP: DeliveryState.DROPPED}.get(
            mode, DeliveryState.WAITING
        )

    def set_mode(self, mode: HookMode) -> None:
        """Change the treatment of what comes; `release` also sends what was held, in its order."""
        if mode is HookMode.RELEASE:
            for delivery in self._store.state.deliveries:
                if delivery.state is DeliveryState.HELD:
                    delivery.state = DeliveryState.WAITING
            mode = HookMode.NORMAL
        self._store.state.hook_mode = mode

    def redeliver(self, guid: str) -> Delivery:
        """Send the event again, same guid, same body. Raises Refused 404 for a guid nobody knows."""
        known = next((one for one in self._store.state.deliveries if one.guid == guid), None)
        if known is None:
            raise not_found(f"no event has the guid {guid}")
        again = known.model_copy(
            update={
                "id": self._store.new_id(),
                "state": self._fate(HookMode.NORMAL),
                "redelivery": True,
                "bad_signature": False,
                "reorder": False,
                "created_at": self._store.now(),
                "delivered_at": None,
                "duration": 0.0,
                "status_code": 0,
                "status": "",
                "response": "",
            }
        )
        self._store.state.deliveries.append(again)
        return again
