"""One malicious repository."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sweeper.model import VerdictKind


@dataclass(frozen=True)
class Malicious:
    """`script` is what the check runs (`check.sh`); `before` what a step ahead of it runs (`build.sh`).

    Both and `files` lie in the tree all along, so that nothing is put back or refused unseen; `changed` is the fix.

    `links`: symlinks, path to target. `answer`: the verdicts that are right. `shown_red`: its failure is shown first,
    because what the verifier compares with matters; else no red run comes first.
    """

    name: str
    does: str
    script: str = "exit 0"
    before: str = ""
    command: str = "sh check.sh"
    files: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=lambda: {"app.py": "answer = 42\n"})
    links: Mapping[str, str] = field(default_factory=dict)
    answer: tuple[VerdictKind, ...] = (VerdictKind.FIXED,)
    shown_red: bool = False
