"""What `demo` and `try` have in common: following a sweep, playing CI and reviewer, counting effects."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from adapters.loopback.drive.requests import NewJob, NewReview, NewRun
from sweeper.cli.command import people
from sweeper.cli.stage import Stage
from sweeper.errors import NotFound, OutOfReach
from sweeper.model import Step
from sweeper.ports import SweepView
from sweeper.reporting import ShowReport, show_report

LOOK_EVERY = 0.2
PATIENCE = 300.0
REVIEWER = "mia"


class Story:
    """One sweep on a stage, told as it goes on."""

    def __init__(self, on: Stage, repository: str, sweep_id: str) -> None:
        self.stage = on
        self.repository = repository
        self.sweep_id = sweep_id
        self._began = time.monotonic()
        self._told: Step | None = None

    def say(self, text: str, style: str = "") -> None:
        """A line with the time since the story began."""
        people.print(f"{time.monotonic() - self._began:6.1f} s  {text}", style=style, markup=False, soft_wrap=True)

    async def until(self, reached: Callable[[SweepView], bool]) -> SweepView:
        """Tell each step until the sweep is where it should be, or has ended. Raises OutOfReach after some minutes."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    view = await self._view()
                    if view is not None and (reached(view) or not view.is_open):
                        return view
                    await asyncio.sleep(LOOK_EVERY)
        except TimeoutError:
            words = self.stage.worker.last_words()[-300:]
            raise OutOfReach(
                f"The sweep did not get on within {PATIENCE:.0f} s; the worker's last words: {words}"
            ) from None

    async def _view(self) -> SweepView | None:
        """Where it is; None before it began. Each step is told once."""
        found = next((view for view in await self.stage.sweeps.list(20) if view.id == self.sweep_id), None)
        if found is not None and found.checkpoint.current_step is not self._told:
            self._told = found.checkpoint.current_step
            self.say(self._told.value, "cyan")
        return found

    async def report(self) -> ShowReport:
        """The whole story so far."""
        return show_report(await self.stage.sweeps.show(self.sweep_id))

    async def waits_for_review(self) -> ShowReport:
        """Until a human is asked; or the sweep has ended without."""
        await self.until(lambda view: view.checkpoint.current_step is Step.AWAIT_REVIEW)
        return await self.report()

    async def proposal_ci_passes(self, branch: str, workflow_path: str) -> None:
        """CI of the proposal, played by the loopback: green."""
        await self.stage.drive.run(
            NewRun(
                repo=self.repository,
                branch=branch,
                workflow_path=workflow_path,
                event="pull_request",
                conclusion="success",
                jobs=[NewJob(name="ci", conclusion="success")],
            )
        )

    async def reviewed(self, number: int, *, ask: bool) -> SweepView:
        """A human's turn, in the browser or by Enter. Without `ask` the demo reviewer approves at once."""
        page = f"{self.stage.info.page_url}/{self.repository}/pull/{number}"
        if ask:
            self.say(f"Review it in the browser: {page}", "bold")
            self.say(f"or press Enter to approve as {REVIEWER}.", "bold")
            async with _enter_pressed() as enter:
                ended = asyncio.ensure_future(self.until(lambda view: not view.is_open))
                both: set[asyncio.Future[Any]] = {ended, enter}
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                if ended.done():
                    return ended.result()
                ended.cancel()
        await self.stage.drive.review(
            NewReview(repo=self.repository, pr=number, user=REVIEWER, state="APPROVED", body="Looks right to me.")
        )
        self.say(f"{REVIEWER} approved pull request #{number} ({page})", "green")
        return await self.until(lambda view: not view.is_open)


@asynccontextmanager
async def _enter_pressed() -> AsyncIterator["asyncio.Future[None]"]:
    loop = asyncio.get_running_loop()
    pressed: asyncio.Future[None] = loop.create_future()

    def read() -> None:
        line = sys.stdin.readline()
        if not line:  # the end of the input is no answer: only the browser can give one now
            loop.remove_reader(sys.stdin.fileno())
        elif line.strip():
            people.print("Only Enter alone approves; to say no, use the page.", markup=False)
        elif not pressed.done():
            pressed.set_result(None)

    loop.add_reader(sys.stdin.fileno(), read)
    try:
        yield pressed
    finally:
        loop.remove_reader(sys.stdin.fileno())


def is_terminal() -> bool:
    """Whether a human can answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def free_name(on: Stage, wanted: str) -> str:
    """`wanted`, or with a number behind it if an earlier story took it."""
    taken = {repo.name for repo in (await on.drive.world()).repos}
    names = [wanted, *(f"{wanted}-{n}" for n in range(2, len(taken) + 3))]
    found = next((name for name in names if name not in taken), None)
    if found is None:
        raise NotFound(f"No free name like {wanted} was found; choose another SWEEPER_STATE_DIR.")
    return found
