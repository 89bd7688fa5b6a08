"""What the fixers of one try did, told plainly: which one changed what, which one failed, and with which words."""

from dataclasses import dataclass, field

from adapters.agents.fixing.marks import Mark
from adapters.agents.fixing.repairs import Repair
from adapters.agents.report import outcome_of, summary_of
from sweeper.model import FixOutcome, FixReport, PlanStep
from sweeper.policy.redaction import redact, redact_text
from sweeper.ports import Artifacts, SandboxResult

_NAMED_FILES = 3
_LOG_BYTES = 4 << 20
_SUMMARY_CHARACTERS = 1000


@dataclass
class Account:
    """Grows with each command; in the end a report."""

    sentences: list[str] = field(default_factory=list)
    outcomes: list[FixOutcome] = field(default_factory=list)
    log: bytes = b""
    seconds: float = 0.0
    exit_code: int | None = None

    @property
    def is_over(self) -> bool:
        """No time is left, so nothing more can run."""
        return FixOutcome.TIMED_OUT in self.outcomes

    def ran(self, repair: Repair, result: SandboxResult, mark: Mark | None) -> None:
        """A fixer came to its end. `mark` None: what it changed is not known."""
        self._take(f"$ {repair.script}", result)
        ended = outcome_of(result, repair.fixer.fine)
        name, said = repair.fixer.name, summary_of(result.output, result.limit)
        changed = mark.changed if mark is not None else ()
        if changed:
            self.sentences.append(f"{name} changed {_named(changed)}.")
        if ended is not FixOutcome.EDITED:
            end = f"ended with {result.exit_code}" if result.exit_code is not None else "did not end"
            self.sentences.append(f"{name} {end}: {said or 'it said nothing'}")
            self.outcomes.append(FixOutcome.EDITED if changed and ended is FixOutcome.FAILED else ended)
        elif mark is None:
            self.sentences.append(f"{name} ran: {said}" if said else f"{name} ran.")
            self.outcomes.append(FixOutcome.EDITED)
        elif changed:
            self.outcomes.append(FixOutcome.EDITED)
        else:
            self.sentences.append(f"{name} ran and changed nothing{f': {said}' if said else '.'}")
            self.outcomes.append(FixOutcome.NO_CHANGE)

    def put_back(self, repair: Repair, result: SandboxResult, files: tuple[str, ...]) -> None:
        """A fixer came upon packages whose public addresses cannot be known here."""
        self._take(f"$ {repair.script}", result)
        why = "names packages whose public addresses cannot be known here; run it where registries are in reach"
        self.sentences.append(f"What {repair.fixer.name} made of {_named(files)} {why}.")
        self.outcomes.append(FixOutcome.FAILED)

    def not_set_up(self, step: PlanStep, result: SandboxResult) -> None:
        """A step before the check failed, so none of its fixers ran."""
        self._take(f"# {step.name}", result)
        said = summary_of(result.output, result.limit)
        self.sentences.append(f"No fixer ran, because the step {step.name!r} before it failed here: {said}")
        self.outcomes.append(outcome_of(result) if outcome_of(result) is FixOutcome.TIMED_OUT else FixOutcome.FAILED)

    def stopped(self, reason: str) -> None:
        """Nothing could be run at all."""
        self.sentences.append(f"No fixer could run here: {reason}.")
        self.outcomes.append(FixOutcome.FAILED)

    async def report(self, agent: str, artifacts: Artifacts) -> FixReport:
        """One that edited is enough; one that failed is told when none did."""
        order = (FixOutcome.TIMED_OUT, FixOutcome.EDITED, FixOutcome.FAILED, FixOutcome.NO_CHANGE)
        return FixReport(
            agent=agent,
            outcome=next(one for one in order if one in self.outcomes),
            summary=redact_text(" ".join(self.sentences))[:_SUMMARY_CHARACTERS],
            exit_code=self.exit_code,
            seconds=self.seconds,
            log=await artifacts.put(redact(self.log)) if self.log else None,
        )

    def _take(self, title: str, result: SandboxResult) -> None:
        self.log = (self.log + f"{title}\n".encode() + result.output)[:_LOG_BYTES]
        self.seconds += result.seconds
        self.exit_code = result.exit_code


def _named(files: tuple[str, ...]) -> str:
    shown = ", ".join(files[:_NAMED_FILES])
    more = len(files) - _NAMED_FILES
    return f"{shown} and {more} more" if more > 0 else shown
