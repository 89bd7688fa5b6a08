"""`sweeper try`: the whole story on any local repository and any failing command.

The given repository is never written to: its files are taken over into a repository of our own.
"""

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sweeper.cli.command import JsonOption, answer, people, run
from sweeper.config import AGENTS, Settings, StateDir, load_settings, private_room
from sweeper.errors import BadInput
from sweeper.model import CheckResult, Effect, Outcome, Strict, VerdictKind
from sweeper.reporting import is_good

if TYPE_CHECKING:  # loaded by the command that needs them
    from sweeper.cli.stage import Stage
    from sweeper.cli.story import Story
    from sweeper.reporting import ShowReport
    from worktrees.borrow import Borrowed

PROPOSED = "proposed"
WORKFLOW_PATH = ".github/workflows/check.yml"
UNSANDBOXED = "none"
"""What a result says of its sandbox when there was none."""


class TryReport(Strict):
    """How the try went. `outcome` is the sweep's, or `proposed` when nobody was asked to approve."""

    outcome: str
    reason: str
    verdict: VerdictKind | None = None
    patch_file: str | None = None
    effects: tuple[Effect, ...] = ()
    pull_request: str | None = None


@dataclass(frozen=True)
class Wish:
    """What the person at the terminal asked for."""

    path: Path
    check: str
    agents: tuple[str, ...]
    fix: str | None
    approve: bool
    unsandboxed: bool


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("try")(try_)


def try_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A local git repository; it is never written to.")],
    check: Annotated[str, typer.Option("--check", metavar="CMD", help="The command that fails.")],
    fix: Annotated[
        str | None, typer.Option("--fix", metavar="CMD", help="Command that mends it: any coding agent.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", help="autofix (the default without --fix), command or llm.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve without asking.")] = False,
    unsandboxed: Annotated[
        bool, typer.Option("--unsandboxed", help="Run the commands without isolation if there is no sandbox.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Fix any failing command of any local repository; the fix comes out as a pull request page and a patch file."""
    run(_try(_wish(path, check, fix, agent, yes, unsandboxed), as_json), as_json)


def _wish(path: Path, check: str, fix: str | None, agent: str | None, yes: bool, unsandboxed: bool) -> Wish:
    chosen = agent or ("command" if fix else "autofix")
    if not check.strip():
        raise typer.BadParameter("an empty command checks nothing; give the one that fails", param_hint="--check")
    if chosen not in AGENTS:
        raise typer.BadParameter(
            f"there is no agent {chosen!r}; choose one of {', '.join(AGENTS)}", param_hint="--agent"
        )
    if chosen == "autofix" and fix:
        raise typer.BadParameter("--fix belongs to the agent `command`; leave out one of the two", param_hint="--agent")
    return Wish(path=path, check=check, agents=(chosen,), fix=fix, approve=yes, unsandboxed=unsandboxed)


async def _try(wish: Wish, as_json: bool) -> int:
    settings = load_settings(use_working_directory=False)
    if "command" in wish.agents and not (wish.fix or settings.agent_preset):
        raise BadInput("The agent `command` needs a command line; give one with --fix, or set SWEEPER_AGENT_PRESET.")
    if wish.fix is None:
        from sweeper.cli.agents_needed import require_agents

        require_agents(settings.model_copy(update={"agents": wish.agents}))
    with _workshop(settings) as root:
        report = await _worked_on(wish, settings, root)
    if as_json:
        answer(report)
    else:
        _tell(report)
    if report.outcome == Outcome.ESCALATED and wish.agents == ("autofix",):
        people.print("What autofix cannot mend, a coding agent may: give its command line with --fix.", soft_wrap=True)
    return 0 if report.outcome == PROPOSED or is_good(Outcome(report.outcome)) else 1


@contextmanager
def _workshop(settings: Settings) -> Iterator[Path]:
    """A directory of this try alone; nothing of it is left but the patch file."""
    root = private_room(settings, "try", f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}")
    with (root / "in-use").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for abandoned in root.parent.iterdir():
            _clear_if_unused(abandoned)
        try:
            yield root
        finally:
            _clear(root)


def _clear_if_unused(root: Path) -> None:
    """A try that was killed leaves its directory; whoever comes next tidies up. The lock ends with its holder."""
    with contextlib.suppress(OSError), (root / "in-use").open("r") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _clear(root)


def _clear(root: Path) -> None:
    """Everything but the patch."""
    for place in root.iterdir():
        if place.suffix != ".patch":
            _remove(place)
    if not any(root.iterdir()):
        root.rmdir()


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


async def _worked_on(wish: Wish, settings: Settings, root: Path) -> TryReport:
    from worktrees.borrow import borrow

    borrowed = await borrow(wish.path, root / "borrowed.git")
    from sweeper.cli.preflight import run_check  # loaded once it is needed: most mistakes are in the path

    if borrowed.is_dirty:
        people.print("Uncommitted changes are taken along as they lie there.", style="yellow")
    allow_unsandboxed = wish.unsandboxed or settings.allow_unsandboxed
    result = await run_check(wish.check, borrowed, root, allow_unsandboxed=allow_unsandboxed)
    if result.is_green:
        return TryReport(outcome=Outcome.NOT_REPRODUCED, reason=f"{wish.check!r} passes: nothing to fix")
    where = "without a sandbox" if result.sandbox == UNSANDBOXED else "in the sandbox, which has no network"
    people.print(f"{wish.check!r} fails with exit code {result.exit_code} {where}.", markup=False, soft_wrap=True)
    people.print(result.excerpt.strip(), style="dim", markup=False, soft_wrap=True)
    overrides: dict[str, object] = {
        "agents": wish.agents,
        "agent_command": wish.fix,
        **_model_of(settings, with_preset=not wish.fix),
        "checks": (wish.check,),
        "merge_mode": "merge",
        "checks_grace": timedelta(0),
        "poll_interval": timedelta(seconds=10),
        "allow_unsandboxed": allow_unsandboxed,
    }
    from sweeper.cli.stage import stage

    async with stage(root, overrides) as on:
        return await _play(on, wish, borrowed, result, root)


def _model_of(settings: Settings, *, with_preset: bool) -> dict[str, object]:
    """The operator's model and coding agent, for the agents that need one."""
    names = ("model", "model_url", "model_key", "model_providers", "agent_path")
    kept = {name: getattr(settings, name) for name in names}
    return {**kept, "agent_preset": settings.agent_preset if with_preset else None}


async def _play(on: "Stage", wish: Wish, borrowed: "Borrowed", red: CheckResult, root: Path) -> TryReport:
    from sweeper.cli.story import is_terminal

    story = await _red_run(on, wish, borrowed, red)
    report = await story.waits_for_review()
    if report.proposal is None or report.outcome is not None:
        return _report(report, None)
    patch_file = await _write_patch(root, report.run.repository_id, report)
    if not wish.approve and not is_terminal():
        return _report(report, patch_file)
    await story.reviewed(report.proposal.number, ask=not wish.approve)
    report = await story.report()  # a review may have changed the fix
    return _report(report, await _write_patch(root, report.run.repository_id, report) or patch_file)


async def _red_run(on: "Stage", wish: Wish, borrowed: "Borrowed", red: CheckResult) -> "Story":
    from adapters.loopback.drive.requests import NewJob, NewRepo, NewRun, NewStep, NewUser
    from sweeper import ids
    from sweeper.cli.story import REVIEWER, Story, free_name
    from sweeper.model import RunRef

    name = await free_name(on, f"local/{_repository_name(wish.path)}")
    made = await on.drive.repo(NewRepo(name=name, path=str(borrowed.path), default_branch=borrowed.branch))
    await on.drive.user(NewUser(login=REVIEWER, permission="write"))
    step = NewStep(name=f"Run {wish.check.splitlines()[0]}"[:200], conclusion="failure")
    job = NewJob(name="check", conclusion="failure", steps=[step], log=_log(wish.check, red))
    run_made = await on.drive.run(
        NewRun(
            repo=name,
            branch=borrowed.branch,
            workflow_path=WORKFLOW_PATH,
            event="push",
            attempt=2,  # nobody is here to run it again, and it has just been seen to fail
            conclusion="failure",
            jobs=[job],
        )
    )
    ref = RunRef(repository=name, repository_id=made.id, run_id=run_made.run_id, run_attempt=run_made.attempt)
    story = Story(on, name, ids.sweep_id(ref, on.info.url))
    story.say(f"{name}: the check is red", "bold")
    return story


def _repository_name(path: Path) -> str:
    name = "".join(char if char.isalnum() or char in "._-" else "-" for char in path.absolute().name).strip(".-")
    return name or "repository"


def _log(check: str, red: CheckResult) -> str:
    header = f"##[group]Run {check}\n##[endgroup]"
    return f"{header}\n{red.excerpt}\n##[error]Process completed with exit code {red.exit_code}.\n"


async def _write_patch(root: Path, repository_id: int, report: "ShowReport") -> str | None:
    """The proposal's diff, byte for byte, where it outlives this command."""
    from worktrees.store import WorktreeStore

    if report.proposal is None or report.failing_sha is None:
        return None
    store = WorktreeStore(StateDir(root).worktrees, "patch")
    diff = await store.diff(repository_id, report.failing_sha, report.proposal.head_sha)
    place = root / f"{report.run.repository.partition('/')[2]}.patch"
    place.write_bytes(diff)
    return str(place)


def _report(report: "ShowReport", patch_file: str | None) -> TryReport:
    last = report.attempts[-1] if report.attempts else None
    return TryReport(
        outcome=report.outcome.value if report.outcome else PROPOSED,
        reason=report.reason or "a verified fix is proposed",
        verdict=last.verdict if last else None,
        patch_file=patch_file,
        effects=report.effects,
        pull_request=report.proposal.url if report.proposal else None,
    )


def _tell(report: TryReport) -> None:
    people.print(f"{report.outcome}: {report.reason}", style="bold", markup=False, soft_wrap=True)
    for effect in report.effects:
        people.print(f"  {effect.name}: {effect.state.value}", markup=False)
    if report.patch_file:
        people.print(
            f"The fix as a patch: {report.patch_file} (git apply it in your repository)", markup=False, soft_wrap=True
        )
