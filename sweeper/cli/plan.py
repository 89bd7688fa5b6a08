"""`sweeper plan`: which commands would show a failure, and why these. Reads only; runs nothing."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sweeper.cli.command import JsonOption, answer, people, results, run
from sweeper.cli.failing_run import RunReader, harmless, require_repository, with_reader
from sweeper.errors import BadInput, Unverifiable
from sweeper.model import Check, CheckPlan, JobEvidence, RunFacts, RunRef, Strict

if TYPE_CHECKING:  # loaded by the command that needs it
    from sweeper.policy.repository_config import RepositoryConfig

WORKFLOWS = Path(".github") / "workflows"
MOST_BYTES = 1024 * 1024
_UNKNOWN_SHA = "0" * 40


class PlannedJobs(Strict):
    """The plan for failing jobs of one workflow file. `assumed`: nothing failed; it is as if `step` had."""

    workflow: str
    jobs: tuple[str, ...]
    step: str = ""
    assumed: bool = False
    plan: CheckPlan


class PlanReport(Strict):
    """What `plan --json` writes."""

    source: str
    plans: tuple[PlannedJobs, ...]

    @property
    def has_check(self) -> bool:
        """Whether there is anything to run."""
        return any(planned.plan.checks for planned in self.plans)


class Wanted(Strict):
    """Which jobs and steps of which file are asked for; None: all."""

    job: str | None = None
    step: str | None = None
    workflow: str | None = None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    source: Annotated[str, typer.Argument(metavar="PATH|OWNER/REPO", help="A local repository, or one on GitHub.")],
    run_id: Annotated[int | None, typer.Argument(metavar="[RUN_ID]", min=1, help="A failed run on GitHub.")] = None,
    job: Annotated[str | None, typer.Option("--job", metavar="NAME", help="Only this job, as GitHub shows it.")] = None,
    step: Annotated[
        str | None, typer.Option("--step", metavar="NAME", help="With PATH: the step that fails, else the last one.")
    ] = None,
    workflow: Annotated[
        str | None, typer.Option("--workflow", metavar="FILE", help="With PATH: only this workflow file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show which commands check a failing job, and why; nothing is run."""
    if run_id is None:
        run(_path(Path(source), Wanted(job=job, step=step, workflow=workflow), as_json), as_json)
    if step or workflow:
        raise typer.BadParameter("a run has its own failing step and workflow file", param_hint="--step, --workflow")
    require_repository(source)
    run(_run_of(source, run_id or 0, job, as_json), as_json)


async def _run_of(repository: str, run_id: int, job: str | None, as_json: bool) -> int:
    report = await with_reader(lambda reader: of_run(reader, repository, run_id, job))
    if not report.plans:
        people.print(f"No job of run {run_id} failed; there is nothing to check.", markup=False)
    code = _tell(report, as_json)
    return code if report.plans else 0


async def of_run(reader: RunReader, repository: str, run_id: int, job: str | None = None) -> PlanReport:
    """The plan a sweep of that run would make, one for all its failing jobs. Raises what the host raises."""
    failing = await reader.failing(repository, run_id, job)
    source = f"{failing.facts.run.repository} {run_id}"
    if not failing.jobs:
        return PlanReport(source=source, plans=())
    made = (await reader.understood(failing)).plan
    names = tuple(each.job.name for each in failing.jobs)
    return PlanReport(source=source, plans=(PlannedJobs(workflow=failing.facts.workflow_path, jobs=names, plan=made),))


def of_path(path: Path, wanted: Wanted) -> PlanReport:
    """The plan for each job of a local repository. Raises BadInput for what is not there or cannot be read."""
    from sweeper.policy.planning.assumed import chosen
    from sweeper.policy.repository_config import CONFIG_PATH, read_config

    config_file = path / CONFIG_PATH
    config = read_config(_content(config_file) if config_file.is_file() else None)
    plans: list[PlannedJobs] = []
    jobs: list[JobEvidence] = []
    for file in _workflow_files(path, wanted.workflow):
        for evidence, planned in _of_file(file, path, config, wanted.step):
            plans.append(planned)
            jobs.append(evidence)
    if wanted.job is not None:
        names = {evidence.job.name for evidence in chosen(jobs, wanted.job)}
        plans = [planned for planned in plans if names & {*planned.jobs}]
    if wanted.step is not None and not plans:
        raise BadInput(f"No job has a step {wanted.step!r}; give its name as GitHub shows it, like 'Run pytest'.")
    return PlanReport(source=str(path), plans=tuple(plans))


def _workflow_files(path: Path, wanted: str | None) -> list[Path]:
    if not path.is_dir():
        raise BadInput(f"{path} is no directory; give a local repository, or OWNER/REPO and a run id.")
    found = sorted(file for file in (path / WORKFLOWS).glob("*.y*ml") if file.is_file())
    if wanted is not None:
        found = [file for file in found if file.name == Path(wanted).name]
    if not found:
        what = f"no workflow file {wanted}" if wanted else "no workflow file"
        raise BadInput(f"There is {what} in {path / WORKFLOWS}; nothing says how this repository is checked.")
    return found


def _of_file(
    file: Path, path: Path, config: "RepositoryConfig", step: str | None
) -> Iterator[tuple[JobEvidence, PlannedJobs]]:
    from sweeper.policy.planning import check_plan
    from sweeper.policy.planning.assumed import assumed_failures

    content, facts = _content(file), _push_to(path)
    name = (WORKFLOWS / file.name).as_posix()
    try:
        found = assumed_failures(content, facts, step)
    except Unverifiable as problem:
        raise BadInput(f"{name} cannot be read: {problem}; correct it, or name another with --workflow.") from problem
    for evidence in found:
        made = check_plan([evidence], [None], content, facts, config)
        failing = evidence.job.failing_step()
        yield (
            evidence,
            PlannedJobs(
                workflow=name,
                jobs=(evidence.job.name,),
                step=failing.name if failing else "",
                assumed=step is None,
                plan=made,
            ),
        )


def _content(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(MOST_BYTES)


def _push_to(path: Path) -> RunFacts:
    """A failed push to the branch that is checked out, as far as its name is told by a file."""
    head = path / ".git" / "HEAD"
    said = _content(head).decode("utf-8", "replace").strip() if head.is_file() else ""
    prefix = "ref: refs/heads/"
    return RunFacts(
        run=RunRef(repository=f"local/{path.resolve().name or 'repository'}", repository_id=0, run_id=0),
        status="completed",
        conclusion="failure",
        event="push",
        head_sha=_UNKNOWN_SHA,
        head_branch=said.removeprefix(prefix) if said.startswith(prefix) else "main",
        created_at=datetime.now(UTC),
    )


async def _path(path: Path, wanted: Wanted, as_json: bool) -> int:
    return _tell(of_path(path, wanted), as_json)


def _tell(report: PlanReport, as_json: bool) -> int:
    if as_json:
        answer(report)
    else:
        for line in lines(report.plans):
            results.print(line, markup=False, soft_wrap=True)
    return 0 if report.has_check else 1


def lines(plans: Sequence[PlannedJobs]) -> Iterator[str]:
    """The plans for people; what would steer a terminal is left out of foreign text."""
    for planned in plans:
        named = ", ".join(repr(name) for name in planned.jobs)
        assumed = f", as if step {planned.step!r} had failed" if planned.step else ""
        yield harmless(f"{planned.workflow}: {named}{assumed}")
        for check in planned.plan.checks:
            yield from _check_lines(check)
        if planned.plan.unverifiable:
            yield harmless(f"  unverifiable: {planned.plan.unverifiable}")
        elif planned.plan.uncovered:
            yield from (harmless(f"  not covered: {sentence}") for sentence in planned.plan.uncovered)
        if planned.plan.reasons or planned.plan.checks:
            yield harmless(f"  from {planned.plan.source}")
        yield from (harmless(f"    {reason}") for reason in planned.plan.reasons)
        yield ""


def _check_lines(check: Check) -> Iterator[str]:
    tools = ", ".join(f"{tool.name} {tool.version}".strip() for tool in check.tools)
    if tools:
        yield harmless(f"  tools   {tools}")
    for label, steps in (("before", check.before), ("check", (check,)), ("after", check.after)):
        for step in steps:
            where = "" if step.working_directory == "." else f"   (in {step.working_directory})"
            yield harmless(f"  {label:<7} " + step.command.replace("\n", "\n          ") + where)
    if check.env:
        yield harmless("  env     " + " ".join(f"{name}={value!r}" for name, value in check.env.items()))
