"""Server-rendered pages: the list of sweeps, and one sweep's story. No scripts, no assets from elsewhere."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from sweeper.model import Step
from sweeper.reporting import ListReport, ShowReport


def _is_web_address(text: str | None) -> bool:
    """Only such become links: a `javascript:` address would run."""
    return bool(text) and urlsplit(str(text)).scheme in ("http", "https")


def _clock(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _words(name: object) -> str:
    return str(name).replace("_", " ")


_PAGES = Environment(
    loader=PackageLoader("adapters.web"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_PAGES.filters.update(clock=_clock, words=_words)
_PAGES.tests["web_address"] = _is_web_address


def list_page(report: ListReport) -> str:
    """All sweeps on one page, newest first."""
    return _PAGES.get_template("sweeps.html").render(report=report, fresh=True)


def story_page(report: ShowReport) -> str:
    """One sweep from its trigger to where it is now."""
    path = [step for step in Step if step not in (Step.WATCH, Step.COMPENSATE)]
    return _PAGES.get_template("sweep.html").render(sweep=report, path=path, fresh=report.outcome is None)


def problem_page(sentence: str) -> str:
    """One sentence instead of a page."""
    return _PAGES.get_template("problem.html").render(sentence=sentence, fresh=True)
