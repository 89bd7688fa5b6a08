"""The smaller writes of the in-memory code host: labels, reviewers, drafts, check runs, re-runs."""

from sweeper.model import CheckReport, Effect, EffectState, RunRef
from sweeper.ports import PullRef
from tests.support.code_host_base import NOT_OURS, FakeHostBase
from tests.support.code_host_state import FakeCheck, FakePull


class FakeExtras(FakeHostBase):
    """`check_runs`: ours. `may_write_checks`, `may_rerun` and `has_drafts` False: refused as GitHub refuses it."""

    may_write_checks = True
    may_rerun = True
    has_drafts = True

    async def draft_pull(self, pull: PullRef, effect_key: str) -> Effect:
        async with self._call("draft_pull"):
            found = self._pull(pull)
            state, note = EffectState.CREATED, ""
            if not self._is_ours(found):
                state, note = EffectState.SKIPPED, NOT_OURS
            elif found.state != "open":
                state, note = EffectState.SKIPPED, "it is not open any more"
            elif found.draft:
                state = EffectState.DEDUPLICATED
            elif not self.has_drafts:
                state, note = EffectState.SKIPPED, "GitHub keeps it ready: drafts are not supported"
            else:
                found.draft = True
            return self._effect(effect_key, "pull.draft", state, self._address(pull), note, self._impostors([found]))

    async def label_pull(self, pull: PullRef, labels: tuple[str, ...], effect_key: str) -> Effect:
        async with self._call("label_pull"):
            found = self._pull(pull)
            state, note = EffectState.CREATED, ""
            has = {label.casefold() for label in found.labels}
            missing = [label for label in labels if label.casefold() not in has]
            if not self._is_ours(found):
                state, note = EffectState.SKIPPED, NOT_OURS
            elif not missing:
                state = EffectState.DEDUPLICATED
            else:
                found.labels += missing
            return self._effect(effect_key, "label.add", state, self._address(pull), note, self._impostors([found]))

    async def request_reviewers(self, pull: PullRef, reviewers: tuple[str, ...], effect_key: str) -> Effect:
        async with self._call("request_reviewers"):
            found = self._pull(pull)
            if not self._is_ours(found):
                state, note = EffectState.SKIPPED, NOT_OURS
            else:
                state, note = self._ask(found, reviewers)
            ref = self._address(pull)
            return self._effect(effect_key, "reviewers.request", state, ref, note, self._impostors([found]))

    def _ask(self, pull: FakePull, reviewers: tuple[str, ...]) -> tuple[EffectState, str]:
        known = [*pull.reviewers, *(review.user for review in pull.reviews)]
        refused = [who for who in reviewers if who not in self.permissions or who == pull.author]
        missing = [who for who in reviewers if who not in known and who not in refused]
        pull.reviewers += missing
        note = f"GitHub does not let us ask {', '.join(refused)}" if refused else ""
        if missing:
            return EffectState.CREATED, note
        return (EffectState.SKIPPED if set(reviewers) <= set(refused) else EffectState.DEDUPLICATED), note

    async def report_check(self, run: RunRef, report: CheckReport, effect_key: str) -> Effect:
        async with self._call("report_check"):
            if not self.may_write_checks:
                note = "our login may not write check runs here"
                return self._effect(effect_key, "check.create", EffectState.SKIPPED, "", note)
            ours = [one for one in self.check_runs if one.answers(report)]
            name, state = "check.update", EffectState.CREATED
            if not ours:
                name, ours = "check.create", [FakeCheck(self.next_id(), report)]
                self.check_runs += ours
            elif ours[0].report == report:
                state = EffectState.DEDUPLICATED
            ours[0].report = report
            ref = f"https://github.com/{self.repository}/runs/{ours[0].id}"
            return self._effect(effect_key, name, state, ref)

    async def rerun_failed(self, run: RunRef, effect_key: str) -> Effect:
        async with self._call("rerun_failed"):
            self._run(run)
            state, note = EffectState.DEDUPLICATED, ""
            if len(self.runs[run.run_id]) <= run.run_attempt and not self.may_rerun:
                state, note = EffectState.SKIPPED, "our login may not re-run jobs here: grant actions=write"
            elif len(self.runs[run.run_id]) <= run.run_attempt:
                state = EffectState.CREATED
                self.rerun(run, None)
            ref = f"{self.repository}/actions/runs/{run.run_id}/attempts/{len(self.runs[run.run_id])}"
            return self._effect(effect_key, "run.rerun", state, ref, note)
