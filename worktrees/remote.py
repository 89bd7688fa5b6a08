"""Branches on the other side: look, act if not yet done, look again when the answer was lost."""

from dataclasses import dataclass

from sweeper.errors import AuthBroken, OutcomeUnknown, PolicyDenied, Stale, SweeperError
from sweeper.model import Effect, EffectState, GitAccess
from worktrees.mirror import HeldMirror
from worktrees.names import branch_ref, commit_id

LOOK_SECONDS = 60.0
PUSH_SECONDS = 300.0
_KNOWN_REFUSALS = (AuthBroken, PolicyDenied)


@dataclass(frozen=True)
class RemoteBranch:
    """A branch of the repository behind `access`; writes are named by `effect_key`."""

    mirror: HeldMirror
    branch: str
    access: GitAccess
    effect_key: str

    @property
    def ref(self) -> str:
        """The full ref name. Raises BadInput for a bad branch name."""
        return branch_ref(self.branch)

    def look(self) -> str | None:
        """The commit it is at right now; None if it does not exist."""
        options = ("ls-remote", "--refs", "--quiet", self.access.url, self.ref)
        answer = self.mirror.ask_remote(*options, access=self.access, seconds=LOOK_SECONDS)
        found = (line.partition("\t") for line in answer.text.splitlines())
        return next((commit for commit, _, ref in found if ref == self.ref), None)

    def push(self, commit: str, expected: str | None) -> Effect:
        """Put it at `commit` if it is at `expected` (None: absent). Twice: the second finds it there, deduplicated.

        Raises Stale if it is at neither, AuthBroken or PolicyDenied if refused, OutcomeUnknown if nobody can say.
        """
        seen = self.look()
        if seen == commit_id(commit):
            return self._effect("push", EffectState.DEDUPLICATED, commit)
        if seen != expected:
            raise Stale(f"{self.branch} is at {seen or 'no commit'}, not at {expected or 'none'}; read it again.")
        self.mirror.require(commit)
        try:
            self._send(f"{commit}:{self.ref}", expected or "")
        except SweeperError as error:
            return self._push_after(error, commit, expected)
        return self._effect("push", EffectState.CREATED, commit)

    def delete(self, ours: str) -> Effect:
        """Delete it if it is still at `ours`. Twice: the second finds it gone. Raises as `push` does."""
        seen = self.look()
        if seen != commit_id(ours):
            return self._not_at(ours, seen)
        try:
            self._send(f":{self.ref}", ours)
        except SweeperError as error:
            return self._delete_after(error, ours)
        return self._effect("delete", EffectState.CREATED, ours)

    def _send(self, refspec: str, lease: str) -> None:
        options = ("--quiet", "--no-verify", "--no-follow-tags", f"--force-with-lease={self.ref}:{lease}")
        self.mirror.ask_remote("push", *options, self.access.url, refspec, access=self.access, seconds=PUSH_SECONDS)

    def _push_after(self, error: SweeperError, commit: str, expected: str | None) -> Effect:
        seen = self._look_again(error)
        if seen == commit:
            return self._effect("push", EffectState.CREATED, commit)
        if seen != expected:
            raise Stale(f"{self.branch} moved to {seen or 'no commit'} meanwhile; read it again.") from error
        raise self._unanswered(error) from error

    def _delete_after(self, error: SweeperError, ours: str) -> Effect:
        seen = self._look_again(error)
        if seen is None:
            return self._effect("delete", EffectState.CREATED, ours)
        if seen != ours:
            return self._not_at(ours, seen)
        raise self._unanswered(error) from error

    def _look_again(self, error: SweeperError) -> str | None:
        try:
            return self.look()
        except SweeperError:
            raise self._unanswered(error) from error

    def _unanswered(self, error: SweeperError) -> SweeperError:
        """A refusal we understand stays what it is; for all else only another look can tell what happened."""
        if isinstance(error, _KNOWN_REFUSALS):
            return error
        return OutcomeUnknown(
            f"The write to {self.branch} has no clear answer; it is looked at and tried again: {error}"
        )

    def _effect(self, verb: str, state: EffectState, commit: str, note: str = "") -> Effect:
        return Effect(key=self.effect_key, name=f"branch.{verb}", state=state, ref=f"{self.ref}@{commit}", note=note)

    def _not_at(self, ours: str, seen: str | None) -> Effect:
        """Nothing to delete. A branch that is gone does not say who deleted it; by all we know it was ours."""
        if seen is None:
            return self._effect("delete", EffectState.DEDUPLICATED, ours, "already gone")
        note = f"moved on to {seen}, left alone"
        return Effect(key=self.effect_key, name="branch.delete", state=EffectState.SKIPPED, ref=self.ref, note=note)
