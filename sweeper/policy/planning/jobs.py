"""Finding the job of a workflow file by the name it was shown under."""

from dataclasses import dataclass

from sweeper.errors import Unverifiable
from sweeper.model import RunFacts
from sweeper.policy.planning import matrix
from sweeper.policy.planning.contexts import Row, job_scope, run_scope
from sweeper.policy.planning.evaluation import OPEN, Scope
from sweeper.policy.planning.record import is_named, one_line
from sweeper.policy.planning.workflow_file import WorkflowFile, WorkflowJob

MOST_JOBS = 2_000


@dataclass(frozen=True, slots=True)
class Located:
    """A job of the file, one row of its matrix, and what its expressions may name."""

    key: str
    job: WorkflowJob
    row: Row
    scope: Scope
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Unresolved:
    """A job whose rows or names are not known, and why."""

    key: str
    name: str
    problem: str

    def may_be(self, wanted: str) -> bool:
        own = wanted in (self.key, self.name) or wanted.startswith((f"{self.key} (", f"{self.name} ("))
        return own or (OPEN in self.name and is_named(wanted, self.name))


class JobIndex:
    """All jobs of a file by shown name. Raises Unverifiable for a file that unfolds to too many."""

    def __init__(self, workflow: WorkflowFile, facts: RunFacts) -> None:
        self._workflow = workflow
        self._scope = run_scope(facts)
        self.located: list[Located] = []
        self._unresolved: list[_Unresolved] = []
        for key, job in workflow.jobs.items():
            self._add(key, job)
            if len(self.located) > MOST_JOBS:
                raise Unverifiable(f"the workflow file unfolds to more than {MOST_JOBS} jobs")

    def _add(self, key: str, job: WorkflowJob) -> None:
        try:
            for row in matrix.rows(job.strategy, self._scope):
                scope = job_scope(self._scope, row)
                names = tuple(map(one_line, matrix.shown_names(key, job.name, row, scope)))
                self.located.append(Located(key, job, row, scope, names))
        except Unverifiable as problem:
            self._unresolved.append(_Unresolved(key, job.name or key, str(problem)))

    @property
    def unresolved(self) -> list[str]:
        """Keys of the jobs whose rows are not known."""
        return [job.key for job in self._unresolved]

    def called(self, name: str) -> list[Located]:
        """Every job that may be the one of that name. Raises Unverifiable, saying why, if there is none."""
        name = one_line(name)
        found = [job for job in self.located if job.names[0] == name]
        found = found or [job for job in self.located if name in job.names] or self._by_key(name)
        if found:
            return found
        for job in self._unresolved:
            if job.may_be(name):
                raise Unverifiable(job.problem)
        caller = name.partition(" / ")[0]
        if caller != name and any(job.uses for job in self._named_like(caller)):
            raise Unverifiable("it is part of another workflow that this one calls, which is not followed")
        raise Unverifiable("it is not in the workflow file")

    def _by_key(self, name: str) -> list[Located]:
        return [job for job in self.located if job.key == name]

    def _named_like(self, name: str) -> list[WorkflowJob]:
        return [located.job for located in self.located if name in (*located.names, located.key)]
