"""The tools of an agent whose every step is recorded: each use is one activity, on the host that has the journal.

Safe twice: reading changes nothing; an edit is found in the journal by its key and answered from there. What an agent
asks for wrongly is an answer to it, not an error of ours.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from temporalio import activity

from sweeper.activities import names, requests, toolbox
from sweeper.activities.job_runs import JobRun, JobRunner, Tree
from sweeper.activities.journaling import JournalKeeper, agent_action
from sweeper.activities.tasks import TaskTeller
from sweeper.activities.toolbox import ANSWER_BYTES, Bench, ToolAnswer
from sweeper.errors import BadInput, PolicyDenied
from sweeper.model.journal import AgentAction, FileEdit, Recorded, RecordState
from sweeper.policy.briefing import briefing, suspected
from sweeper.policy.edits import numbered_lines, replaced
from sweeper.policy.suspicion import suspicions
from sweeper.policy.triage import excerpt
from sweeper.ports import Ports

MOST_FILES = 2000
MOST_LINES = 200
FILE_BYTES = 2 << 20
CHECK_SECONDS = 900.0
_ANSWERABLE = (BadInput, PolicyDenied)
_CUT = "\n[... cut: {} more bytes; ask for less at a time ...]"


@dataclass(frozen=True)
class _Said:
    """A whole answer, before it is redacted and cut. `source`: a file of the repository it shows."""

    text: str
    source: str = ""
    is_error: bool = False


class ToolActivities:
    """Reading and changing an attempt's tree, and running its checks."""

    def __init__(self, ports: Ports, check_seconds: float = CHECK_SECONDS) -> None:
        self._journals = ports.journals
        self._artifacts = ports.artifacts
        self._redactor = ports.redactor
        self._keeper = JournalKeeper(ports)
        self._runner = JobRunner(ports)
        self._teller = TaskTeller(ports)
        self._check_seconds = check_seconds

    @activity.defn(name=names.BRIEF_AGENT.name)
    async def brief_agent(self, request: requests.AttemptRequest) -> toolbox.Briefing:
        """The task in words."""
        task = await self._teller.task(request)
        text = self._redactor.redact(briefing(task, ANSWER_BYTES).encode()).decode("utf-8", "replace")
        return toolbox.Briefing(text=text[:ANSWER_BYTES], suspicions=suspected(task))

    @activity.defn(name=names.LIST_FILES.name)
    async def list_files(self, request: toolbox.ListFiles) -> ToolAnswer:
        """Paths with their sizes."""
        return await self._read(request.bench, lambda: self._list(request))

    async def _list(self, request: toolbox.ListFiles) -> _Said:
        bench = request.bench
        found = await self._journals.files(bench.journal, bench.tip, request.under, MOST_FILES)
        lines = [file.path if file.size is None else f"{file.path} ({file.size} bytes)" for file in found]
        if not lines:
            return _Said(f"There is no file at {request.under!r}.", is_error=True)
        more = ["[... more files; name a folder ...]"] if len(lines) == MOST_FILES else []
        return _Said("\n".join([*lines, *more]))

    @activity.defn(name=names.READ_FILE.name)
    async def read_file(self, request: toolbox.ReadFile) -> ToolAnswer:
        """Numbered lines."""
        return await self._read(request.bench, lambda: self._shown(request))

    async def _shown(self, request: toolbox.ReadFile) -> _Said:
        content = await self._content(request.bench, request.path)
        return _Said(numbered_lines(content, request.first, request.last), source=request.path)

    @activity.defn(name=names.SEARCH_FILES.name)
    async def search_files(self, request: toolbox.SearchFiles) -> ToolAnswer:
        """`path:line: text` of each line that matches."""
        return await self._read(request.bench, lambda: self._search(request))

    async def _search(self, request: toolbox.SearchFiles) -> _Said:
        bench = request.bench
        found = await self._journals.search(bench.journal, bench.tip, request.pattern, request.under, MOST_LINES)
        lines = [f"{line.path}:{line.line}: {line.text}" for line in found]
        return _Said("\n".join(lines) or "Nothing matches.", source="search result")

    @activity.defn(name=names.EDIT_FILE.name)
    async def edit_file(self, request: toolbox.EditFile) -> ToolAnswer:
        """One place replaced by other text; every other byte stays."""

        async def edit() -> FileEdit:
            content = await self._content(request.bench, request.path)
            return FileEdit(path=request.path, content=replaced(content, request.old, request.new))

        return await self._change(request.bench, agent_action("edit_file", request, f"edit {request.path}"), edit)

    @activity.defn(name=names.WRITE_FILE.name)
    async def write_file(self, request: toolbox.WriteFile) -> ToolAnswer:
        """A file written whole."""

        async def edit() -> FileEdit:
            return FileEdit(path=request.path, content=request.content.encode())

        return await self._change(request.bench, agent_action("write_file", request, f"write {request.path}"), edit)

    @activity.defn(name=names.DELETE_FILE.name)
    async def delete_file(self, request: toolbox.DeleteFile) -> ToolAnswer:
        """A file removed."""

        async def edit() -> FileEdit:
            await self._content(request.bench, request.path)
            return FileEdit(path=request.path, content=None)

        return await self._change(request.bench, agent_action("delete_file", request, f"delete {request.path}"), edit)

    @activity.defn(name=names.RUN_CHECK.name)
    async def run_check(self, request: toolbox.RunCheck) -> ToolAnswer:
        """A check of the plan on the tip, in a tree of its own; what it leaves there is thrown away."""
        return await self._read(request.bench, lambda: self._checked(request))

    async def _checked(self, request: toolbox.RunCheck) -> _Said:
        journal = request.bench.journal
        name = f"{journal.sweep}.try{journal.attempt}"
        tree = Tree(journal.repository_id, name, request.bench.tip, self._check_seconds)
        run = await self._runner.run(request.check, tree, counted=False)
        return _Said(_told(run), source=f"output of {request.check.name}")

    @activity.defn(name=names.FINISH_ATTEMPT.name)
    async def finish_attempt(self, request: toolbox.FinishRequest) -> requests.FixAnswer:
        """What the journal comes to."""
        await self._at(request.bench)
        return await self._keeper.finish(request.attempt, request.bench, request.report)

    async def _at(self, bench: Bench) -> None:
        await self._keeper.have(bench.repository, bench.journal, bench.tip, bench.bundle)

    async def _content(self, bench: Bench, path: str) -> bytes:
        content = await self._journals.read(bench.journal, bench.tip, path, FILE_BYTES)
        if content is None:
            raise BadInput(f"There is no text file {path!r} of at most {FILE_BYTES} bytes; list the files.")
        return content

    async def _read(self, bench: Bench, asked: Callable[[], Awaitable[_Said]]) -> ToolAnswer:
        await self._at(bench)
        try:
            said = await asked()
        except _ANSWERABLE as error:
            said = _Said(str(error), is_error=True)
        return await self._answer(bench, said)

    async def _change(self, bench: Bench, action: AgentAction, edit: Callable[[], Awaitable[FileEdit]]) -> ToolAnswer:
        await self._at(bench)
        recorded = await self._journals.done(bench.journal, bench.tip, action)
        if recorded is None:
            try:
                recorded = await self._journals.change(bench.journal, bench.tip, action, [await edit()])
            except _ANSWERABLE as error:
                return await self._answer(bench, _Said(str(error), is_error=True))
        moved = bench.model_copy(
            update={"tip": recorded.tip, "bundle": await self._keeper.bundle(bench.journal, recorded.tip)}
        )
        answer = await self._answer(moved, _Said(_done(action, recorded)))
        return answer.model_copy(update={"state": recorded.state, "rewound": recorded.rewound})

    async def _answer(self, bench: Bench, said: _Said) -> ToolAnswer:
        data = self._redactor.redact(said.text.encode("utf-8", "replace"))
        text, rest = data.decode("utf-8", "replace"), None
        if len(data) > ANSWER_BYTES:
            rest = await self._artifacts.put(data)
            kept = data[: ANSWER_BYTES - len(_CUT) - 12]
            text = kept.decode("utf-8", "ignore") + _CUT.format(len(data) - len(kept))
        return ToolAnswer(
            text=text,
            is_error=said.is_error,
            rest=rest,
            tip=bench.tip,
            bundle=bench.bundle,
            suspicions=suspicions({said.source: said.text}) if said.source else (),
        )


def _done(action: AgentAction, recorded: Recorded) -> str:
    if recorded.state is RecordState.NOTHING_CHANGED:
        return f"{action.summary}: it is so already, nothing changed."
    return f"{action.summary}: done."


def _told(run: JobRun) -> str:
    if run.problem is not None:
        return f"The check cannot be run here: {run.problem}"
    result = run.stopped_by or run.check
    if result is None:
        return "The check did not run."
    ended = f"stopped by the {result.limit} limit" if result.limit else f"exit code {result.exit_code}"
    which = f"step {result.step!r} before the check" if run.stopped_by else "the check"
    verdict = "passed" if run.is_green else "failed"
    shown = excerpt(run.output).decode("utf-8", "replace") or result.excerpt
    return f"{which} {verdict}: {ended}, {result.seconds:.1f} s\n{shown}"
