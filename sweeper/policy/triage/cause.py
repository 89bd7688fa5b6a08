"""Why one job failed: what its notes, its failing step, the rest of its log and at last its command say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sweeper.model import Action, FailureClass, JobEvidence
from sweeper.policy.triage.annotations import notes_on_code, notes_on_infrastructure
from sweeper.policy.triage.clues import command_of
from sweeper.policy.triage.joblog import CANCELLED, JobLog, Part, StepLog
from sweeper.policy.triage.pattern import PLAIN, Clue

KILLED = 128 + 9
"""Exit code of what was ended by SIGKILL: on a runner mostly for lack of memory, seldom by whom it concerns."""

QUOTED = 160
_LAST_LINES = 3


@dataclass(frozen=True)
class Cause:
    """Why a job failed. `clues`: all that speak for it; `hints` only of where. `lines`: what people should see.

    `wish`: an action other than the class's. `has_evidence` False: nobody knows anything of it. `was_stopped`: it did
    not fail by itself.
    """

    failure_class: FailureClass
    reason: str
    clues: tuple[Clue, ...] = ()
    hints: tuple[Clue, ...] = ()
    lines: tuple[str, ...] = ()
    step: str = ""
    script: str = ""
    wish: Action | None = None
    has_evidence: bool = True
    was_stopped: bool = False


def cause_of(evidence: JobEvidence, log: JobLog | None, command: str = "") -> Cause:
    """The cause of one job's failure. `command`: its check, where a plan knows it better than the log."""
    failing = evidence.job.failing_step()
    name = failing.name if failing else ""
    if notes := notes_on_infrastructure(evidence.annotations):
        return _by_clues(notes, name)
    if evidence.job.conclusion == "timed_out":
        return Cause(FailureClass.INFRASTRUCTURE, "it ran into its time limit", step=name)
    if evidence.job.conclusion == "cancelled":
        return _stopped(name)
    if log is None:
        return _without_log(evidence, name)
    return _by_log(log, log.failing_step(name, failing.number if failing else None), name, command)


def deciding(clues: Iterable[Clue]) -> list[Clue]:
    """The clues that decide, and those that say the same class; in the order of the log.

    The strongest decides, of equals the last: tools sum up at their end. Hints count only with each other.
    """
    known = list(clues)
    if not known:
        return []
    first = max(known, key=lambda clue: (clue.strength, clue.number))
    least = min(first.strength, PLAIN)
    return [clue for clue in known if clue.failure_class is first.failure_class and clue.strength >= least]


def strongest(clues: Sequence[Clue]) -> Clue:
    """Of the clues that speak for a cause the one that is quoted: the first of those that tell most."""

    def tells(clue: Clue) -> tuple[bool, bool, int, int]:
        return bool(clue.test), bool(clue.code or clue.file or clue.message), clue.strength, -clue.number

    return max(clues, key=tells)


def _by_log(log: JobLog, step: StepLog | None, name: str, command: str) -> Cause:
    shown = name or (step.name if step else "")
    if step is not None and step.exit_code == KILLED:
        reason = f"it was killed (exit code {KILLED}), mostly for lack of memory"
        return Cause(
            FailureClass.INFRASTRUCTURE, reason, lines=_lines_without_clues(step), step=shown, script=step.command
        )
    script = step.command if step else ""
    outside = [clue for part in log.steps if part is not step for clue in _told_by_the_runner(part)]
    if clues := next(iter(_by_weight(log, step, outside)), None):
        return replace(_by_clues(clues, shown, script), hints=_hints(clues, step))
    if _was_cut_short(log, step):
        return _stopped(shown, "its log says that it was cancelled, not whether by a person, a newer push or a limit")
    lines = _lines_without_clues(step or (log.steps[-1] if log.steps else None))
    if by_command := _by_command(command or script, shown, script, lines):
        return by_command
    hints = deciding(_all_clues(log) if step is None else step.clues)
    if hints:
        return _by_clues(hints, shown, script)
    return Cause(FailureClass.UNKNOWN, "nothing in its log is known", lines=lines, step=shown, script=script)


def _by_weight(log: JobLog, step: StepLog | None, outside: list[Clue]) -> Iterable[list[Clue]]:
    """What is worth deciding by, the best first. What steps say that passed is no reason why one failed."""
    inside = step.clues if step is not None else _all_clues(log)
    if step is not None and step.exit_code is None and (told := _told_by_the_runner(step)):
        yield deciding(told)
    if _was_cut_short(log, step):
        if outside:
            yield deciding(outside)
        return
    if clues := [clue for clue in inside if clue.strength >= PLAIN]:
        yield deciding(clues)
    if outside:
        yield deciding(outside)


def _told_by_the_runner(step: StepLog) -> list[Clue]:
    """What GitHub's runner marked as an error outside of what tools print, and is no code's fault."""
    marked = {line.number for line in step.errors}
    return [
        clue
        for clue in step.clues
        if clue.number in marked
        and clue.strength >= PLAIN
        and clue.failure_class is FailureClass.INFRASTRUCTURE
        and not clue.text.startswith(CANCELLED)
    ]


def _all_clues(log: JobLog) -> list[Clue]:
    return [clue for step in log.steps if step.part is not Part.CLEANUP and not step.is_excused for clue in step.clues]


def _by_clues(clues: Sequence[Clue], step: str, script: str = "") -> Cause:
    told = strongest(clues)
    wish = next((clue.action for clue in clues if clue.action is not None), None)
    return Cause(
        failure_class=told.failure_class,
        reason=f'{told.reason}: "{told.text[:QUOTED]}"',
        clues=tuple(clues),
        lines=tuple(clue.text for clue in clues),
        step=step,
        script=script,
        wish=wish,
    )


def _by_command(command: str, step: str, script: str, lines: tuple[str, ...]) -> Cause | None:
    known = command_of(command)
    if known is None:
        return None
    row, words = known
    reason = f"it runs {words!r}, and says nothing that is known"
    return Cause(row.failure_class, reason, lines=lines, step=step, script=script)


def _stopped(step: str, reason: str = "it was cancelled by a person or a newer push") -> Cause:
    return Cause(FailureClass.UNKNOWN, reason, lines=(CANCELLED[0],), step=step, was_stopped=True)


def _was_cut_short(log: JobLog, step: StepLog | None) -> bool:
    return log.is_cancelled and (step is None or step.exit_code is None)


def _hints(clues: Sequence[Clue], step: StepLog | None) -> tuple[Clue, ...]:
    told = clues[-1]
    return tuple(c for c in (step.clues if step else ()) if c.tool == told.tool and c.strength < PLAIN)


def _without_log(evidence: JobEvidence, step: str) -> Cause:
    if clues := deciding(notes_on_code(evidence.annotations)):
        return _by_clues(clues, step)
    reason = f"no evidence: no log ({evidence.log_missing or 'none was given'}) and no note that tells why"
    return Cause(FailureClass.UNKNOWN, reason, step=step, has_evidence=False)


def _lines_without_clues(step: StepLog | None) -> tuple[str, ...]:
    """What was marked as an error, else the last words."""
    if step is None:
        return ()
    marked = tuple(line.text.strip() for line in step.errors)
    last = [line.text.strip() for line in (*step.head, *step.tail) if line.text.strip()]
    return marked or tuple(last[-_LAST_LINES:])
