"""The smallest red run there is: one file, one check that wants it good, one person who may write."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.loopback.core.state import Permission
from adapters.loopback.drive.requests import Conclusion, NewJob, NewRepo, NewRun, NewStep, NewUser
from adapters.loopback.drive_client import DriveClient
from sweeper.model import RunRef

MAINTAINER = "ada"
STEPS = ("Look", "Look again")
_JOBS = dict(zip(STEPS, ("check", "check-again"), strict=True))
"""What can fail: either step by itself."""
AGENT = "sed -i s/bad/good/ file.txt; if grep -q 'say please' \"$SWEEPER_TASK\"; then echo please >> file.txt; fi"
"""Mends what fails, and does what a reviewer asks for."""
FAILED = "##[error]Process completed with exit code 1.\n"
RUNNER_LOST = (
    "##[error]The runner has received a shutdown signal. This can happen when the runner service is stopped, or a"
    " manually started runner is canceled.\n"
)
"""What a job's log says."""
_PATH = ".github/workflows/ci.yml"
_WORKFLOW = """\
name: ci
on: push
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - name: Look
        run: grep -q good file.txt
  check-again:
    runs-on: ubuntu-latest
    steps:
      - name: Look again
        run: grep -q good file.txt
"""


@dataclass(frozen=True)
class RedRun:
    """The run, and the guid of the webhook that tells of its end."""

    ref: RunRef
    delivery: str


async def red_run(
    drive: DriveClient, repository: str, more: Mapping[str, str] | None = None, log: str = FAILED
) -> RedRun:
    """Make the repository, with `more` files, and let its CI fail with that log; the webhook is on its way."""
    files = {"file.txt": "bad\n", _PATH: _WORKFLOW, **(more or {})}
    made = await drive.repo(NewRepo(name=repository, files=files))
    await drive.user(NewUser(login=MAINTAINER, permission=Permission.WRITE))
    return await _fails(drive, RunRef(repository=repository, repository_id=made.id, run_id=0), log=log)


async def red_again(drive: DriveClient, former: RedRun, failing: str = STEPS[0]) -> RedRun:
    """Another run fails; at the same step it is for the same cause."""
    return await _fails(drive, former.ref, failing)


async def green_at_last(drive: DriveClient, red: RunRef) -> None:
    """The attempt that somebody asked for passes; without that there is a new one."""
    step = NewStep(name=STEPS[0], conclusion="success")
    job = NewJob(name=_JOBS[STEPS[0]], conclusion="success", steps=[step])
    await drive.run(_report(red, "success", job).model_copy(update={"run_id": red.run_id}))


async def _fails(drive: DriveClient, where: RunRef, failing: str = STEPS[0], log: str = FAILED) -> RedRun:
    step = NewStep(name=failing, conclusion="failure")
    job = NewJob(name=_JOBS[failing], conclusion="failure", steps=[step], log=log)
    run = await drive.run(_report(where, "failure", job))
    ref = where.model_copy(update={"run_id": run.run_id, "run_attempt": run.attempt})
    return RedRun(ref, run.deliveries[-1])


def _report(where: RunRef, conclusion: Conclusion, job: NewJob) -> NewRun:
    return NewRun(
        repo=where.repository,
        branch="main",
        workflow_path=_PATH,
        event="push",
        conclusion=conclusion,
        jobs=[job],
    )
