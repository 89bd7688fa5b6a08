"""The stories a sweep is disturbed in: what people do, and how it ends. Together they reach every activity."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from adapters.loopback.drive.requests import NewPush, NewReview, PullAct
from adapters.loopback.drive_client import DriveClient
from sweeper.model import Outcome
from tests.support.ledger_file import LedgerFile
from tests.support.red_run import MAINTAINER

FIRST_PULL = 1


@dataclass(frozen=True)
class People:
    """They look at GitHub and act there; only the operator talks to the sweep itself."""

    drive: DriveClient
    ledger: LedgerFile
    repository: str
    cancel: Callable[[], Awaitable[None]]

    async def reviews(self, state: str, body: str = "") -> None:
        """The maintainer's word on the proposal."""
        word = {"repo": self.repository, "pr": FIRST_PULL, "user": MAINTAINER, "state": state, "body": body}
        await self.drive.review(NewReview.model_validate(word))

    async def pushes(self) -> None:
        """Somebody works on the target meanwhile."""
        files: dict[str, str | None] = {"other.txt": "unrelated\n"}
        await self.drive.push(NewPush(repo=self.repository, branch="main", files=files, user=MAINTAINER))

    async def closes(self) -> None:
        """The maintainer does not want the proposal."""
        await self.drive.close_pull(PullAct(repo=self.repository, pr=FIRST_PULL, user=MAINTAINER))


async def _approve(people: People) -> None:
    await people.ledger.has("pull.create")
    await people.reviews("APPROVED")


async def _ask_for_more(people: People) -> None:
    await people.ledger.has("pull.create")
    await people.reviews("CHANGES_REQUESTED", "say please")
    await people.ledger.has("comment.create")
    await people.reviews("APPROVED")


async def _move_the_target(people: People) -> None:
    await people.ledger.has("pull.create")
    await people.pushes()
    await people.reviews("APPROVED")


async def _cancel(people: People) -> None:
    await people.ledger.has("pull.create")
    await people.cancel()


async def _close(people: People) -> None:
    await people.ledger.has("pull.create")
    await people.closes()


@dataclass(frozen=True)
class Scenario:
    """A story. `settings`: what the sweep is started with beyond the usual."""

    name: str
    outcome: Outcome
    play: Callable[[People], Awaitable[None]]
    settings: Mapping[str, object] = field(default_factory=dict)


SCENARIOS = (
    Scenario("merged", Outcome.MERGED, _approve),
    Scenario("reworked", Outcome.MERGED, _ask_for_more),
    Scenario("rebased", Outcome.MERGED, _move_the_target),
    Scenario("cancelled", Outcome.CANCELLED, _cancel),
    Scenario("closed", Outcome.CLOSED, _close),
)
"""An activity is disturbed in the first story that reaches it."""


def scenario(name: str) -> Scenario:
    """By its name."""
    return next(one for one in SCENARIOS if one.name == name)
