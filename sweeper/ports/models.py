"""The only network of a command agent: one model of the operator's choice, through a process of ours."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sweeper.model import Allowance, Spent


class ModelDoor(Protocol):
    """An open door for one try of an agent. The real key is added outside; inside nobody needs one."""

    @property
    def directory(self) -> str:
        """For `SandboxRun.gate`."""
        ...

    @property
    def url(self) -> str:
        """Where the model is found inside, without a path; clients of both kinds put `/v1/...` behind it."""
        ...

    @property
    def spent(self) -> Spent:
        """What this try has used up to now. Where an answer did not say its tokens, they are reckoned from its size."""
        ...

    @property
    def refused(self) -> tuple[str, ...]:
        """What was asked for and is not given here, each once, at most a few."""
        ...

    @property
    def trouble(self) -> str | None:
        """One sentence on why the model was not answering any more, without its full stop."""
        ...

    @property
    def is_used_up(self) -> bool:
        """Whether a question was turned away because the allowance is used up."""
        ...


class ModelDoors(Protocol):
    """Doors to the configured model. Opening twice is safe."""

    @property
    def provider(self) -> str:
        """Whose protocol is spoken: `anthropic` or `openai`."""
        ...

    @property
    def model(self) -> str:
        """The only model there is, whatever is asked for."""
        ...

    def spent(self, key: str) -> Spent:
        """What was spent under this key up to now."""
        ...

    def open(self, key: str, allowance: Allowance) -> AbstractAsyncContextManager[ModelDoor]:
        """It answers until the allowance is used up. Raises BadInput where money is bounded without a price.

        `key`: whose try it is. What was spent under the same key before, by a worker that was killed, counts.
        """
        ...
