"""Talking to the other side: lost answers, refusals, damage, and where the credential is and is not."""

import base64
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic import SecretStr

from sweeper.errors import (
    AuthBroken,
    BadInput,
    MissingTool,
    NotFound,
    OutcomeUnknown,
    Permanent,
    PolicyDenied,
    Stale,
    Transient,
)
from sweeper.model import EffectState, GitAccess
from tests.contract.test_worktrees_port import META, REF, REPO
from tests.support.git_origin import GitOrigin, git
from tests.support.recording import RecordingStore

TOKEN = "ghs_1234567890secret"
BRANCH = "sweeper/1-1"


@pytest.fixture
def origin(tmp_path: Path) -> GitOrigin:
    return GitOrigin(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> RecordingStore:
    return RecordingStore(tmp_path / "state", "here")


async def a_fix(store: RecordingStore, origin: GitOrigin) -> str:
    commit = origin.commit({"a.txt": "one\n"})
    await store.fetch(REPO, [commit], origin.access)
    workspace = await store.create(REPO, "sweep-1-1", commit)
    Path(workspace.path, "a.txt").write_text("fixed\n")
    patch = await store.snapshot(workspace, META, REF)
    assert patch is not None
    return patch.commit


def hook(origin: GitOrigin, name: str, script: str) -> None:
    path = origin.path / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


async def test_an_answer_lost_after_the_push_is_found_by_looking(store: RecordingStore, origin: GitOrigin) -> None:
    fix = await a_fix(store, origin)
    hook(origin, "post-receive", "kill -9 $PPID")
    effect = await store.push(REPO, BRANCH, fix, None, origin.access, "k")
    assert effect.state is EffectState.CREATED
    assert origin.branch(BRANCH) == fix
    assert (await store.delete_branch(REPO, BRANCH, fix, origin.access, "k")).state is EffectState.CREATED
    assert origin.branch(BRANCH) is None


async def test_an_answer_lost_before_the_push_is_an_unknown_outcome(store: RecordingStore, origin: GitOrigin) -> None:
    fix = await a_fix(store, origin)
    hook(origin, "pre-receive", "kill -9 $PPID")
    with pytest.raises(OutcomeUnknown, match="no clear answer"):
        await store.push(REPO, BRANCH, fix, None, origin.access, "k")
    (origin.path / "hooks" / "pre-receive").unlink()
    assert (await store.push(REPO, BRANCH, fix, None, origin.access, "k")).state is EffectState.CREATED
    hook(origin, "pre-receive", "kill -9 $PPID")
    with pytest.raises(OutcomeUnknown, match="no clear answer"):
        await store.delete_branch(REPO, BRANCH, fix, origin.access, "k")


async def test_a_refused_push_is_a_matter_of_policy(store: RecordingStore, origin: GitOrigin) -> None:
    fix = await a_fix(store, origin)
    hook(origin, "pre-receive", "echo protected branch >&2; exit 1")
    with pytest.raises(PolicyDenied, match="maintainer"):
        await store.push(REPO, BRANCH, fix, None, origin.access, "k")


async def test_a_person_who_pushes_in_the_middle_wins(store: RecordingStore, origin: GitOrigin) -> None:
    fix = await a_fix(store, origin)
    person = origin.commit({"p": "p"}, "elsewhere", parent=origin.branch("main"))
    hook(origin, "pre-receive", f"env -u GIT_QUARANTINE_PATH git update-ref refs/heads/{BRANCH} {person}")
    with pytest.raises(Stale, match="moved to"):
        await store.push(REPO, BRANCH, fix, None, origin.access, "k")
    assert origin.branch(BRANCH) == person


async def test_a_branch_can_be_deleted_by_a_host_that_never_had_its_commit(origin: GitOrigin, tmp_path: Path) -> None:
    commit = origin.commit({"a": "a"}, BRANCH)
    other = RecordingStore(tmp_path / "other", "there")
    effect = await other.delete_branch(REPO, BRANCH, commit, origin.access, "k")
    assert effect.state is EffectState.CREATED
    assert origin.branch(BRANCH) is None


async def test_a_branch_named_like_the_tail_of_another_is_not_mistaken(
    store: RecordingStore, origin: GitOrigin
) -> None:
    fix = await a_fix(store, origin)
    origin.commit({"x": "x"}, f"other/refs/heads/{BRANCH}")
    assert (await store.push(REPO, BRANCH, fix, None, origin.access, "k")).state is EffectState.CREATED


async def test_commits_once_fetched_need_no_remote(store: RecordingStore, origin: GitOrigin) -> None:
    commit = origin.commit({"a": "a"})
    await store.fetch(REPO, [commit], origin.access)
    origin.path.rename(origin.path.with_name("gone"))
    await store.fetch(REPO, [commit], origin.access)
    with pytest.raises(NotFound, match="repository's name"):
        await store.fetch(REPO, [commit, "b" * 40], origin.access)


async def test_a_tag_that_cannot_be_followed_does_not_stop_a_fetch(store: RecordingStore, origin: GitOrigin) -> None:
    first = origin.commit({"a": "a"})
    origin.tag("release", first)
    await store.fetch(REPO, [first], origin.access)
    git("update-ref", "-d", "refs/tags/release", cwd=origin.path)
    second = origin.commit({"a": "b"}, parent=first)
    git("tag", "release/1", second, cwd=origin.path)
    await store.fetch(REPO, [second], origin.access)
    workspace = await store.create(REPO, "sweep-1-1", second)
    assert Path(workspace.path, "a").read_text() == "b"


async def test_a_damaged_remote_is_told_and_leaves_a_usable_mirror(store: RecordingStore, origin: GitOrigin) -> None:
    good = origin.commit({"a": "a"})
    bad = origin.commit({"a": "b", "lost": "lost content"}, "bad", parent=good)
    blob = git("rev-parse", f"{bad}:lost", cwd=origin.path)
    (origin.path / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises((Permanent, Transient)):
        await store.fetch(REPO, [bad], origin.access)
    with pytest.raises(NotFound, match="fetch it first"):
        await store.create(REPO, "sweep-1-1", bad)
    await store.fetch(REPO, [good], origin.access)
    assert (await store.create(REPO, "sweep-1-1", good)).commit == good


async def test_a_url_with_a_credential_or_an_odd_scheme_is_refused(store: RecordingStore) -> None:
    for url in ("https://user:pw@example.org/r", "ext::sh -c true", "ssh://example.org/r", "-oProxy", "/plain/path"):
        with pytest.raises(BadInput, match="without credentials"):
            await store.fetch(REPO, ["a" * 40], GitAccess(url=url))


async def test_histories_without_a_common_commit_do_not_merge(store: RecordingStore, origin: GitOrigin) -> None:
    one, two = origin.commit({"a": "a"}), origin.commit({"b": "b"}, "other")
    await store.fetch(REPO, [one, two], origin.access)
    assert await store.merge(REPO, one, two) is None
    with pytest.raises(NotFound, match="fetch it first"):
        await store.merge(REPO, one, "c" * 40)


class Answering(ThreadingHTTPServer):
    """Answers every request with one status and remembers the Authorization headers."""

    status = 500
    seen: list[str | None]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Answering)
        server.seen.append(self.headers.get("Authorization"))
        self.send_response(server.status)
        if server.status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Answering]:
    with Answering(("127.0.0.1", 0), Handler) as answering:
        answering.seen = []
        thread = threading.Thread(target=answering.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield answering
        answering.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, AuthBroken), (403, AuthBroken), (404, NotFound), (429, Transient), (500, Transient), (503, Transient)],
)
async def test_http_refusals_are_told_apart_and_the_token_stays_out_of_the_message(
    store: RecordingStore, server: Answering, status: int, error: type[Exception]
) -> None:
    server.status = status
    access = GitAccess(url=f"http://127.0.0.1:{server.server_port}/o/r.git", token=SecretStr(TOKEN))
    with pytest.raises(error) as raised:
        await store.fetch(REPO, ["a" * 40], access)
    encoded = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    assert server.seen[0] == f"Basic {encoded}"
    assert TOKEN not in str(raised.value)
    assert encoded not in str(raised.value)
    assert len(str(raised.value)) < 800


async def test_a_closed_port_is_transient(store: RecordingStore, server: Answering) -> None:
    with pytest.raises(Transient, match="tried again"):
        await store.fetch(REPO, ["a" * 40], GitAccess(url="http://127.0.0.1:1/o/r.git"))


SPY = """#!/bin/sh
printf '%s\\n' "$0 $*" >> {log}
env >> {log}.env
exec {git} "$@"
"""


async def test_git_gets_neither_our_environment_nor_the_token_in_an_argument(
    origin: GitOrigin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    spy, log = tmp_path / "bin" / "git", tmp_path / "log"
    spy.parent.mkdir()
    spy.write_text(SPY.format(log=log, git=real))
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SWEEPER_GITHUB_TOKEN", "ours-alone")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text("[core]\nbare = nonsense\n")
    access = origin.access.model_copy(update={"token": SecretStr(TOKEN)})
    store = RecordingStore(tmp_path / "state", "here")
    fix = await a_fix(store, origin)
    await store.push(REPO, BRANCH, fix, None, access, "k")
    arguments, environment = log.read_text(), Path(f"{log}.env").read_text()
    encoded = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    assert encoded in environment
    assert TOKEN not in arguments
    assert encoded not in arguments
    assert "ours-alone" not in environment
    assert "/nowhere" not in environment
    state = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert state
    assert not [path for path in state if encoded.encode() in path.read_bytes() or TOKEN.encode() in path.read_bytes()]


async def test_a_machine_without_git_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: RecordingStore
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingTool, match="install git"):
        await store.fetch(REPO, ["a" * 40], GitAccess(url="file:///nowhere"))


async def test_an_old_git_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: RecordingStore) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.25.1\n")
    old.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    with pytest.raises(MissingTool, match=r"too old \(git version 2\.25\.1\)"):
        await store.fetch(REPO, ["a" * 40], GitAccess(url="file:///nowhere"))
