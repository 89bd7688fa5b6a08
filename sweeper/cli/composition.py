"""Building everything from the settings: the one place where ports meet adapters."""

import asyncio
from pathlib import Path

from pydantic import SecretBytes
from temporalio.client import Client

from adapters.agents.autofix import Autofix
from adapters.agents.command import CommandAgent
from adapters.artifacts import FileArtifacts
from adapters.egress import HostPort, RegistryDownloads
from adapters.github.host import GitHubHost
from adapters.github.settings import GitHubAccess
from adapters.sandbox import choose_sandbox
from adapters.sandbox.redacting import RedactingSandbox
from adapters.temporal.spending import TemporalSpending
from adapters.temporal.sweeps import TemporalSweeps
from adapters.temporal.targets import TemporalTargets
from sweeper.config import Settings, StateDir, marker_key
from sweeper.errors import BadInput
from sweeper.policy.redaction import Redactor
from sweeper.ports import Artifacts, Durable, FixAgent, Ports, Sandbox
from worktrees.git import GitCall, GitDoor
from worktrees.host import host_id
from worktrees.store import Owner, WorktreeStore


def require_login(settings: Settings) -> None:
    """Raises BadInput if there is nothing to log in to GitHub with."""
    if settings.github_token is None and settings.app_id is None:
        raise BadInput("Set SWEEPER_GITHUB_TOKEN, or SWEEPER_APP_ID with SWEEPER_APP_KEY_FILE, to log in to GitHub.")


def code_host(settings: Settings, state: StateDir) -> GitHubHost:
    """GitHub by the settings. Raises BadInput if there is nothing to log in with."""
    return GitHubHost(github_access(settings, state))


def github_access(settings: Settings, state: StateDir) -> GitHubAccess:
    """Where GitHub is and as whom we act. Raises BadInput if there is nothing to log in with."""
    require_login(settings)
    return GitHubAccess(
        api_url=settings.github_url,
        token=settings.github_token,
        app_id=settings.app_id,
        app_key_file=settings.app_key_file,
        marker_key=SecretBytes(marker_key(settings, state)),
    )


def artifacts(state: StateDir) -> FileArtifacts:
    """Big texts on this host's disk."""
    return FileArtifacts(state.artifacts.as_uri())


def agents(settings: Settings, sandbox: Sandbox, store: Artifacts) -> dict[str, FixAgent]:
    """Every agent that this process can offer, by name; which of them a sweep uses is in its own settings."""
    offered: list[FixAgent] = [Autofix(sandbox, store)]
    if settings.agent_command:
        offered.append(CommandAgent(settings.agent_command, sandbox, store))
    return {agent.name: agent for agent in offered}


def downloads(settings: Settings, state: StateDir) -> RegistryDownloads:
    """The download cache and its gates. Raises BadInput for a kind of registry that does not exist."""
    return RegistryDownloads(
        state.root / "downloads",
        {registry.kind: registry.url.get_secret_value() for registry in settings.registries},
        [HostPort(place.host, place.port) for place in settings.egress],
    )


def workspaces(root: Path, sandbox: Sandbox) -> WorktreeStore:
    """Mirrors and worktrees; trees belong to the user the sandbox runs as."""
    owner = sandbox.owner()
    return WorktreeStore(root, host_id(root), Owner(uid=owner[0], gid=owner[1]) if owner else None)


async def git_version(state: StateDir) -> str:
    """Of the git that makes the worktrees. Raises MissingTool if there is none, or an old one."""
    door = GitDoor(state.worktrees / "home")
    return (await asyncio.to_thread(door.ask, GitCall(("--version",)))).text


async def ports(settings: Settings, state: StateDir) -> Ports:
    """All a worker stands on.

    Raises BadInput if there is nothing to log in with, MissingTool without git, or without a sandbox and no opt-in to
    do without.
    """
    host = code_host(settings, state)
    await git_version(state)
    known = Redactor([value.get_secret_value() for value in settings.redact])
    inner = await choose_sandbox(settings.allow_unsandboxed, private=(state.root,))
    sandbox: Sandbox = RedactingSandbox(inner, known) if settings.redact else inner
    store = artifacts(state)
    return Ports(
        code_host=host,
        workspaces=workspaces(state.worktrees, sandbox),
        sandbox=sandbox,
        agents=agents(settings, sandbox, store),
        artifacts=store,
        downloads=downloads(settings, state),
        redactor=known,
        author_name=settings.bot_name,
        author_email=settings.bot_email,
    )


def durable(client: Client, state: StateDir, settings: Settings) -> Durable:
    """What lives in Temporal, for the activities of a worker."""
    return Durable(
        sweeps=TemporalSweeps(client, state_dir=state.root),
        targets=TemporalTargets(client),
        spending=TemporalSpending(client, settings.github_url),
    )
