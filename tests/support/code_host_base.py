"""What every call of the in-memory code host stands on: faults, what is counted, and what is ours."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Literal

from sweeper import ids
from sweeper.errors import NotFound, SweeperError
from sweeper.model import Effect, EffectState, RunRef
from sweeper.ports import PullRef
from tests.support.code_host_scene import FakeGitHub
from tests.support.code_host_state import FakeComment, FakePull, FakeRun, Fault

When = Literal["before", "after"]
NOT_OURS = "the pull request is not ours"


class FakeHostBase(FakeGitHub):
    """`effects` lists the writes that happened, `calls` the port methods asked, both in order."""

    def __init__(
        self,
        repository: str = "octo/app",
        repository_id: int = 4711,
        *,
        marker_key: bytes = b"fake marker key",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(repository, repository_id, clock)
        self.bot_login = "ci-sweeper[bot]"
        self.effects: list[Effect] = []
        self.calls: list[str] = []
        self._marker_key = marker_key
        self._faults: list[Fault] = []

    def fail_next(self, method: str, error: SweeperError, when: When = "before", times: int = 1) -> None:
        """The next `times` calls of a port method raise; `after`: although they took effect."""
        self._faults.extend([Fault(method, error, when)] * times)

    def count(self, effect_name: str) -> int:
        """How often a write of that name happened."""
        return sum(effect.name == effect_name for effect in self.effects)

    @asynccontextmanager
    async def _call(self, method: str) -> AsyncIterator[None]:
        self.calls.append(method)
        fault = next((fault for fault in self._faults if fault.method == method), None)
        if fault is not None:
            self._faults.remove(fault)
            if fault.when == "before":
                raise fault.error
        yield
        if fault is not None:
            raise fault.error

    def _run(self, ref: RunRef) -> FakeRun:
        attempts = self.runs.get(ref.run_id, [])
        if ref.repository_id != self.repository_id or not 1 <= ref.run_attempt <= len(attempts):
            raise NotFound(f"Check the number: {ref.repository} has no run {ref.run_id} attempt {ref.run_attempt}.")
        return attempts[ref.run_attempt - 1]

    def _pull(self, ref: PullRef) -> FakePull:
        if ref.number not in self.pulls or ref.run.repository_id != self.repository_id:
            raise NotFound(f"Check the number: {ref.run.repository} has no pull request {ref.number}.")
        return self.pulls[ref.number]

    def _is_ours(self, pull: FakePull) -> bool:
        return self._key_of(pull) is not None

    def _key_of(self, text: FakePull | FakeComment) -> str | None:
        by_us = text.author == self.bot_login
        return ids.effect_of_body(text.body, self._marker_key, self.repository_id) if by_us else None

    def _impostors(self, texts: list[FakePull] | list[FakeComment]) -> str:
        """The part of a note that names who posted markers that are not ours."""
        forged = [text.author for text in texts if ids.claims_an_effect(text.body) and self._key_of(text) is None]
        return f"passed over a forged marker of {', '.join(dict.fromkeys(forged))}" if forged else ""

    def _marker(self, effect_key: str) -> str:
        return ids.marker(effect_key, self._marker_key, self.repository_id)

    def _address(self, pull: PullRef) -> str:
        return f"https://github.com/{self.repository}/pull/{pull.number}"

    def _effect(self, key: str, name: str, state: EffectState, ref: str, *remarks: str) -> Effect:
        note = "; ".join(remark for remark in remarks if remark)
        effect = Effect(key=key, name=name, state=state, ref=ref, note=note)
        if state is EffectState.CREATED:
            self.effects.append(effect)
        return effect
