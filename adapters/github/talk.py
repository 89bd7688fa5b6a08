"""What we say around a proposal: comments, labels, requests for reviews. Each looks before it acts, so calling twice
does the thing once.
"""

from dataclasses import dataclass

from adapters.github.client import Client, Repository
from adapters.github.errors import Refused
from adapters.github.markers import Audit, Marks
from adapters.github.pulls import NOT_OURS
from adapters.github.replies import CommentReply, PullReply, ReviewReply
from adapters.github.world import read_pull
from sweeper.model import Effect, EffectState
from sweeper.ports import PullRef


@dataclass(frozen=True)
class Talk:
    """Comments, labels and requests under our identity."""

    client: Client
    marks: Marks

    def comment(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        """Natural key: the signed marker. Two of one key (a write that landed late) are brought down to the older."""
        there, _ = read_pull(self.client, pull)
        audit = Audit()
        found = self._converge(there, pull, effect_key, audit)
        state = EffectState.DEDUPLICATED
        if found is None:
            signed = self.marks.sign(body, effect_key, pull.run.repository_id)
            posted = there.send(CommentReply, "POST", f"issues/{pull.number}/comments", {"body": signed})
            found = self._converge(there, pull, effect_key, audit) or posted
            state = EffectState.CREATED if found.id == posted.id else EffectState.DEDUPLICATED
        return Effect(key=effect_key, name="comment.create", state=state, ref=found.html_url, note=audit.note())

    def _converge(self, there: Repository, pull: PullRef, effect_key: str, audit: Audit) -> CommentReply | None:
        """The oldest comment of ours with that key; younger doubles are deleted."""
        ours = sorted(
            (
                comment
                for comment in there.pages(CommentReply, f"issues/{pull.number}/comments")
                if self.marks.key_of(comment, pull.run.repository_id, audit) == effect_key
            ),
            key=lambda comment: comment.id,
        )
        for double in ours[1:]:
            there.delete(f"issues/comments/{double.id}")
            audit.removed_double()
        return ours[0] if ours else None

    def label(self, pull: PullRef, labels: tuple[str, ...], effect_key: str) -> Effect:
        """Natural key: the set of labels, without regard to case. Adding one that is there is nothing."""
        there, found, audit = self._read(pull)
        state, note = EffectState.CREATED, ""
        has = {label.name.casefold() for label in found.labels}
        missing = [label for label in dict.fromkeys(labels) if label.casefold() not in has]
        if not self._is_ours(found, pull, audit):
            state, note = EffectState.SKIPPED, NOT_OURS
        elif not missing:
            state = EffectState.DEDUPLICATED
        else:
            there.act("POST", f"issues/{pull.number}/labels", {"labels": [*missing]})
        return _effect(effect_key, "label.add", state, found, note, audit)

    def request(self, pull: PullRef, reviewers: tuple[str, ...], effect_key: str) -> Effect:
        """Natural key: the people who were asked or have answered. Whom GitHub refuses is named, not an error."""
        there, found, audit = self._read(pull)
        if not self._is_ours(found, pull, audit):
            return _effect(effect_key, "reviewers.request", EffectState.SKIPPED, found, NOT_OURS, audit)
        author = found.user.login.casefold() if found.user else ""
        refused = [who for who in reviewers if who.casefold() == author]
        missing = self._not_yet_asked(there, found, [who for who in dict.fromkeys(reviewers) if who not in refused])
        refused += self._ask(there, pull.number, missing)
        note = f"GitHub does not let us ask {', '.join(refused)}" if refused else ""
        if set(missing) - set(refused):
            state = EffectState.CREATED
        else:
            state = EffectState.SKIPPED if set(reviewers) <= set(refused) else EffectState.DEDUPLICATED
        return _effect(effect_key, "reviewers.request", state, found, note, audit)

    def _not_yet_asked(self, there: Repository, found: PullReply, wanted: list[str]) -> list[str]:
        """Who answers leaves the list of those asked, and is not asked again."""
        asked = {person.login.casefold() for person in found.requested_reviewers}
        if all(who.casefold() in asked for who in wanted):
            return []
        reviews = there.pages(ReviewReply, f"pulls/{found.number}/reviews")
        answered = {review.user.login.casefold() for review in reviews if review.user is not None}
        return [who for who in wanted if who.casefold() not in asked | answered]

    def _ask(self, there: Repository, number: int, people: list[str]) -> list[str]:
        """Ask all at once; one who cannot be asked spoils it for all (422), so then one by one. Whom GitHub refused."""
        if not people:
            return []
        try:
            there.act("POST", f"pulls/{number}/requested_reviewers", {"reviewers": [*people]}, refusable={422})
        except Refused:
            if len(people) == 1:
                return people
            return [who for single in people for who in self._ask(there, number, [single])]
        return []

    def _read(self, pull: PullRef) -> tuple[Repository, PullReply, Audit]:
        return *read_pull(self.client, pull), Audit()

    def _is_ours(self, found: PullReply, pull: PullRef, audit: Audit) -> bool:
        return self.marks.key_of(found, pull.run.repository_id, audit) is not None


def _effect(key: str, name: str, state: EffectState, found: PullReply, note: str, audit: Audit) -> Effect:
    if note:
        audit.remarks.append(note)
    return Effect(key=key, name=name, state=state, ref=found.html_url, note=audit.note())
