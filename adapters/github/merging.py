"""Merging a proposal, and whether it landed on what it was proved on.

GitHub compares the head in the call itself, so another head than the approved one is never merged. It does not compare
the base, so the parent of what was merged is read afterwards and said in the effect's note.
"""

from dataclasses import dataclass

from adapters.github.client import Client, Repository
from adapters.github.lineage import landed_on
from adapters.github.replies import CommitReply, MergeReply, PullReply, RepositoryReply
from adapters.github.world import read_pull
from sweeper.errors import MergeRefused
from sweeper.model import Effect, EffectState
from sweeper.ports import PullRef


@dataclass(frozen=True)
class Merges:
    """Merges under our identity."""

    client: Client

    def merge(self, pull: PullRef, head_sha: str, effect_key: str, proved_on: str | None = None) -> Effect:
        """Natural key: number and head. Merged already, by whomever, is an answer; with another head it is none."""
        there, found = read_pull(self.client, pull)
        if found.merged:
            merged_as, state = found.merge_commit_sha or "", EffectState.DEDUPLICATED
        else:
            merged_as, state = self._merge_or_find(there, found, head_sha)
            found = there.get(PullReply, f"pulls/{pull.number}")
        if found.head.sha != head_sha:
            raise MergeRefused(f"Look at {found.html_url}: it was merged with another head.")
        note = self._moved_base(there, found, merged_as, proved_on) if proved_on and merged_as else ""
        return Effect(key=effect_key, name="pull.merge", state=state, ref=merged_as, note=note)

    def _merge_or_find(self, there: Repository, found: PullReply, head_sha: str) -> tuple[str, EffectState]:
        try:
            return self._merge(there, found, head_sha), EffectState.CREATED
        except MergeRefused:
            found = there.get(PullReply, f"pulls/{found.number}")
            if not found.merged:
                raise
        return found.merge_commit_sha or "", EffectState.DEDUPLICATED

    def _moved_base(self, there: Repository, found: PullReply, merged_as: str, proved_on: str) -> str:
        """What to say when the base was another one than the proof was made for; empty if it was that one."""

        def read(sha: str) -> CommitReply:
            return there.get(CommitReply, f"commits/{sha}", {"per_page": "1"})

        base = landed_on(merged_as, found.head.sha, found.commits or 1, read)
        return "" if base == proved_on else f"merged onto {base or 'an unknown commit'}, proved on {proved_on}"

    def _merge(self, there: Repository, found: PullReply, head_sha: str) -> str:
        if found.state == "closed" or found.head.sha != head_sha:
            raise MergeRefused(f"Look at {found.html_url} again: it is closed or its head has moved.")
        wish = {"sha": head_sha, "merge_method": _merge_method(found.base.repo)}
        done = there.send(MergeReply, "PUT", f"pulls/{found.number}/merge", wish)
        if not done.merged:
            raise MergeRefused(f"Try the merge of {found.html_url} again later: GitHub did not do it.")
        return done.sha


def _merge_method(home: RepositoryReply | None) -> str:
    """The first of merge, squash and rebase that the repository allows; unknown counts as allowed."""
    if home is None or home.allow_merge_commit is not False:
        return "merge"
    return "squash" if home.allow_squash_merge is not False else "rebase"
