"""Whether somebody is already fixing a failure."""

from collections.abc import Sequence

from sweeper.model import Diagnosis, OtherFix, OtherPull


def other_fix(diagnosis: Diagnosis, pulls: Sequence[OtherPull]) -> OtherFix | None:
    """The first open pull request that is green on a failing job, else one that touches a failing file."""
    for pull in pulls:
        if green := sorted(set(diagnosis.jobs) & set(pull.green_jobs)):
            return OtherFix(number=pull.number, url=pull.url, why=f"job {green[0]!r} passes there")
    for pull in pulls:
        if touched := [path for path in pull.files if _names(diagnosis, path)]:
            return OtherFix(number=pull.number, url=pull.url, why=f"it changes {touched[0]}, where the failure shows")
    return None


def _names(diagnosis: Diagnosis, path: str) -> bool:
    """Tools name files from where they run, which may be below the repository's root, or above it by a full path.

    A bare name counts only as itself: every second directory has a `setup.py`.
    """
    return any(
        named == path or ("/" in named and path.endswith(f"/{named}")) or ("/" in path and named.endswith(f"/{path}"))
        for named in diagnosis.files
    )
