"""Counts in Prometheus' text format (Prometheus documentation, "Exposition formats")."""

from collections import Counter
from collections.abc import Iterable, Mapping

from sweeper import __version__
from sweeper.model import Outcome, Step
from sweeper.reporting import ListReport

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text(report: ListReport) -> str:
    """Sweeps under way by step, ended ones (as far back as Temporal remembers) by outcome, and who works."""
    steps = Counter(sweep.step for sweep in report.sweeps if sweep.outcome is None)
    outcomes = Counter(sweep.outcome for sweep in report.sweeps if sweep.outcome is not None)
    stuck = sum(sweep.stuck is not None for sweep in report.sweeps)
    lines = [
        *_gauge("sweeper_sweeps_open", "Sweeps under way.", {f'step="{step}"': steps[step] for step in Step}),
        *_gauge(
            "sweeper_sweeps_ended", "Sweeps that ended.", {f'outcome="{name}"': outcomes[name] for name in Outcome}
        ),
        *_gauge("sweeper_sweeps_stuck", "Sweeps that cannot go on by themselves.", {"": stuck}),
        *_gauge("sweeper_worker_alive", "Whether some worker is alive.", {"": int(report.worker.alive)}),
        *_gauge("sweeper_build_info", "The version that runs.", {f'version="{__version__}"': 1}),
    ]
    return "\n".join(lines) + "\n"


def _gauge(name: str, text: str, values: Mapping[str, int]) -> Iterable[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} gauge"
    for label, value in values.items():
        yield f"{name}{{{label}}} {value}" if label else f"{name} {value}"
