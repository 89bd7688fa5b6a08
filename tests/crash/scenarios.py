"""The stories a sweep is disturbed in: what people do, and how it ends. Together they reach every activity."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from adapters.loopback.drive.answers import LedgerCall
from adapters.loopback.drive.requests import NewPush, NewReview, PullAct
from adapters.loopback.drive_client import DriveClient
from adapters.models.recorded.script import Script
from sweeper.model import Outcome, RunRef
from tests.support.ledger_file import LedgerFile
from tests.support.recorded_models import says
from tests.support.red_run import FAILED, MAINTAINER, RUNNER_LOST, STEPS, green_at_last

FIRST_PULL = 1


@dataclass(frozen=True)
class People:
    """They look at GitHub and act there; only the operator talks to the sweep itself."""

    drive: DriveClient
    ledger: LedgerFile
    run: RunRef
    cancel: Callable[[], Awaitable[None]]
    fails_again: Callable[[str], Awaitable[str]]
    """CI fails once more, at that step; the answer is the id of the new run's sweep."""
    ends: Callable[[str], Awaitable[None]]
    """Wait for that sweep's end."""

    @property
    def repository(self) -> str:
        """Whose run it is."""
        return self.run.repository

    async def reviews(self, state: str, body: str = "") -> None:
        """The maintainer's word on the proposal."""
        word = {"repo": self.repository, "pr": FIRST_PULL, "user": MAINTAINER, "state": state, "body": body}
        await self.drive.review(NewReview.model_validate(word))

    async def pushes(self) -> None:
        """Somebody works on the target meanwhile."""
        files: dict[str, str | None] = {"other.txt": "unrelated\n"}
        await self.drive.push(NewPush(repo=self.repository, branch="main", files=files, user=MAINTAINER))

    async def passes(self) -> None:
        """CI has run the failed jobs again, and they pass."""
        await green_at_last(self.drive, self.run)

    async def closes(self, pull: int = FIRST_PULL) -> None:
        """The maintainer does not want the proposal."""
        await self.drive.close_pull(PullAct(repo=self.repository, pr=pull, user=MAINTAINER))


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


async def _give_up(people: People) -> None:
    """Once she was asked, or GitHub did not let us ask her, and we have looked at the reviews since: who is asked does
    not answer in the same instant.
    """
    await people.ledger.until(_was_asked_and_seen)
    await people.reviews("CHANGES_REQUESTED", "say please")


def _was_asked_and_seen(calls: list[LedgerCall]) -> bool:
    asked = [n for n, call in enumerate(calls) if _asks_reviewers(call)]
    return bool(asked) and any(call.path.endswith("/reviews") for call in calls[asked[0] + 1 :])


def _asks_reviewers(call: LedgerCall) -> bool:
    is_decided = call.effect is not None or call.status == HTTPStatus.UNPROCESSABLE_ENTITY
    return call.method == "POST" and call.path.endswith("/requested_reviewers") and is_decided


async def _watch(people: People) -> None:
    """Nobody does anything."""


async def _fail_again(people: People) -> None:
    await people.ledger.has("pull.create")
    await people.ends(await people.fails_again(STEPS[0]))
    await people.reviews("APPROVED")


async def _queue(people: People) -> None:
    """Another cause on the same branch: it has to wait for its turn, which comes when the first is proposed."""
    await people.ledger.has("check.create")
    other = await people.fails_again(STEPS[1])
    await people.ledger.has("pull.create", times=2)
    await people.closes(FIRST_PULL + 1)
    await people.ends(other)
    await people.reviews("APPROVED")


async def _pass_when_run_again(people: People) -> None:
    await people.ledger.has("run.rerun")
    await people.passes()


@dataclass(frozen=True)
class Scenario:
    """A story. `log`: what the failing job says; `settings` and `tries` of each activity: what the sweep is begun with
    beyond the usual; `faults`: of GitHub's list of pull requests; `keeps`: its branch and its proposal are to stay.
    """

    name: str
    outcome: Outcome
    play: Callable[[People], Coroutine[Any, Any, None]]
    settings: Mapping[str, object] = field(default_factory=dict)
    tries: int = 20
    faults: tuple[Mapping[str, object], ...] = ()
    keeps: bool = False
    log: str = FAILED

    @property
    def is_plain(self) -> bool:
        """Whether it needs nothing but what people do, so that a webhook can start it."""
        return not self.settings and not self.faults


_MAKE = {"method": "POST", "path": "$"}
_LOOK_FOR_OURS = {"method": "GET", "path": r"\?.*state=all"}
"""Pull requests are listed for other reasons, too; only who looks for our own asks for closed ones as well."""

_LOSE_THE_ANSWER = (
    {**_MAKE, "kind": "502", "when": "after"},
    {**_LOOK_FOR_OURS, "kind": "503", "nth": 2},
)
"""The pull request is made, its answer is lost, and it cannot be looked for until the tries are used up."""

_TAKE_LONG = tuple({**call, "kind": "slow", "seconds": 13} for call in (_LOOK_FOR_OURS, _MAKE))
"""Each shorter than a call may take, together longer than a target waits before it looks whether who is in lives."""


WHAT_A_MODEL_SAYS = Script(
    turns=(
        says("list_files"),
        says("search_files", pattern="bad"),
        says("read_file", path="file.txt"),
        says("write_file", path="note.txt", content="bad is not good\n"),
        says("edit_file", path="file.txt", old="bad", new="good"),
        says("delete_file", path="note.txt"),
        says("run_check", check="check"),
        says("finish", cause="it was bad", change="it is good now", risk="none", confidence="high"),
    )
)
"""With each of its tools in turn."""

SCENARIOS = (
    Scenario("merged", Outcome.MERGED, _approve),
    Scenario("reworked", Outcome.MERGED, _ask_for_more),
    Scenario("rebased", Outcome.MERGED, _move_the_target),
    Scenario("cancelled", Outcome.CANCELLED, _cancel),
    Scenario("closed", Outcome.CLOSED, _close),
    Scenario("escalated", Outcome.ESCALATED, _give_up, {"max_attempts": 1, "reviewers": (MAINTAINER,)}, keeps=True),
    Scenario("lost", Outcome.ESCALATED, _watch, tries=2, faults=_LOSE_THE_ANSWER),
    Scenario("joined", Outcome.MERGED, _fail_again),
    Scenario("rerun", Outcome.INFRASTRUCTURE, _pass_when_run_again, log=RUNNER_LOST),
    Scenario("modelled", Outcome.MERGED, _approve, {"agents": ("llm",)}),
    Scenario("queued", Outcome.MERGED, _queue, faults=_TAKE_LONG),
)
"""An activity is disturbed in the first story that reaches it."""


def scenario(name: str) -> Scenario:
    """By its name."""
    return next(one for one in SCENARIOS if one.name == name)
