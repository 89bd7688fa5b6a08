"""From git's words to the class of error."""

import pytest
from pydantic import SecretStr

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
from worktrees.failures import basic_credential, error_of

SAYINGS: list[tuple[str, type[SweeperError]]] = [
    ("fatal: Authentication failed for 'https://h/r/'", AuthBroken),
    ("fatal: could not read Username for 'https://h': terminal prompts disabled", AuthBroken),
    ("remote: Permission to o/r.git denied to bot.\nfatal: unable to access: error: 403", AuthBroken),
    ("fatal: unable to access 'https://h/': The requested URL returned error: 502", Transient),
    ("fatal: unable to access 'https://h/': Could not resolve host: h", Transient),
    ("fatal: the remote end hung up unexpectedly", Transient),
    ("fatal: remote-curl: bad line length character: \nfatal: expected flush after ref listing", Transient),
    ("fatal: protocol error: bad pack header", Transient),
    ("error: RPC failed; curl 56 Recv failure: Connection reset by peer", Transient),
    ("error: unable to write file: No space left on device", Transient),
    (" ! [rejected] abc -> x (stale info)", Stale),
    (" ! [remote rejected] x -> x (cannot lock ref 'refs/heads/x': is at ab12 but expected cd34)", Stale),
    (" ! [remote rejected] x -> x (protected branch hook declined)", PolicyDenied),
    ("remote: error: GH006: Protected branch update failed for x.\n! [remote rejected] x -> x", PolicyDenied),
    ("remote: error: GH013: Repository rule violations found for refs/heads/x.\n! [remote rejected] x", PolicyDenied),
    (" ! [remote rejected] x -> x (push declined due to repository rule violations)", PolicyDenied),
    (" ! [remote rejected] x -> x (refusing to allow a GitHub App to create or update workflow `a.yml`"
     " without `workflows` permission)", PolicyDenied),
    ("refusing to allow a Personal Access Token to create or update workflow `a.yml` without `workflow` scope",
     PolicyDenied),
    ("remote: error: GH001: Large files detected.\n ! [remote rejected] x (pre-receive hook declined)", PolicyDenied),
    (" ! [remote rejected] x -> x (failure)", Transient),
    (" ! [remote rejected] x -> x (failed to update ref)", Transient),
    (" ! [remote rejected] x -> x (unpacker error)", Transient),
    (" ! [remote rejected] x -> x (Internal Server Error)", Transient),
    ("fatal: unable to access 'https://h/': The requested URL returned error: 401", AuthBroken),
    ("fatal: unable to access 'https://h/': The requested URL returned error: 429", Transient),
    ("fatal: Unable to create '/s/m.git/shallow.lock': File exists.", Transient),
    ("error: unable to write file a.py: Disk quota exceeded", Transient),
    ("fatal: the remote end hung up unexpectedly\nerror: failed to push some refs", Transient),
    ("fatal: remote error: upload-pack: not our ref 0123", NotFound),
    ("remote: Repository not found.\nfatal: repository 'https://h/r/' not found", NotFound),
    ("fatal: bad object 0123", Permanent),
    ("fatal: something new", Permanent),
    ("Timeout: the command \"git fetch\" did not complete in 5 secs.", Transient),
]  # fmt: skip


@pytest.mark.parametrize(("stderr", "error"), SAYINGS)
def test_each_saying_has_its_class(stderr: str, error: type[SweeperError]) -> None:
    assert type(error_of(("fetch", "x"), 128, stderr, None)) is error


@pytest.mark.parametrize(
    ("stderr", "advice"),
    [
        (
            "refusing to allow a GitHub App to create or update workflow `a.yml` without `workflows`",
            "`workflows` permission",
        ),
        ("remote: error: GH013: Repository rule violations found", "change the branch's rules"),
    ],
)
def test_a_refusal_names_what_would_have_to_change(stderr: str, advice: str) -> None:
    assert advice in str(error_of(("push", "x"), 1, stderr, None))


def test_no_space_says_what_to_do() -> None:
    assert "free some space" in str(error_of(("fetch",), 128, "No space left on device", None))


def test_a_missing_program_and_a_killed_one() -> None:
    assert type(error_of(("fetch",), 127, "env: git: No such file", None)) is MissingTool
    assert type(error_of(("fetch",), -9, "", None)) is Transient


def test_the_sentence_is_short_and_holds_no_secret() -> None:
    access = GitAccess(url="https://h/r", token=SecretStr("ghs_secret"))
    credential = basic_credential(access)
    assert credential is not None
    noise = f"ghs_secret {credential}\n" * 200
    text = str(error_of(("push", "x" * 1000), 1, noise, access))
    assert "ghs_secret" not in text
    assert credential.removeprefix("Basic ") not in text
    assert len(text) < 700
    assert "\n" not in text
