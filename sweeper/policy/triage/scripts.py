"""The script of a failing step, where no workflow file tells it."""

from sweeper.policy.triage.reader import read_log


def failing_script(log: bytes, step_name: str | None = None) -> str | None:
    """The script that the failing step's log echoes; None if it shows none, or not all of it.

    `step_name`: as GitHub names the step, which goes before exit codes.
    """
    step = read_log([log]).failing_step(step_name)
    return (step.command or None) if step else None
