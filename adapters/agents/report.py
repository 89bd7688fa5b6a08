"""What agents hand in: a log in the store and a short summary, both redacted."""

from sweeper.model import FixOutcome, FixReport
from sweeper.policy.redaction import redact
from sweeper.ports import Artifacts, SandboxResult

_SUMMARY_CHARACTERS = 400


def outcome_of(result: SandboxResult, fine: frozenset[int] = frozenset({0})) -> FixOutcome:
    """From how the command ended. EDITED only says that it ended well: the tree shows whether anything changed."""
    if result.limit == "time":
        return FixOutcome.TIMED_OUT
    if result.limit is not None or result.exit_code not in fine:
        return FixOutcome.FAILED
    return FixOutcome.EDITED


def summary_of(output: bytes, limit: str | None = None) -> str:
    """The last whole lines of an output, redacted; what ended the command stands in front."""
    said = redact(output).decode(errors="replace").strip()
    if len(said) > _SUMMARY_CHARACTERS:
        tail = said[-_SUMMARY_CHARACTERS:]
        said = tail.partition("\n")[2] or tail
    return f"[stopped by the {limit} limit] {said}".rstrip() if limit else said


async def report(agent: str, outcome: FixOutcome, result: SandboxResult, artifacts: Artifacts) -> FixReport:
    """The report of one command, its whole kept output stored as log."""
    log = await artifacts.put(redact(result.output)) if result.output else None
    return FixReport(
        agent=agent,
        outcome=outcome,
        summary=summary_of(result.output, result.limit),
        exit_code=result.exit_code,
        seconds=result.seconds,
        log=log,
    )
