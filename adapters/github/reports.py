"""Our check run on a commit: one for each sweep.

Only apps may write check runs. Without that right it is skipped with a note: no sweep depends on it.
"""

from dataclasses import dataclass

from pydantic import JsonValue

from adapters.github.checks import CHECK_NAME
from adapters.github.ci_replies import CheckRunReply
from adapters.github.client import Client, Repository
from adapters.github.markers import Audit
from adapters.github.runs import home_of
from sweeper.errors import PolicyDenied
from sweeper.model import CheckReport, Effect, EffectState, RunRef

LONGEST_TEXT = 60_000
"""GitHub takes 65,535 characters."""

NO_RIGHT = "our login may not write check runs here"
_SUPERSEDED: dict[str, JsonValue] = {
    "status": "completed",
    "conclusion": "neutral",
    "output": {"title": "Superseded", "summary": "Another check run of this commit tells the same story."},
}


@dataclass(frozen=True)
class Reports:
    """Check runs under our identity."""

    client: Client

    def report(self, run: RunRef, report: CheckReport, effect_key: str) -> Effect:
        """Natural key: commit, external id, our name and our app. Two (both of us saw none) become the older one."""
        audit = Audit()
        try:
            name, state, ref = self._report(run, report, audit)
        except PolicyDenied:
            audit.remarks.append(NO_RIGHT)
            return Effect(key=effect_key, name="check.create", state=EffectState.SKIPPED, note=audit.note())
        return Effect(key=effect_key, name=name, state=state, ref=ref, note=audit.note())

    def _report(self, run: RunRef, report: CheckReport, audit: Audit) -> tuple[str, EffectState, str]:
        there = home_of(self.client, run)
        found = self._converge(there, report, audit)
        if found is None:
            body = {"name": CHECK_NAME, "head_sha": report.sha, "external_id": report.external_id, **_wish(report)}
            made = there.send(CheckRunReply, "POST", "check-runs", body)
            found = self._converge(there, report, audit) or made
            if found.id == made.id:
                return "check.create", EffectState.CREATED, made.html_url or ""
        if _says(found, report):
            return "check.update", EffectState.DEDUPLICATED, found.html_url or ""
        there.send(CheckRunReply, "PATCH", f"check-runs/{found.id}", _wish(report))
        return "check.update", EffectState.CREATED, found.html_url or ""

    def _converge(self, there: Repository, report: CheckReport, audit: Audit) -> CheckRunReply | None:
        """The oldest of ours for that sweep; younger ones are ended and say so: check runs cannot be deleted."""
        query = {"check_name": CHECK_NAME, "filter": "all"}
        found = there.pages(CheckRunReply, f"commits/{report.sha}/check-runs", query, within="check_runs")
        ours = sorted((check for check in found if self._is_ours(check, report)), key=lambda check: check.id)
        for double in ours[1:]:
            if not _is_superseded(double):
                there.send(CheckRunReply, "PATCH", f"check-runs/{double.id}", _SUPERSEDED)
                audit.removed_double()
        return ours[0] if ours else None

    def _is_ours(self, check: CheckRunReply, report: CheckReport) -> bool:
        """By app where we are one; a token's app is not known to us, and GitHub guards its check runs anyway."""
        app_id = self.client.tokens.app_id
        same_app = app_id is None or (check.app is not None and check.app.id == app_id)
        return same_app and check.name == CHECK_NAME and check.external_id == report.external_id


def _wish(report: CheckReport) -> dict[str, JsonValue]:
    output: JsonValue = {"title": report.title, "summary": report.summary[:LONGEST_TEXT]}
    if report.conclusion is None:
        return {"status": "in_progress", "output": output}
    return {"status": "completed", "conclusion": report.conclusion, "output": output}


def _says(check: CheckRunReply, report: CheckReport) -> bool:
    words = (check.output.title or "", check.output.summary or "")
    return (check.conclusion, *words) == (report.conclusion, report.title, report.summary[:LONGEST_TEXT])


def _is_superseded(check: CheckRunReply) -> bool:
    return (check.conclusion, check.output.title) == ("neutral", "Superseded")
