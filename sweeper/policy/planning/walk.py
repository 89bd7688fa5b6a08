"""One failing job, step by step: what has to run before the step that failed, that step, and the tests after it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sweeper.errors import Unverifiable
from sweeper.model import Check, JobFacts, PlanStep, StepFacts, Tool
from sweeper.policy.planning import actions
from sweeper.policy.planning.conditions import holds, only_speaks
from sweeper.policy.planning.environment import Environment
from sweeper.policy.planning.evaluation import Context, Mark, Scope, fill
from sweeper.policy.planning.jobs import Located
from sweeper.policy.planning.record import failing_index, matched, shown
from sweeper.policy.planning.runtime import shell_argv
from sweeper.policy.planning.surroundings import judge_surroundings
from sweeper.policy.planning.syntax import shortened
from sweeper.policy.planning.values import MOST_TEXT
from sweeper.policy.planning.workflow_file import WorkflowFile, WorkflowStep

_CHECKING = re.compile(
    r"\b(tests?|testing|pytest|unittest|tox|nox|lint\w*|check\w*|verify|spec|rspec|specs|jest|vitest|mocha|ava|ruff|mypy"
    r"|pyright|flake8|pylint|black|isort|eslint|tsc|prettier|typecheck|clippy|fmt|vet|golangci-lint|staticcheck|rubocop"
    r"|pre-commit|ctest|doctest|validate)\b"
)
_ACTING = re.compile(r"\b(deploy|publish|release|upload|push|twine|codecov|coveralls|docker|gh)\b")


class Walk:
    """The steps of a located job beside GitHub's record of it. `reasons`: a sentence for each step so far."""

    def __init__(self, workflow: WorkflowFile, located: Located, facts: JobFacts) -> None:
        self._workflow, self._job, self._facts = workflow, located.job, facts
        self._scope = located.scope
        self._steps: dict[str, Context] = {}
        self._before: list[PlanStep] = []
        self._tools: list[Tool] = []
        self._size = 0
        self._environment = Environment(located.scope)
        self.reasons: list[str] = []

    def check(self) -> Check:
        """The check of this job. Raises Unverifiable, saying at which step, if there can be none."""
        self._environment.holds(self._workflow.env)
        self._environment.holds(self._job.env)
        for note in judge_surroundings(self._job, self._scope):
            self.reasons.append(f"Job {self._facts.name[:100]!r}: {note}.")
        names = [shown(step, self._scope) for step in self._job.steps]
        records = matched(names, self._facts)
        failing = self._failing(names, records)
        names = [record.name if record else name for name, record in zip(names, records, strict=True)]
        for step, name, record in zip(self._job.steps[:failing], names, records, strict=False):
            with self._at(name):
                self._pass(step, name, record)
        with self._at(names[failing]):
            failed = self._failed(self._job.steps[failing], names[failing])
        rest = zip(self._job.steps[failing + 1 :], names[failing + 1 :], strict=True)
        after = [found for step, name in rest if (found := self._later(step, name)) is not None]
        return self._made(failed, after)

    def _failing(self, names: list[str], records: tuple[StepFacts | None, ...]) -> int:
        scripts = [n for n, step in enumerate(self._job.steps) if step.run is not None]
        failed = self._facts.failing_step()
        if failed is None and len(scripts) == 1:
            return scripts[0]
        if failed is None:
            raise Unverifiable("it died without a step that failed")
        found = failing_index(names, self._facts, records)
        if found is None:
            raise Unverifiable(f"what failed, {failed.name[:80]!r}, is no step of the workflow file")
        return found

    @contextmanager
    def _at(self, name: str) -> Iterator[None]:
        try:
            yield
        except Unverifiable as problem:
            joint = ":" if str(problem).startswith(("the ", "an ", "a ")) else ""
            raise Unverifiable(f"step {shortened(name)!r}{joint} {problem}") from problem

    def _note(self, name: str, why: str) -> None:
        self.reasons.append(f"Step {shortened(name)!r} {why}.")

    def _pass(self, step: WorkflowStep, name: str, record: StepFacts | None) -> None:
        """A step before the one that failed."""
        if not self._ran(step, record):
            self._note(name, "is left out: it was not run in CI either")
            self._remember(step, Context({"outcome": "skipped", "conclusion": "skipped", "outputs": Context()}))
        elif step.run is not None and only_speaks(step.run):
            self._note(name, "is left out: it says something and does nothing")
        elif step.run is not None:
            self._before.append(self._script(step, step.run, name))
            self._note(name, "runs before the check")
        elif step.uses is not None:
            self._use(step, step.uses, name)

    def _use(self, step: WorkflowStep, uses: str, name: str) -> None:
        found = actions.meaning(uses, step.inputs, self._scope_of_step())
        if found.problem is not None:
            raise Unverifiable(found.problem)
        self._install(found.tools)
        if found.command is not None:
            self._before += [*self._installation(step, found, name), self._action(step, found, name)]
        else:
            rest = Mark.NEVER if found.tools else None
            done: dict[str, str | Context] = {"outcome": "success", "conclusion": "success"}
            self._remember(step, Context({**done, "outputs": Context(rest=rest)}))
        self._note(name, found.why)

    def _install(self, tools: Sequence[Tool]) -> None:
        """The last one of a name is the one that steps find; it comes first."""
        for tool in tools:
            others = [other for other in self._tools if other != tool]
            place = next((n for n, other in enumerate(others) if other.name == tool.name), len(others))
            self._tools = [*others[:place], tool, *others[place:]]

    def _ran(self, step: WorkflowStep, record: StepFacts | None) -> bool:
        """By GitHub's record of the job; without one, by the condition. Raises Unverifiable naming that."""
        if record is not None and record.conclusion is not None:
            return record.conclusion != "skipped"
        return self._holds(step)

    def _holds(self, step: WorkflowStep) -> bool:
        return holds(step.condition, self._scope_of_step(step))

    def _failed(self, step: WorkflowStep, name: str) -> PlanStep:
        if step.run is not None:
            script = self._script(step, step.run, name)
        else:
            found = actions.meaning(step.uses or "", step.inputs, self._scope_of_step())
            if found.command is None or not found.is_check:
                raise Unverifiable(found.problem or f"is the action {(step.uses or '')[:100]!r}, which runs no check")
            self._install(found.tools)
            self._before += self._installation(step, found, name)
            script = self._action(step, found, name)
        if not script.command:
            raise Unverifiable("failed, but there is nothing that it runs")
        limit = f", without its own limit of {step.timeout_minutes[:20]} minutes" if step.timeout_minutes else ""
        self._note(name, f"failed: it is the check{limit}")
        return script

    def _later(self, step: WorkflowStep, name: str) -> PlanStep | None:
        """A step after the one that failed, if it is a test and can be run as it stands; None otherwise."""
        try:
            made = self._test(step, name) if self._holds(step) else None
        except Unverifiable as problem:
            self._note(name, f"comes after the check and is left out: {problem}")
            return None
        if made is None:
            self._note(name, "comes after the check and is left out: it is no test of a job that passes")
        else:
            self._note(name, "is a test after the one that failed: it must not become redder")
        return made

    def _test(self, step: WorkflowStep, name: str) -> PlanStep | None:
        """The step, if its words say that it checks something and does nothing else."""
        if step.run is None:
            found = actions.meaning(step.uses or "", step.inputs, self._scope_of_step())
            return self._action(step, found, name) if found.is_check and not found.install else None
        words = f"{name}\n{step.run}".lower()
        is_check = _CHECKING.search(words) and not _ACTING.search(words)
        return self._script(step, step.run, name) if is_check else None

    def _installation(self, step: WorkflowStep, found: actions.Meaning, name: str) -> list[PlanStep]:
        """What an action installs before its command, as a step of its own."""
        if found.install is None:
            return []
        install = replace(found, command=found.install, directory=None)
        return [self._action(step.model_copy(update={"id": ""}), install, f"{name}: install")]

    def _action(self, step: WorkflowStep, found: actions.Meaning, name: str) -> PlanStep:
        """The command an action stands for; it has no shell or directory by default."""
        as_script = step.model_copy(
            update={"shell": "bash", "working_directory": found.directory or ".", "run": found.command}
        )
        return self._script(as_script, found.command or "", name)

    def _made(self, failed: PlanStep, after: list[PlanStep]) -> Check:
        shared = failed.model_dump(exclude={"name", "id", "may_fail"})
        return Check(
            **shared,
            name=self._facts.name,
            job=self._facts.name,
            step=failed.name,
            before=tuple(self._before),
            after=tuple(after),
            tools=tuple(self._tools),
        )

    def _script(self, step: WorkflowStep, command: str, name: str) -> PlanStep:
        env = self._environment.of_step(step.env, self._scope_of_step())
        scope = self._scope_of_step(step)
        made = PlanStep(
            name=name[:200],
            command=fill(command, scope).strip(),
            shell=fill(self._shell(step), scope),
            working_directory=fill(self._directory(step), scope) or ".",
            env=env,
            id=step.id,
            may_fail=self._may_fail(step, scope),
        )
        shell_argv(made.shell, made.command)
        self._refuse_size(made)
        self._environment.passed(made.command)
        outcome: str | Mark = Mark.NEVER if made.may_fail else "success"
        self._remember(step, Context({"outcome": outcome, "conclusion": "success", "outputs": Mark.LATER}))
        return made

    def _refuse_size(self, step: PlanStep) -> None:
        self._size += len(step.command) + sum(len(name) + len(value) for name, value in step.env.items())
        if self._size > MOST_TEXT:
            raise Unverifiable(f"brings the scripts of its job over {MOST_TEXT // 1024} KiB")

    def _shell(self, step: WorkflowStep) -> str:
        return step.shell or self._job.defaults.run.shell or self._workflow.defaults.run.shell or "default"

    def _directory(self, step: WorkflowStep) -> str:
        nearer = step.working_directory or self._job.defaults.run.working_directory
        return nearer or self._workflow.defaults.run.working_directory or "."

    def _may_fail(self, step: WorkflowStep, scope: Scope) -> bool:
        return fill(step.continue_on_error, scope).strip() == "true"

    def _remember(self, step: WorkflowStep, known: Context) -> None:
        if step.id:
            self._steps[step.id.lower()] = known

    def _scope_of_step(self, step: WorkflowStep | None = None) -> Scope:
        """What expressions of a step may name; with a step, its own environment as well."""
        own: Mapping[str, str] = {} if step is None else step.env
        scope = self._scope.having(steps=Context(dict(self._steps)))
        return scope.having(env=self._environment.context(own, scope))
