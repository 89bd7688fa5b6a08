"""What is noted on a job. Reads only.

A job is a check run of the same id, and only its annotations say that a time limit was hit or a runner was lost
(GitHub's REST description, check runs).
"""

from itertools import islice

from adapters.github.ci_replies import AnnotationReply, JobReply, RunReply
from adapters.github.client import Client, Repository
from sweeper.errors import NotFound, PolicyDenied
from sweeper.model import Annotation, RunRef
from sweeper.model.run import TIME_LIMIT
from sweeper.policy.redaction import redact_text

MOST = 100
MOST_CANCELLED = 10
"""Jobs of a cancelled run that are asked for the reason."""
MOST_CHARS = 1000
_LONGEST_NAME = 300


def read_annotations(client: Client, run: RunRef, job_id: int) -> tuple[Annotation, ...]:
    """The first hundred. A job that is gone has none, nor has any if we may not look: they only add to a diagnosis."""
    try:
        return tuple(_annotation(reply) for reply in _noted(client.repository(run.repository), job_id))
    except PolicyDenied:
        return ()


def hit_time_limit(there: Repository, run: RunReply) -> bool:
    """Whether a cancelled run was cancelled by a time limit: GitHub says so nowhere else. Not if we may not look."""
    if run.status != "completed" or run.conclusion != "cancelled":
        return False
    path = f"actions/runs/{run.id}/attempts/{run.run_attempt}/jobs"
    cancelled = (job for job in there.pages(JobReply, path, within="jobs") if job.conclusion == "cancelled")
    try:
        return any(
            TIME_LIMIT in (note.message or "")
            for job in islice(cancelled, MOST_CANCELLED)
            for note in _noted(there, job.id)
        )
    except PolicyDenied:
        return False


def _noted(there: Repository, job_id: int) -> list[AnnotationReply]:
    try:
        return list(islice(there.pages(AnnotationReply, f"check-runs/{job_id}/annotations"), MOST))
    except NotFound:
        return []


def _annotation(reply: AnnotationReply) -> Annotation:
    """Redacted before it is cut: half a token has no shape to know it by."""
    return Annotation(
        level=reply.annotation_level or "",
        message=redact_text(reply.message or "")[:MOST_CHARS],
        path=redact_text(reply.path or "")[:_LONGEST_NAME],
        line=reply.start_line,
        title=redact_text(reply.title or "")[:_LONGEST_NAME],
    )
