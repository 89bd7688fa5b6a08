"""What every agent's work goes through: its journal on this host, its actions' keys, and the patch it comes to.

Safe twice: journals answer a known action from their record, bundles and stories are content-addressed, and the same
tree gives the same patch.
"""

import hashlib
import json

from temporalio import activity

from sweeper.activities import requests
from sweeper.activities.toolbox import Bench
from sweeper.model import ArtifactRef, CommitMeta, FixOutcome, FixReport, Patch, Wire
from sweeper.model.journal import SUMMARY_CHARACTERS, AgentAction, JournalRef
from sweeper.policy.rendering import commit_message, signed_off
from sweeper.policy.storytelling import story_lines
from sweeper.ports import Ports

SHOWN_DIFF_BYTES = 4_000_000
"""Above this a diff is neither kept nor read for secrets: it is far over any limit and goes to a human as it is."""


def agent_action(tool: str, arguments: Wire, summary: str) -> AgentAction:
    """The action of the activity that runs now: its key is the same over retries, and unique per call."""
    info = activity.info()
    told = json.dumps(arguments.model_dump(mode="json", exclude={"bench"}), sort_keys=True)
    return AgentAction(
        key=f"{info.workflow_id}/{info.workflow_run_id}/{info.activity_id}",
        tool=tool,
        arguments_hash=hashlib.sha256(f"{tool} {told}".encode()).hexdigest(),
        summary=" ".join(summary.split())[:SUMMARY_CHARACTERS],
    )


class JournalKeeper:
    """Journals with what lies around them: the repository they build on, the store their bundles are in."""

    def __init__(self, ports: Ports) -> None:
        self._code_host = ports.code_host
        self._workspaces = ports.workspaces
        self._journals = ports.journals
        self._artifacts = ports.artifacts
        self._redactor = ports.redactor
        self._author = (ports.author_name, ports.author_email)

    async def have(self, repository: str, journal: JournalRef, commit: str, bundle: ArtifactRef | None) -> None:
        """Have a commit of a journal on this host, from its bundle if another host made it.

        Raises NotFound when there is none.
        """
        if await self._journals.has(journal, commit):
            return
        access = await self._code_host.git_access(repository)
        await self._workspaces.fetch(journal.repository_id, [journal.base], access)
        if commit != journal.base and bundle is not None:
            await self._journals.restore(journal, commit, await self._artifacts.get(bundle))

    async def have_patch(self, repository: str, repository_id: int, patch: Patch) -> None:
        """The same for a patch, whose bundle builds on its parent."""
        if patch.bundle is not None:
            journal = JournalRef(repository_id=repository_id, sweep="", attempt=0, base=patch.parent)
            await self.have(repository, journal, patch.commit, patch.bundle)

    async def bundle(self, journal: JournalRef, commit: str) -> ArtifactRef | None:
        """What another host needs to go on from there; None where there is nothing beyond the base."""
        if commit == journal.base:
            return None
        return await self._artifacts.put(await self._journals.bundle(journal, commit))

    async def finish(self, request: requests.AttemptRequest, bench: Bench, report: FixReport) -> requests.FixAnswer:
        """The patch that a journal comes to, and its story. No patch where the agent did not end well."""
        entries = await self._journals.entries(bench.journal)
        report = report.model_copy(update={"summary": self._redactor.text(report.summary)})
        if entries:
            story = "\n".join(story_lines(entries)).encode()
            told = {"actions": len(entries), "story": await self._artifacts.put(self._redactor.redact(story))}
            report = report.model_copy(update=told)
        if report.outcome is not FixOutcome.EDITED:
            return requests.FixAnswer(report=report, host=self._workspaces.host)
        parent = request.facts.head_sha
        patch = await self._journals.patch(bench.journal, bench.tip, parent, self._meta(request))
        if patch is None:
            unchanged = report.model_copy(update={"outcome": FixOutcome.NO_CHANGE})
            return requests.FixAnswer(report=unchanged, host=self._workspaces.host)
        kept = await self._kept(bench.journal, patch)
        return requests.FixAnswer(report=report, patch=kept, host=self._workspaces.host)

    async def _kept(self, journal: JournalRef, patch: Patch) -> Patch:
        """With its diff and its bundle in the store. A bundle reaches back to the failing commit, which GitHub has."""
        whole = journal.model_copy(update={"base": patch.parent})
        patch = patch.model_copy(update={"bundle": await self.bundle(whole, patch.commit)})
        if patch.bytes_changed > SHOWN_DIFF_BYTES:
            return patch
        diff = await self._workspaces.diff(journal.repository_id, patch.parent, patch.commit)
        return patch.model_copy(update={"diff": await self._artifacts.put(self._redactor.redact(diff))})

    def _meta(self, request: requests.AttemptRequest) -> CommitMeta:
        """Dated by the failing run: the same on every retry, so the same tree is the same commit."""
        message = commit_message(request.sweep, request.n, request.agent, request.facts, request.diagnosis)
        name, email = self._author
        message = signed_off(message, name, email)
        return CommitMeta(message=message, name=name, email=email, date=request.facts.created_at)
