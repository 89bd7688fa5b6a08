"""The proposal's life on GitHub: opened, found again, changed, closed. Each looks by its natural key before it acts, so
calling twice does the thing once. When an answer is lost the caller asks again, and the look finds what happened.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from adapters.github.client import Client, Repository
from adapters.github.errors import Refused
from adapters.github.graph import DRAFT
from adapters.github.markers import Audit, Marks
from adapters.github.replies import PullReply
from adapters.github.runs import home_of
from adapters.github.world import read_pull
from sweeper.errors import Permanent, PolicyDenied, Transient
from sweeper.model import Effect, EffectState, Proposal, RunRef
from sweeper.ports import NewPull, OpenedPull, PullRef

NOT_OURS = "the pull request is not ours"


@dataclass(frozen=True)
class Pulls:
    """Pull requests under our identity."""

    client: Client
    marks: Marks

    def open(self, new: NewPull) -> OpenedPull:
        """Natural key: the head ref. GitHub itself refuses a second open one for a head and base (422)."""
        there, audit = home_of(self.client, new.run), Audit()
        found = self._look(there, new, audit)
        if found is None:
            found = self._create(there, new, audit)
        reply, state = found
        proposal = _proposal(reply).model_copy(
            update={"base": new.base, "head_sha": new.head_sha, "patch_id": new.patch_id}
        )
        effect = Effect(key=new.effect_key, name="pull.create", state=state, ref=reply.html_url, note=audit.note())
        return OpenedPull(proposal=proposal, effect=effect)

    def find(self, run: RunRef, branch: str) -> Proposal | None:
        """Our oldest open one of that head. A read."""
        there, audit = home_of(self.client, run), Audit()
        ours = [
            pull
            for pull in self._of_head(there, run, branch)
            if self.marks.key_of(pull, run.repository_id, audit) is not None and pull.state == "open"
        ]
        return _proposal(ours[0]) if ours else None

    def update(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        """Natural key: the number and the text. The marker that the pull request was opened with stays in it."""
        there, found = read_pull(self.client, pull)
        audit = Audit()
        opened_as = self.marks.key_of(found, pull.run.repository_id, audit)
        state = EffectState.CREATED
        if opened_as is None:
            return _skipped(found, effect_key, "pull.update", NOT_OURS, audit)
        if found.body == (signed := self.marks.sign(body, opened_as, pull.run.repository_id)):
            state = EffectState.DEDUPLICATED
        else:
            there.send(PullReply, "PATCH", f"pulls/{pull.number}", {"body": signed})
        return Effect(key=effect_key, name="pull.update", state=state, ref=found.html_url)

    def close(self, pull: PullRef, effect_key: str) -> Effect:
        """Natural key: the number. Only ours and only if open; setting it to closed twice is the same."""
        there, found = read_pull(self.client, pull)
        audit, state = Audit(), EffectState.CREATED
        if self.marks.key_of(found, pull.run.repository_id, audit) is None:
            return _skipped(found, effect_key, "pull.close", NOT_OURS, audit)
        if found.merged:
            return _skipped(found, effect_key, "pull.close", "it is merged already", audit)
        if found.state == "closed":
            state = EffectState.DEDUPLICATED
        else:
            there.send(PullReply, "PATCH", f"pulls/{pull.number}", {"state": "closed"})
        return Effect(key=effect_key, name="pull.close", state=state, ref=found.html_url)

    def draft(self, pull: PullRef, effect_key: str) -> Effect:
        """Natural key: the number. A draft already is an answer; only GraphQL can make one."""
        there, found = read_pull(self.client, pull)
        audit, state = Audit(), EffectState.CREATED
        if self.marks.key_of(found, pull.run.repository_id, audit) is None:
            return _skipped(found, effect_key, "pull.draft", NOT_OURS, audit)
        if found.state != "open":
            return _skipped(found, effect_key, "pull.draft", "it is not open any more", audit)
        if found.draft:
            state = EffectState.DEDUPLICATED
        else:
            try:
                there.mutate(DRAFT, {"pullRequestId": found.node_id}, refusable={422})
            except Refused as refused:
                return _skipped(found, effect_key, "pull.draft", f"GitHub keeps it ready: {refused.reason}", audit)
        return Effect(key=effect_key, name="pull.draft", state=state, ref=found.html_url)

    # Opening

    def _look(self, there: Repository, new: NewPull, audit: Audit) -> tuple[PullReply, EffectState] | None:
        """The oldest of the same key in any state, else our open one; younger doubles of the key are closed.

        Raises PolicyDenied for somebody else's open one that stands in the way.
        """
        same: list[PullReply] = []
        adoptable: list[PullReply] = []
        foreign: list[PullReply] = []
        for pull in self._of_head(there, new.run, new.branch):
            key = self.marks.key_of(pull, new.run.repository_id, audit)
            if key == new.effect_key:
                same.append(pull)
            elif pull.state == "open":
                (foreign if key is None else adoptable).append(pull)
        for double in same[1:]:
            if double.state == "open":
                there.send(PullReply, "PATCH", f"pulls/{double.number}", {"state": "closed"})
                audit.removed_double()
        if same:
            return same[0], EffectState.DEDUPLICATED
        if adoptable:
            return adoptable[0], EffectState.ADOPTED
        self._refuse_foreign(foreign, new.base)
        return None

    def _refuse_foreign(self, foreign: list[PullReply], base: str) -> None:
        """GitHub allows one open pull request for a head and base; to another base theirs is in nobody's way."""
        for pull in foreign:
            if pull.base.ref == base:
                who = pull.user.login if pull.user else "a deleted user"
                raise PolicyDenied(f"Close {pull.html_url}: {who} opened it for our branch.")

    def _of_head(self, there: Repository, run: RunRef, branch: str) -> Iterator[PullReply]:
        """Oldest first. Checked item by item: a fork of the same owner may have a branch of the same name."""
        query = {"head": f"{there.owner}:{branch}", "state": "all"}
        for pull in sorted(there.pages(PullReply, "pulls", query), key=lambda pull: pull.number):
            in_other_repository = pull.head.repo is not None and pull.head.repo.id != run.repository_id
            if pull.head.ref == branch and not in_other_repository:
                yield pull

    def _create(self, there: Repository, new: NewPull, audit: Audit) -> tuple[PullReply, EffectState]:
        body = self.marks.sign(new.body, new.effect_key, new.run.repository_id)
        wish = {"title": new.title, "head": new.branch, "base": new.base, "body": body}
        try:
            return there.send(PullReply, "POST", "pulls", wish, refusable={422}), EffectState.CREATED
        except Refused as refused:
            if not refused.says("already exists"):
                raise Permanent(f"Push a commit to {new.branch} first: GitHub answered {refused.reason}.") from None
        found = self._look(there, new, audit)
        if found is None:
            raise Transient(f"List the pull requests of {new.branch} again: GitHub says one exists but shows none yet.")
        return found


def _proposal(pull: PullReply) -> Proposal:
    return Proposal(
        number=pull.number,
        url=pull.html_url,
        branch=pull.head.ref,
        base=pull.base.ref,
        head_sha=pull.head.sha,
        patch_id="",
    )


def _skipped(found: PullReply, key: str, name: str, why: str, audit: Audit) -> Effect:
    audit.remarks.append(why)
    return Effect(key=key, name=name, state=EffectState.SKIPPED, ref=found.html_url, note=audit.note())
