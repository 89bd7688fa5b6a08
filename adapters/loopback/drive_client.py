"""A typed client of the drive API, for demo, try and tests."""

from types import TracebackType
from typing import TypeVar

import httpx
from pydantic import BaseModel

from adapters.loopback.core.state import HookMode
from adapters.loopback.drive import answers, requests

Out = TypeVar("Out", bound=BaseModel)


class DriveRefused(Exception):
    """The drive API said no; the message is its sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class DriveClient:
    """One method per drive call; an async context manager. Raises DriveRefused, or httpx errors when it is away."""

    def __init__(self, drive_url: str) -> None:
        self._http = httpx.AsyncClient(base_url=drive_url, timeout=60.0, trust_env=False)

    async def __aenter__(self) -> "DriveClient":
        """Open."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self._http.aclose()

    async def _call(self, method: str, path: str, body: BaseModel | None, gives: type[Out]) -> Out:
        content = None if body is None else body.model_dump_json(by_alias=True, exclude_unset=True)
        return await self._send(method, path, content, gives)

    async def _send(self, method: str, path: str, content: str | None, gives: type[Out]) -> Out:
        answer = await self._http.request(method, path, content=content)
        if answer.status_code >= 400:
            raise DriveRefused(answer.status_code, answer.json()["error"])
        return gives.model_validate_json(answer.content)

    async def repo(self, new: requests.NewRepo) -> answers.RepoMade:
        """Make a repository: empty, from files, or cloned."""
        return await self._call("POST", "/repos", new, answers.RepoMade)

    async def rename(self, asked: requests.Rename) -> None:
        """Rename a repository."""
        await self._call("POST", "/repos/rename", asked, answers.Done)

    async def user(self, new: requests.NewUser) -> answers.UserMade:
        """Introduce a person, or change their right."""
        return await self._call("POST", "/users", new, answers.UserMade)

    async def run(self, new: requests.NewRun) -> answers.RunMade:
        """Report a workflow run; its webhooks go out."""
        return await self._call("POST", "/runs", new, answers.RunMade)

    async def push(self, new: requests.NewPush) -> str:
        """Commit and push as a person; the answer is the new head."""
        return (await self._call("POST", "/pushes", new, answers.Pushed)).sha

    async def open_pull(self, new: requests.OpenPull) -> int:
        """Open a pull request; the answer is its number."""
        return (await self._call("POST", "/pulls", new, answers.PullMade)).number

    async def edit_pull(self, asked: requests.EditPull) -> None:
        """Change title, body, base or draft."""
        await self._call("PATCH", "/pulls", asked, answers.Done)

    async def close_pull(self, asked: requests.PullAct) -> None:
        """Close without merging."""
        await self._call("POST", "/pulls/close", asked, answers.Done)

    async def reopen_pull(self, asked: requests.PullAct) -> None:
        """Open again."""
        await self._call("POST", "/pulls/reopen", asked, answers.Done)

    async def merge_pull(self, asked: requests.PullAct) -> str:
        """Merge; the answer is the merge commit."""
        return (await self._call("POST", "/pulls/merge", asked, answers.Pushed)).sha

    async def review(self, new: requests.NewReview) -> int:
        """Review; the answer is the review's id."""
        return (await self._call("POST", "/reviews", new, answers.ReviewMade)).review_id

    async def dismiss_review(self, asked: requests.DismissReview) -> None:
        """Take a review back."""
        await self._call("POST", "/reviews/dismiss", asked, answers.Done)

    async def comment(self, new: requests.NewComment) -> int:
        """Comment; the answer is the comment's id."""
        return (await self._call("POST", "/comments", new, answers.CommentMade)).comment_id

    async def labels(self, asked: requests.ChangeLabels) -> None:
        """Put labels on and take them off."""
        await self._call("POST", "/labels", asked, answers.Done)

    async def delete_branch(self, asked: requests.DeleteBranch) -> None:
        """Delete a branch."""
        await self._call("POST", "/branches/delete", asked, answers.Done)

    async def dispatch(self, new: requests.NewDispatch) -> str:
        """Send a repository_dispatch; the answer is the event's guid."""
        return (await self._call("POST", "/dispatches", new, answers.Dispatched)).guid

    async def protect(self, new: requests.Protect) -> None:
        """Set the rules of a branch."""
        await self._call("POST", "/protection", new, answers.Done)

    async def end_queue(self, asked: requests.EndQueue) -> None:
        """End a queued merge."""
        await self._call("POST", "/queue", asked, answers.Done)

    async def installation(self, asked: requests.ChangeInstallation) -> None:
        """Suspend the installation, take it away or give it back."""
        await self._call("POST", "/installation", asked, answers.Done)

    async def faults(self, *rules: requests.FaultRule) -> None:
        """Replace all fault rules; none clears them and lets held answers go."""
        body = ",".join(rule.model_dump_json(exclude_unset=True) for rule in rules)
        await self._send("POST", "/faults", f"[{body}]", answers.Done)

    async def hooks(self, mode: HookMode) -> None:
        """Treat deliveries differently from now on."""
        await self._call("POST", "/hooks", requests.SetHooks(mode=mode), answers.Done)

    async def redeliver(self, guid: str) -> None:
        """Send an event again, same guid."""
        await self._call("POST", "/redeliver", requests.Redeliver(guid=guid), answers.Dispatched)

    async def advance(self, seconds: float) -> answers.Clock:
        """Move GitHub's clock forward."""
        return await self._call("POST", "/clock", requests.Advance(advance_s=seconds), answers.Clock)

    async def ledger(self) -> answers.LedgerView:
        """Every REST and git call, and how often each effect happened."""
        return await self._call("GET", "/ledger", None, answers.LedgerView)

    async def world(self) -> answers.WorldView:
        """Everything, as it is now."""
        return await self._call("GET", "/world", None, answers.WorldView)
