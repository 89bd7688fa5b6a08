"""Telling an operator: a command of theirs with the alert as JSON on stdin, or an address it is posted to.

Sending twice is safe as far as we can make it so: the alert carries the same id.
"""

import asyncio
import logging
import os
import signal
from contextlib import suppress

import httpx
from pydantic import SecretStr

from sweeper.errors import BadInput, Transient
from sweeper.model.upkeep import Alert

COMMAND, URL = "command", "url"
SECONDS = 30.0
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ")
"""All an alert command sees of our environment: no setting of ours, so no secret."""

log = logging.getLogger(__name__)


class Alerts:
    """The Alerts port. The address may hold a secret, so no message names it."""

    def __init__(self, command: str | None, url: SecretStr | None, seconds: float = SECONDS) -> None:
        self._command = command
        self._url = url
        self._seconds = seconds

    @property
    def channels(self) -> tuple[str, ...]:
        """Those that are set up."""
        return tuple(name for name, there in ((COMMAND, self._command), (URL, self._url)) if there)

    async def send(self, alert: Alert, channel: str) -> None:
        """Raises Transient when the operator's side did not take it, BadInput for a channel that is not set up."""
        document = alert.model_dump_json().encode()
        if channel == COMMAND and self._command:
            await self._run(self._command, document)
        elif channel == URL and self._url:
            await self._post(self._url.get_secret_value(), document)
        else:
            raise BadInput(f"Alerts by {channel} are not set up on this worker; set SWEEPER_ALERT_{channel.upper()}.")

    async def _run(self, command: str, document: bytes) -> None:
        env = {name: os.environ[name] for name in _KEPT if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", command),
            env=env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self._seconds):
                await process.communicate(document)
        except TimeoutError:
            raise Transient(f"The alert command was not done within {self._seconds:g} s; make it quicker.") from None
        finally:
            await _end(process)
        if process.returncode != 0:
            raise Transient(f"The alert command ended with code {process.returncode}; it is tried again.")

    async def _post(self, url: str, document: bytes) -> None:
        try:
            async with httpx.AsyncClient(timeout=self._seconds) as http:
                answer = await http.post(url, content=document, headers={"Content-Type": "application/json"})
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Transient(
                f"The alert address cannot be reached ({type(error).__name__}); it is tried again."
            ) from None
        if not answer.is_success:
            raise Transient(f"The alert address answered {answer.status_code}; it is tried again.")


async def _end(process: asyncio.subprocess.Process) -> None:
    """The command and all it started; one that has ended is left alone."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
