"""Webhooks sent by hand: the very bytes that GitHub made, or would make, to any receiver."""

from dataclasses import dataclass
from typing import Self

import httpx

from sweeper.intake import Answer
from tests.support import payloads
from tests.support.service import SECRET, Case


@dataclass(frozen=True)
class Delivery:
    """One webhook, signed."""

    event: str
    guid: str
    body: bytes

    @classmethod
    def of(cls, case: Case) -> Self:
        """The one that told of the run's failure, as GitHub keeps it."""
        guid = case.red.delivery
        return cls("workflow_run", guid, (case.service.root / "github" / "bodies" / f"{guid}.json").read_bytes())

    def under(self, guid: str) -> "Delivery":
        """The same event as another delivery."""
        return Delivery(self.event, guid, self.body)

    async def to(self, url: str, http: httpx.AsyncClient) -> httpx.Response:
        """Deliver it to the receiver at that address."""
        signed = {"X-Hub-Signature-256": payloads.sign(self.body, SECRET)}
        headers = {**payloads.headers(self.event, self.guid), **signed}
        return await http.post(f"{url}/webhooks/github", content=self.body, headers=headers)


def said(response: httpx.Response) -> Answer:
    """What the receiver told; a refusal fails the test."""
    assert response.is_success, response.text
    return Answer.model_validate_json(response.content)
