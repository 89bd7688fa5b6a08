"""The script of a failing step, where no workflow file tells it."""

from sweeper.policy.triage.reader import read_log

_MASKED = ("***", "[redacted]")


def failing_script(log: bytes, step_name: str | None = None) -> str | None:
    """The script that the failing step's log echoes; None if it shows none, not all of it, or a masked secret in it.

    `step_name`: as GitHub names the step, which goes before exit codes.
    """
    step = read_log([log]).failing_step(step_name)
    if step is None or any(mask in step.command for mask in _MASKED):
        return None
    return step.command or None
