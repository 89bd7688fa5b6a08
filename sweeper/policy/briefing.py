"""The task of an agent that reads words: what failed, what was tried, what a reviewer asked for.

Everything foreign (logs, names, commands, comments) is data: each of its lines stands behind a bar, so no text can
close its own frame and go on as ours.
"""

from sweeper.model.proposal import ReviewComment
from sweeper.model.task import Task
from sweeper.policy.suspicion import suspicions

BAR = "| "
_LOG_BYTES = 6 << 10
_RESULT_BYTES = 3 << 10
_COMMENT_BYTES = 3 << 10
_CUT = "[... cut ...]"


def barred(text: str, limit: int) -> str:
    """A foreign text as data: at most about `limit` bytes, its middle cut, each line behind a bar."""
    data = text.encode("utf-8", "replace")
    if len(data) > limit:
        half = (limit - len(_CUT)) // 2
        head, tail = (part.decode("utf-8", "ignore") for part in (data[:half], data[-half:]))
        text = f"{head}\n{_CUT}\n{tail}"
    return "\n".join(BAR + line for line in text.splitlines())


def briefing(task: Task, limit: int) -> str:
    """The task in words, at most `limit` bytes."""
    parts = [*_failure(task), *_logs(task), *_before(task), *_comments(task)]
    whole = "\n\n".join(parts)
    data = whole.encode("utf-8", "replace")
    return whole if len(data) <= limit else data[: limit - len(_CUT) - 1].decode("utf-8", "ignore") + f"\n{_CUT}"


def suspected(task: Task) -> tuple[str, ...]:
    """Where the task's foreign texts may try to give orders."""
    return suspicions(_foreign(task))


def _foreign(task: Task) -> dict[str, str]:
    """Every text that somebody else wrote, by the name a reader knows it by."""
    texts = {f"log of {job}": text for job, text in task.excerpts.items()}
    for number, comment in enumerate(task.review_comments, start=1):
        texts[f"review comment {number}"] = comment.body
    for result in task.previous_verdict.results if task.previous_verdict else ():
        texts[f"output of {result.check}"] = result.excerpt
    return texts


def _failure(task: Task) -> list[str]:
    found = task.diagnosis
    facts = [
        f"repository: {task.repository}",
        f"job: {found.job}",
        f"step: {found.step}",
        f"class: {found.failure_class.value}",
    ]
    facts += [f"file: {path}" for path in found.files[:20]]
    facts += [f"test: {test}" for test in found.tests[:20]]
    facts += [
        f"check {check.name!r}, in {check.working_directory}: {check.command}" for check in task.check_plan.checks
    ]
    errors = "\n".join(found.error_lines[:20])
    return [
        "A CI run failed. What is known of it:",
        barred("\n".join(facts), _RESULT_BYTES),
        "Its error lines:",
        barred(errors, _RESULT_BYTES),
    ]


def _logs(task: Task) -> list[str]:
    share = _LOG_BYTES // max(len(task.excerpts), 1)
    return [part for text in task.excerpts.values() for part in ("From its log:", barred(text, share))]


def _before(task: Task) -> list[str]:
    verdict = task.previous_verdict
    if verdict is None:
        return []
    parts = [f"An earlier attempt was found to be {verdict.kind.value}:", barred(verdict.reason, _COMMENT_BYTES)]
    if verdict.findings:
        told = "\n".join(f"{one.name} at {one.place}: {one.detail}" for one in verdict.findings[:10])
        parts += ["What was found in its change:", barred(told, _COMMENT_BYTES)]
    red = [result for result in verdict.results if not result.is_green]
    for result in red[:2]:
        parts += [
            f"This check was still red, with exit code {result.exit_code}:",
            barred(result.excerpt, _RESULT_BYTES),
        ]
    return parts


def _comments(task: Task) -> list[str]:
    if not task.review_comments:
        return []
    told = "\n".join(f"{_place(comment)}: {comment.body}" for comment in task.review_comments)
    return ["A reviewer of the earlier proposal asks for this:", barred(told, _COMMENT_BYTES)]


def _place(comment: ReviewComment) -> str:
    return f"{comment.path}:{comment.line}" if comment.path else "in general"
