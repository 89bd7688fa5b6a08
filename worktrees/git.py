"""The single door to git: every call has the same scrubbed environment, a bound, and an error that says what to do.

Nothing of the operator's configuration, and nothing a hostile repository may configure, reaches these processes:
hooks, filters, fsmonitor, credential helpers, replace refs and unexpected protocols are off. git never discovers a
repository by itself; each call names its git directory. A credential travels in the environment of the one process
that needs it (`GIT_CONFIG_*`), never in an argument, a URL or a file.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from sweeper.errors import Bug, MissingTool
from sweeper.model import GitAccess
from worktrees.failures import basic_credential, error_of
from worktrees.running import UNDER_WAY, UnderWay

LOCAL_SECONDS = 300.0
NEEDED_VERSION = (2, 39)
"""`git merge-tree --write-tree` came with 2.38, `git patch-id --verbatim` with 2.39."""

_KEPT = frozenset(
    {"PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"}
    | {name for proxy in ("http_proxy", "https_proxy", "no_proxy", "all_proxy") for name in (proxy, proxy.upper())}
)
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.sshCommand=false",
    "core.autocrlf=false",
    "core.fileMode=true",
    "core.symlinks=true",
    "core.logAllRefUpdates=false",
    "core.fsync=committed,loose-object",  # a ref must not outlive a power cut that its objects did not
    "core.fsyncMethod=batch",
    "safe.bareRepository=explicit",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "push.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "credential.helper=",
    "filter.lfs.smudge=",
    "filter.lfs.clean=",
    "filter.lfs.process=",
    "filter.lfs.required=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "advice.detachedHead=false",
)


@dataclass(frozen=True)
class GitCall:
    """One git command. `accept` are the exit codes that are answers, not errors.

    `holding` are descriptors of locks the child inherits: they stay held until git itself is gone, even if we die.
    `most`: after so many bytes of output git is ended, and what it has said is the answer.
    """

    argv: tuple[str, ...]
    git_dir: Path | None = None
    work_tree: Path | None = None
    stdin: bytes | BinaryIO | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    access: GitAccess | None = None
    accept: tuple[int, ...] = (0,)
    seconds: float = LOCAL_SECONDS
    holding: tuple[int, ...] = ()
    most: int | None = None


@dataclass(frozen=True)
class GitAnswer:
    """What git answered, byte for byte. `is_cut`: it had more to say than was asked for."""

    exit_code: int
    stdout: bytes
    stderr: str
    is_cut: bool = False

    @property
    def text(self) -> str:
        """Output as one stripped string, for ids and ref names."""
        return self.stdout.decode("utf-8", "surrogateescape").strip()

    def records(self) -> list[str]:
        """NUL-separated output (`-z`); names keep undecodable bytes as surrogates."""
        return [record for record in self.stdout.decode("utf-8", "surrogateescape").split("\0") if record]


class GitDoor:
    """Runs git through GitPython. `home` becomes an empty home directory, so that no user configuration is found.

    `under_way` may end all calls at once; the door is closed then.
    """

    def __init__(self, home: Path, under_way: UnderWay = UNDER_WAY) -> None:
        self._home = home
        self._under_way = under_way
        self._program: str | None = None

    def ask(self, call: GitCall) -> GitAnswer:
        """Run to the end; blocking, so callers are on a thread.

        Raises the SweeperError that git's exit code and stderr mean (see worktrees.failures), Transient at the end of
        this process.
        """
        self._under_way.check()
        program = self._program or self._find()
        if isinstance(call.stdin, bytes):
            with tempfile.TemporaryFile() as stream:
                stream.write(call.stdin)
                stream.seek(0)
                answer = self._execute(program, call, stream)
        else:
            answer = self._execute(program, call, call.stdin)
        if answer.exit_code not in call.accept:
            raise error_of(call.argv, answer.exit_code, answer.stderr, call.access)
        return answer

    def _execute(self, program: str, call: GitCall, stdin: BinaryIO | None) -> GitAnswer:
        # Imported late: GitPython refuses to be imported on a machine without git, and that is an answer of ours.
        from git import Git

        environment = self._environment(call)
        started = Git(self._home).execute(
            [*_unset(environment), program, *_options(call), *call.argv],
            istream=stdin,
            as_process=True,
            env=environment,
            pass_fds=call.holding,
            start_new_session=True,
        )
        # GitPython's own limit kills the children it finds by `ps`; a session of its own can be ended whole.
        process: subprocess.Popen[bytes] | None = started.proc
        if process is None:
            raise Bug("GitPython started no process: report this.")
        told = self._under_way.follow(process, call.seconds, call.most)
        if told is None:
            return GitAnswer(-signal.SIGKILL, b"", f"not done within {call.seconds:g} s")
        if call.most is not None and len(told[0]) > call.most:
            return GitAnswer(0, told[0][: call.most], "", is_cut=True)
        return GitAnswer(process.returncode, told[0], told[1].decode("utf-8", "surrogateescape"))

    def _find(self) -> str:
        program = shutil.which("git")
        if program is None:
            raise MissingTool("git is not on this machine; install git 2.39 or newer.")
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        answer = self._execute(program, GitCall(("version",)), None)
        found = re.search(r"(\d+)\.(\d+)", answer.text)
        if not found or (int(found[1]), int(found[2])) < NEEDED_VERSION:
            raise MissingTool(f"{program} is too old ({answer.text[:40]}); install git 2.39 or newer.")
        self._program = program
        return program

    def _environment(self, call: GitCall) -> dict[str, str]:
        return {
            "HOME": str(self._home),
            "XDG_CONFIG_HOME": str(self._home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "false",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ALLOW_PROTOCOL": urlsplit(call.access.url).scheme if call.access else "none",
            "LC_ALL": "C",
            **_credential(call.access),
            **call.env,
        }


def _unset(wanted: Mapping[str, str]) -> list[str]:
    """GitPython always adds our own environment; `env -u` takes out all that git must not see (names only)."""
    unwanted = sorted(name for name in os.environ if name not in _KEPT and name not in wanted)
    return ["env", *(word for name in unwanted for word in ("-u", name))]


def _options(call: GitCall) -> list[str]:
    options = [word for setting in _SETTINGS for word in ("-c", setting)]
    if call.git_dir is not None:
        options.append(f"--git-dir={call.git_dir}")
    if call.work_tree is not None:
        options.append(f"--work-tree={call.work_tree}")
    return options


def _credential(access: GitAccess | None) -> dict[str, str]:
    """The header, bound to the URL's own origin so that a redirect elsewhere does not carry it along."""
    header = basic_credential(access) if access else None
    if access is None or header is None:
        return {}
    parts = urlsplit(access.url)
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: {header}",
    }
