"""From what git says on stderr to the class of error that says how to go on.

git has no machine-readable errors, so its English (LC_ALL=C) phrases are matched; an unknown phrase is Permanent,
except for remote calls that died by a signal or a timeout, which are Transient.
"""

import base64
import re
from typing import NamedTuple

from sweeper.errors import (
    AuthBroken,
    MissingTool,
    NotFound,
    Permanent,
    PolicyDenied,
    Stale,
    SweeperError,
    Transient,
)
from sweeper.model import GitAccess

_TAIL = 400
_TIMEOUT = re.compile(r"^Timeout: the command ", re.MULTILINE)


class Rule(NamedTuple):
    """A phrase of git, the error it means, and what to do next."""

    phrase: re.Pattern[str]
    error: type[SweeperError]
    advice: str


def _rule(phrase: str, error: type[SweeperError], advice: str) -> Rule:
    return Rule(re.compile(phrase, re.IGNORECASE), error, advice)


_RULES = (
    _rule("no space left on device|disk quota exceeded", Transient, "free some space in the state directory"),
    _rule(
        "authentication failed|could not read (username|password)|requested url returned error: 40[13]"
        "|invalid username or password|permission to .* denied|write access to repository not granted",
        AuthBroken,
        "check the token or the app's installation and its permissions",
    ),
    _rule(
        "stale info|cannot lock ref .* is at [0-9a-f]+ but expected|cannot lock ref .*reference already exists",
        Stale,
        "read the branch again",
    ),
    _rule(
        "requested url returned error: (5\\d\\d|429)|internal server error|could not resolve host|couldn't resolve host"
        "|failed to connect|connection (refused|reset|timed out|was reset)|operation timed out|operation too slow"
        "|rpc failed|early eof|hung up unexpectedly|unexpected disconnect|empty reply from server|recv failure"
        "|gnutls_handshake|ssl_connect|transfer closed|bad line length|expected flush|protocol error|bad pack header"
        "|invalid index-pack output|unable to parse (sha1|object)|short read",
        Transient,
        "it is tried again",
    ),
    _rule(
        "refusing to allow .* workflow",
        PolicyDenied,
        "grant the `workflows` permission (to a token: the `workflow` scope), or leave workflow files alone",
    ),
    _rule(
        "gh006|gh013|protected branch|rule violations",
        PolicyDenied,
        "ask a maintainer to let us push here, or change the branch's rules",
    ),
    _rule("remote rejected.*\\((failure|failed to (lock|update)|unpacker error)", Transient, "it is tried again"),
    _rule(
        "hook declined|refusing to allow|\\[remote rejected\\]",
        PolicyDenied,
        "ask a maintainer whether this branch may be written",
    ),
    _rule("not our ref|couldn't find remote ref", NotFound, "the commit is gone from the repository"),
    _rule(
        "repository .* not found|requested url returned error: 404|does not appear to be a git repository",
        NotFound,
        "check the repository's name and whether the credentials may see it",
    ),
    _rule("\\.lock': file exists|unable to create .*\\.lock", Transient, "another git is at work; it is tried again"),
    _rule("invalid path '", PolicyDenied, "rename that path"),
    _rule(
        "did not send all necessary objects|bad object|missing (blob|tree|commit|object)|corrupt",
        Permanent,
        "the repository it was read from is damaged; run git fsck there",
    ),
)


def error_of(argv: tuple[str, ...], exit_code: int, stderr: str, access: GitAccess | None) -> SweeperError:
    """The error a failed git call means: one bounded sentence, without the credential even if git repeated it."""
    text = _without_secret(stderr, access)
    said = _tail(text)
    call = _shown(argv)
    if exit_code == 127:
        return MissingTool("git is not on this machine; install git 2.39 or newer.")
    if exit_code < 0 or _TIMEOUT.search(text):
        return Transient(f"`{call}` took too long or was killed; it is tried again.")
    for rule in _RULES:
        if rule.phrase.search(text):
            return rule.error(f"`{call}` ended with code {exit_code} ({said}); {rule.advice}.")
    return Permanent(f"`{call}` ended with code {exit_code} ({said}); look at the repository it was run for.")


def basic_credential(access: GitAccess) -> str | None:
    """The value of an HTTP Authorization header for git over HTTP, as GitHub documents it for apps and tokens."""
    if access.token is None:
        return None
    pair = f"x-access-token:{access.token.get_secret_value()}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def _without_secret(text: str, access: GitAccess | None) -> str:
    credential = basic_credential(access) if access else None
    if access is None or access.token is None or credential is None:
        return text
    for secret in (credential.removeprefix("Basic "), access.token.get_secret_value()):
        text = text.replace(secret, "***") if secret else text
    return text


def _tail(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    said = "; ".join(lines) or "it said nothing"
    return said if len(said) <= _TAIL else "..." + said[-_TAIL:]


def _shown(argv: tuple[str, ...]) -> str:
    """The subcommand and its first arguments: enough to recognise it, never a long list."""
    text = "git " + " ".join(argv)
    return text if len(text) <= 120 else text[:117] + "..."
