"""Titles and commit messages. Git and GitHub read no Markdown there, so foreign names are stripped to plain words."""

from sweeper.model import Diagnosis, RunFacts
from sweeper.policy.rendering.neutral import plain


def title(diagnosis: Diagnosis) -> str:
    """Title of the proposal and subject of its commit."""
    names = [plain(job) for job in diagnosis.jobs] or [plain(diagnosis.job)]
    shown = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    return f"Fix failing {'job' if len(names) == 1 else 'jobs'} {shown}"


def commit_message(sweep: str, attempt: int, agent: str, facts: RunFacts, diagnosis: Diagnosis) -> str:
    """Subject and trailers; the trailers lead back from any clone to the run and the sweep."""
    return (
        f"{title(diagnosis)}\n\n"
        f"Sweeper-Run: {facts.run.repository_id}/{facts.run.run_id}/{facts.run.run_attempt}\n"
        f"Sweeper-Sweep: {sweep}\n"
        f"Sweeper-Attempt: {attempt}\n"
        f"Sweeper-Agent: {plain(agent)}\n"
    )


def signed_off(message: str, name: str, email: str) -> str:
    """The same with a sign-off as its last trailer: repositories that ask for one compare it with the author."""
    return f"{message}Signed-off-by: {name} <{email}>\n"
