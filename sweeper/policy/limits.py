"""What a patch may not do, whatever the checks say."""

from sweeper.model import Finding, Limits, Patch, Severity

DIFF_TOO_LARGE = "diff_too_large"
PROTECTED_PATH = "protected_path"
PROTECTED = (".github/workflows/", ".github/actions/", ".github/codeowners")


def findings(patch: Patch, limits: Limits) -> tuple[Finding, ...]:
    """Size over the limits, and paths that decide how the patch itself is judged."""
    found = [
        Finding(name=DIFF_TOO_LARGE, place=what, severity=Severity.REJECT, detail=f"{value}, at most {limit} allowed")
        for what, value, limit in (
            ("files", patch.files_changed, limits.files),
            ("lines", patch.lines_changed, limits.lines),
            ("bytes", patch.bytes_changed, limits.bytes),
        )
        if value > limit
    ]
    found += [
        Finding(name=PROTECTED_PATH, place=path, severity=Severity.REJECT, detail="a fix must not edit its own exam")
        for path in patch.files
        if path.casefold().startswith(PROTECTED)
    ]
    return tuple(found)
