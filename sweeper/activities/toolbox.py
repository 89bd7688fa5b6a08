"""What an agent's tools take and give when each use is an activity of its own.

All of it lives in history: texts are capped, the rest goes by reference.
"""

from sweeper.activities.requests import AttemptRequest
from sweeper.model import ArtifactRef, Check, FixReport, Price, Timeouts, Wire
from sweeper.model.journal import JournalRef, RecordState

ANSWER_BYTES = 16 << 10
"""Of one answer to an agent. The whole list of messages goes with every question to a model."""


class Bench(Wire):
    """Where an agent works: its journal, the tip its owner knows, and the bundle that tip can be restored from."""

    repository: str
    journal: JournalRef
    tip: str
    bundle: ArtifactRef | None = None


def first_bench(attempt: AttemptRequest) -> Bench:
    """Where an attempt begins: an empty journal on its base."""
    run = attempt.facts.run
    journal = JournalRef(repository_id=run.repository_id, sweep=attempt.sweep, attempt=attempt.n, base=attempt.base)
    return Bench(repository=run.repository, journal=journal, tip=attempt.base)


class ListFiles(Wire):
    """Files at or below a folder; empty: all."""

    bench: Bench
    under: str = ""


class ReadFile(Wire):
    """Lines of a file, counted from 1, both ends included; `last` None: to the end."""

    bench: Bench
    path: str
    first: int = 1
    last: int | None = None


class SearchFiles(Wire):
    """Lines that match an extended regular expression."""

    bench: Bench
    pattern: str
    under: str = ""


class EditFile(Wire):
    """Replace the one place where `old` stands by `new`."""

    bench: Bench
    path: str
    old: str
    new: str


class WriteFile(Wire):
    """A file's whole content."""

    bench: Bench
    path: str
    content: str


class DeleteFile(Wire):
    """Remove a file."""

    bench: Bench
    path: str


class RunCheck(Wire):
    """Run one check of the plan on the journal's tip."""

    bench: Bench
    check: Check


class ToolAnswer(Wire):
    """What an agent is told, redacted, at most ANSWER_BYTES; `rest`: the whole text where it was cut.

    `is_error`: it could not be done, and the text says why. `tip` and `bundle` are those of the journal from now on.
    `suspicions`: where the text may try to give orders.
    """

    text: str
    is_error: bool = False
    rest: ArtifactRef | None = None
    tip: str
    bundle: ArtifactRef | None = None
    state: RecordState | None = None
    rewound: bool = False
    suspicions: tuple[str, ...] = ()


class Briefing(Wire):
    """The task in words: data is delimited and redacted; at most ANSWER_BYTES."""

    text: str
    suspicions: tuple[str, ...] = ()


class FinishRequest(Wire):
    """The end of an attempt: what its journal holds becomes the patch."""

    attempt: AttemptRequest
    bench: Bench
    report: FixReport


class ModelTask(Wire):
    """An attempt for an agent that is a workflow of its own: which host has the tree, within which bounds.

    `home`: the queue of everything any host can do; None: the usual one.
    """

    attempt: AttemptRequest
    host: str
    timeouts: Timeouts
    home: str | None = None


class ModelReady(Wire):
    """Whether a model can be asked here. `problem`: one sentence, if not.

    `model`: PROVIDER:NAME of the one that will be. `price` None: nobody told what it costs.
    """

    versions: dict[str, str] = {}
    problem: str | None = None
    model: str = ""
    price: Price | None = None
