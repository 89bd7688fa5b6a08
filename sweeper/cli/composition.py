"""Building everything from the settings: the one place where ports meet adapters."""

import asyncio
from pathlib import Path

from pydantic import SecretBytes
from temporalio.client import Client

from adapters.agents.autofix import Autofix
from adapters.agents.command import CommandAgent
from adapters.agents.presets import preset_of
from adapters.artifacts import FileArtifacts
from adapters.egress import HostPort, RegistryDownloads
from adapters.github.host import GitHubHost
from adapters.github.settings import GitHubAccess
from adapters.models.proxy import ModelProxy
from adapters.models.proxy_upstream import upstream
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
from worktrees.journal import JournalStore
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


def artifacts(state: StateDir, url: str | None = None) -> FileArtifacts:
    """Big texts: where the operator says, else on this host's disk."""
    return FileArtifacts(url or state.artifacts.as_uri())


def agents(
    settings: Settings,
    sandbox: Sandbox,
    store: Artifacts,
    command_sandbox: Sandbox | None = None,
    autofix: Autofix | None = None,
) -> dict[str, FixAgent]:
    """Every agent that this process can offer, by name; which of them a sweep uses is in its own settings.

    `command_sandbox`: for the agent `command`, where it needs programs that checks must not find. `autofix`: one that
    can set a job up; else it has the tools of this machine alone. Raises BadInput for a preset that is none or has no
    fitting model, PolicyDenied for a model that may not see code.
    """
    offered: list[FixAgent] = [autofix or Autofix(sandbox, store)]
    command = preset_of(settings.agent_preset) if settings.agent_preset else settings.agent_command
    if command:
        offered.append(CommandAgent(command, command_sandbox or sandbox, store, model_doors(settings)))
    return {agent.name: agent for agent in offered}


def model_doors(settings: Settings) -> ModelProxy | None:
    """The way of a command agent to its model; None: it has none. Raises PolicyDenied, BadInput."""
    if settings.model is None:
        return None
    access = settings.model_access()
    return ModelProxy(upstream(access), access.price, settings.state_dir.expanduser().absolute() / "spent")


async def command_sandbox(settings: Settings, state: StateDir, sandbox: Sandbox) -> Sandbox:
    """The one with the programs of SWEEPER_AGENT_PATH; the given one where there are none."""
    if not settings.agent_path:
        return sandbox
    inner = await choose_sandbox(settings.allow_unsandboxed, (state.root,), settings.agent_path)
    known = Redactor([value.get_secret_value() for value in settings.redact])
    return RedactingSandbox(inner, known) if settings.redact else inner


def downloads(settings: Settings, state: StateDir) -> RegistryDownloads:
    """The download cache and its gates. Raises BadInput for a kind of registry that does not exist."""
    return RegistryDownloads(
        state.root / "downloads",
        {registry.kind: registry.url.get_secret_value() for registry in settings.registries},
        [HostPort(place.host, place.port) for place in settings.egress],
    )


def workspaces(root: Path, sandbox: Sandbox) -> WorktreeStore:
    """Mirrors and worktrees; trees belong to the user the sandbox runs as."""
    return WorktreeStore(root, host_id(root), _owner(sandbox))


def journals(root: Path, sandbox: Sandbox) -> JournalStore:
    """What agents did, in the same mirrors."""
    return JournalStore(root, host_id(root), _owner(sandbox))


def _owner(sandbox: Sandbox) -> Owner | None:
    owner = sandbox.owner()
    return Owner(uid=owner[0], gid=owner[1]) if owner else None


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
    store = artifacts(state, settings.artifacts_url)
    trees, cache = workspaces(state.worktrees, sandbox), downloads(settings, state)
    autofix = Autofix(sandbox, store, trees, cache)
    return Ports(
        code_host=host,
        workspaces=trees,
        journals=journals(state.worktrees, sandbox),
        sandbox=sandbox,
        agents=agents(settings, sandbox, store, await command_sandbox(settings, state, sandbox), autofix),
        artifacts=store,
        downloads=cache,
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
