"""Changes for tests, as short as they can be said."""

from sweeper.model import Finding, Severity
from tests.security.cheats.case import Case, Content


def case(before: dict[str, Content], after: dict[str, Content], **more: object) -> Case:
    """A change of some files."""
    return Case.model_validate({"name": "change", "why": "test", "before": before, "after": after, **more})


def of(path: str, before: Content, after: Content, **more: object) -> tuple[Finding, ...]:
    """Findings about the change of one file. Content None: the file is not there."""
    return case({} if before is None else {path: before}, {path: after}, **more).findings()


def names(findings: tuple[Finding, ...], severity: Severity | None = None) -> set[str]:
    """Names of the findings, all or those of one severity."""
    return {finding.name for finding in findings if severity in (None, finding.severity)}


def rejected(path: str, before: Content, after: Content, **more: object) -> set[str]:
    """What the change of one file is rejected for."""
    return names(of(path, before, after, **more), Severity.REJECT)
