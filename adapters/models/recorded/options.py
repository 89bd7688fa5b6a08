"""What starts a recorded model, and what it tells when it is ready."""

from pathlib import Path

from adapters.models.recorded.script import Script
from sweeper.model import Strict


class RecordedOptions(Strict):
    """`port` 0 takes a free one. Without `key` one is made at the first start and kept in the state directory."""

    script: Script
    state_dir: Path
    port: int = 0
    key: str | None = None


class RecordedInfo(Strict):
    """Where it listens and the key it expects; also written to `recorded.json` in the state directory, mode 0600.

    Clients of the Messages protocol take `url`, those of OpenAI's take `openai_url`.
    """

    url: str
    openai_url: str
    key: str
    ledger_url: str
    ledger_file: str
