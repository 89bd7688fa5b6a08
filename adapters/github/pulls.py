"""Writes on pull requests. Each looks by its natural key before it acts, so calling twice does the thing once.

Ours is what our login authored *and* carries a marker whose HMAC holds; anything else with a marker is passed over.
When an answer is lost the caller asks again, and the look finds what happened.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from adapters.github.client import Client, Repository
from adapters.github.errors import Refused
from adapters.github.replies import CommentReply, MergeReply, PersonReply, PullReply, RepositoryReply
from adapters.github.world import read_pull
from sweeper import ids
from sweeper.errors import MergeRefused, NotFound, Permanent, PolicyDenied, Transient
from sweeper.model import Effect, EffectState, Proposal
from sweeper.ports import NewPull, OpenedPull, PullRef

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pulls:
    """Pull requests, comments and merges under our identity."""

    client: Client
    marker_key: bytes

    def open(self, new: NewPull) -> OpenedPull:
        """Natural key: the head ref. GitHub itself refuses a second open one for a head and base (422)."""
        there = self._home(new)
        found = self._look(there, new)
        if found is None:
            found = self._create(there, new)
        reply, state = found
        proposal = Proposal(
            number=reply.number,
            url=reply.html_url,
            branch=new.branch,
            base=new.base,
            head_sha=new.head_sha,
            patch_id=new.patch_id,
        )
        effect = Effect(key=new.effect_key, name="pull.create", state=state, ref=reply.html_url)
        return OpenedPull(proposal=proposal, effect=effect)

    def update(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        """Natural key: the number and the text. The marker that the pull request was opened with stays in it."""
        there, found = read_pull(self.client, pull)
        opened_as = self._key_in(found.body, found.user, pull.run.repository_id)
        state, note = EffectState.CREATED, ""
        if opened_as is None:
            state, note = EffectState.SKIPPED, "the pull request is not ours"
        elif found.body == (signed := self._signed(body, opened_as, pull.run.repository_id)):
            state = EffectState.DEDUPLICATED
        else:
            there.send(PullReply, "PATCH", f"pulls/{pull.number}", {"body": signed})
        return Effect(key=effect_key, name="pull.update", state=state, ref=found.html_url, note=note)

    def comment(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        """Natural key: the signed marker. Two of one key (a write that landed late) are brought down to the older."""
        there, _ = read_pull(self.client, pull)
        found = self._converge(there, pull, effect_key)
        state = EffectState.DEDUPLICATED
        if found is None:
            signed = self._signed(body, effect_key, pull.run.repository_id)
            posted = there.send(CommentReply, "POST", f"issues/{pull.number}/comments", {"body": signed})
            found = self._converge(there, pull, effect_key) or posted
            state = EffectState.CREATED if found.id == posted.id else EffectState.DEDUPLICATED
        return Effect(key=effect_key, name="comment.create", state=state, ref=found.html_url)

    def close(self, pull: PullRef, effect_key: str) -> Effect:
        """Natural key: the number. Only ours and only if open; setting it to closed twice is the same."""
        there, found = read_pull(self.client, pull)
        state, note = EffectState.CREATED, ""
        if self._key_in(found.body, found.user, pull.run.repository_id) is None:
            state, note = EffectState.SKIPPED, "the pull request is not ours"
        elif found.merged:
            state, note = EffectState.SKIPPED, "it is merged already"
        elif found.state == "closed":
            state = EffectState.DEDUPLICATED
        else:
            there.send(PullReply, "PATCH", f"pulls/{pull.number}", {"state": "closed"})
        return Effect(key=effect_key, name="pull.close", state=state, ref=found.html_url, note=note)

    def merge(self, pull: PullRef, head_sha: str, effect_key: str) -> Effect:
        """Natural key: number and head. GitHub compares the head in the call itself, so a moved one is never merged."""
        there, found = read_pull(self.client, pull)
        if not found.merged:
            try:
                merge_sha = self._merge(there, found, head_sha)
            except MergeRefused:
                there, found = read_pull(self.client, pull)
                if not found.merged:
                    raise
            else:
                return Effect(key=effect_key, name="pull.merge", state=EffectState.CREATED, ref=merge_sha)
        if found.head.sha != head_sha:
            raise MergeRefused(f"Look at {found.html_url}: it was merged with another head.")
        merged_as = found.merge_commit_sha or ""
        return Effect(key=effect_key, name="pull.merge", state=EffectState.DEDUPLICATED, ref=merged_as)

    # Opening

    def _home(self, new: NewPull) -> Repository:
        """The repository under its current name: `head=` takes the current owner only."""
        home = self.client.repository(new.run.repository).get(RepositoryReply)
        if home.id != new.run.repository_id:
            raise NotFound(f"Trigger the run again by its new name: {new.run.repository} is another repository now.")
        return self.client.repository(home.full_name)

    def _look(self, there: Repository, new: NewPull) -> tuple[PullReply, EffectState] | None:
        """One of the same key in any state, else our open one. Raises PolicyDenied for somebody else's open one."""
        adopted, foreign = None, None
        for pull in self._of_head(there, new):
            key = self._key_in(pull.body, pull.user, new.run.repository_id)
            if key == new.effect_key:
                return pull, EffectState.DEDUPLICATED
            if pull.state == "open":
                adopted, foreign = (pull, foreign) if key is not None else (adopted, pull)
        if adopted is not None:
            return adopted, EffectState.ADOPTED
        if foreign is not None:
            raise PolicyDenied(f"Close {foreign.html_url}: somebody else opened it for our branch.")
        return None

    def _of_head(self, there: Repository, new: NewPull) -> Iterator[PullReply]:
        """Checked item by item: a fork of the same owner may have a branch of the same name."""
        query = {"head": f"{there.owner}:{new.branch}", "state": "all"}
        for pull in there.pages(PullReply, "pulls", query):
            in_other_repository = pull.head.repo is not None and pull.head.repo.id != new.run.repository_id
            if pull.head.ref == new.branch and not in_other_repository:
                yield pull

    def _create(self, there: Repository, new: NewPull) -> tuple[PullReply, EffectState]:
        body = self._signed(new.body, new.effect_key, new.run.repository_id)
        wish = {"title": new.title, "head": new.branch, "base": new.base, "body": body}
        try:
            return there.send(PullReply, "POST", "pulls", wish, refusable={422}), EffectState.CREATED
        except Refused as refused:
            if not refused.says("already exists"):
                raise Permanent(f"Push a commit to {new.branch} first: GitHub answered {refused.reason}.") from None
        found = self._look(there, new)
        if found is None:
            raise Transient(f"List the pull requests of {new.branch} again: GitHub says one exists but shows none yet.")
        return found

    # Comments

    def _converge(self, there: Repository, pull: PullRef, effect_key: str) -> CommentReply | None:
        """The oldest comment of ours with that key; younger doubles are deleted."""
        ours = sorted(
            (
                comment
                for comment in there.pages(CommentReply, f"issues/{pull.number}/comments")
                if self._key_in(comment.body, comment.user, pull.run.repository_id) == effect_key
            ),
            key=lambda comment: comment.id,
        )
        for double in ours[1:]:
            there.delete(f"issues/comments/{double.id}")
        return ours[0] if ours else None

    # Merging

    def _merge(self, there: Repository, found: PullReply, head_sha: str) -> str:
        if found.state == "closed" or found.head.sha != head_sha:
            raise MergeRefused(f"Look at {found.html_url} again: it is closed or its head has moved.")
        wish = {"sha": head_sha, "merge_method": _merge_method(found.base.repo)}
        done = there.send(MergeReply, "PUT", f"pulls/{found.number}/merge", wish)
        if not done.merged:
            raise MergeRefused(f"Try the merge of {found.html_url} again later: GitHub did not do it.")
        return done.sha

    # Marks of ours

    def _signed(self, body: str, effect_key: str, repository_id: int) -> str:
        return f"{body}\n\n{ids.marker(effect_key, self.marker_key, repository_id)}"

    def _key_in(self, body: str | None, author: PersonReply | None, repository_id: int) -> str | None:
        """The effect key of a text of ours. A valid marker under another name was copied: audited, not believed."""
        key = ids.effect_of_body(body, self.marker_key, repository_id)
        if key is None:
            return None
        if author is not None and author.login.casefold() == self.client.tokens.login().casefold():
            return key
        log.warning("passed over a marker of ours in a text of %s", author.login if author else "a deleted user")
        return None


def _merge_method(home: RepositoryReply | None) -> str:
    """The first of merge, squash and rebase that the repository allows; unknown counts as allowed."""
    if home is None or home.allow_merge_commit is not False:
        return "merge"
    return "squash" if home.allow_squash_merge is not False else "rebase"
