"""`Workspaces` in memory: trees are dictionaries, commits are values, the remote is a dictionary of branches.

The same contract as `worktrees.store.WorktreeStore`, as far as a workflow can tell. It keeps state, so a second call
sees what the first one did; `fail` plants an error before or after the effect of a coming call.
"""

import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sweeper import ids
from sweeper.errors import BadInput, NotFound, Stale, SweeperError
from sweeper.model import Effect, EffectState, FileChange, GitAccess, Patch, Touched, Workspace
from sweeper.model.journal import Entry
from sweeper.model.upkeep import HostTrace

Tree = dict[str, bytes]


@dataclass(frozen=True)
class FakeCommit:
    """A commit: its files by path, and its parents."""

    files: Tree
    parents: tuple[str, ...] = ()


@dataclass
class Fault:
    """An error to raise in a coming call of `method`, before or after it did its work."""

    method: str
    error: SweeperError
    after: bool


@dataclass
class FakeWorkspaces:
    """Drive it with `seed`, `tree`, `branches` and `fail`; look at `effects` and `calls`."""

    host: str = "fake"
    commits: dict[str, FakeCommit] = field(default_factory=dict)
    branches: dict[int, dict[str, str]] = field(default_factory=dict)
    mirrored: set[tuple[int, str]] = field(default_factory=set)
    trees: dict[tuple[int, str], Tree] = field(default_factory=dict)
    records: dict[tuple[int, str], str] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    homes: dict[str, Tree] = field(default_factory=dict)
    journals: dict[tuple[int, str], list[Entry]] = field(default_factory=dict)

    def seed(
        self, repository_id: int, files: Mapping[str, str], branch: str = "main", parent: str | None = None
    ) -> str:
        """Somebody else's commit on the remote: `files` on top of `parent`; the branch is moved to it."""
        known = dict(self.commits[parent].files) if parent else {}
        known |= {path: text.encode() for path, text in files.items()}
        commit = self._write(FakeCommit(known, (parent,) if parent else ()), "seed")
        self.branches.setdefault(repository_id, {})[branch] = commit
        return commit

    def tree(self, workspace: Workspace) -> Tree:
        """The files of a workspace, to be read and edited in place. Raises NotFound."""
        found = self.trees.get((workspace.repository_id, workspace.name))
        if found is None:
            raise NotFound(f"Workspace {workspace.name} is not complete on this host; create it again.")
        return found

    def tree_at(self, path: str) -> Tree:
        """The same by `Workspace.path`, which is all that a sandbox knows."""
        return next(tree for key, tree in self.trees.items() if _path(*key) == path)

    def fail(self, method: str, error: SweeperError, *, after: bool = False) -> None:
        """Let the next call of `method` raise. `after`: its effect happens and only the answer is lost."""
        self.faults.append(Fault(method, error, after))

    async def fetch(self, repository_id: int, commits: Sequence[str], access: GitAccess) -> None:
        with self.call("fetch"):
            for commit in commits:
                if commit not in self.commits:
                    raise NotFound(f"Commit {commit} is gone from the repository.")
            self.mirrored |= {(repository_id, commit) for commit in commits}

    async def create(self, repository_id: int, name: str, commit: str) -> Workspace:
        with self.call("create"):
            _check_name(name)
            self.trees.pop((repository_id, name), None)
            self._require(repository_id, commit)
            self.trees[repository_id, name] = dict(self.commits[commit].files)
            path = _path(repository_id, name)
            return Workspace(host=self.host, name=name, repository_id=repository_id, commit=commit, path=path)

    async def diff(self, repository_id: int, parent: str, commit: str) -> bytes:
        with self.call("diff"):
            return b"".join(_diff(self.commits[parent].files, self.commits[commit].files).values())

    async def changes(self, repository_id: int, parent: str, commit: str, limit: int) -> tuple[FileChange, ...]:
        with self.call("changes"):
            return tuple(_changes(self.commits[parent].files, self.commits[commit].files, limit))

    async def submodules(self, repository_id: int, commit: str) -> tuple[str, ...]:
        with self.call("submodules"):
            self._require(repository_id, commit)
            return ()

    async def read(self, repository_id: int, commit: str, path: str, limit: int) -> bytes | None:
        with self.call("read"):
            content = self.commits[commit].files.get(path)
            return content if content is not None and len(content) <= limit else None

    async def restored(self, repository_id: int, commit: str, source: str, paths: Sequence[str]) -> str:
        with self.call("restored"):
            files, exam = self.commits[commit].files, self.commits[source].files
            kept = {path: data for path, data in files.items() if path not in paths}
            kept |= {path: exam[path] for path in paths if path in exam}
            if kept == files:
                return commit
            made = self._write(FakeCommit(kept, (commit,)), "restored")
            self.mirrored.add((repository_id, made))
            return made

    async def home(self, repository_id: int, name: str) -> str:
        with self.call("home"):
            _check_name(name)
            self.homes[_path(repository_id, name)] = {}
            return _path(repository_id, name)

    async def left_in(self, home: str, path: str, limit: int) -> bytes | None:
        with self.call("left_in"):
            content = self.homes.get(home, {}).get(path)
            return content if content is not None and len(content) <= limit else None

    async def touched(self, workspace: Workspace) -> Touched:
        with self.call("touched"):
            now, then = self.tree(workspace), self.commits[workspace.commit].files
            return Touched(
                changed=tuple(sorted(path for path in then if now.get(path) != then[path])),
                added=tuple(sorted(now.keys() - then.keys())),
            )

    async def remove(self, repository_id: int, name: str) -> None:
        with self.call("remove"):
            self.trees.pop((repository_id, name), None)
            self.homes.pop(_path(repository_id, name), None)

    async def merge(self, repository_id: int, ours: str, theirs: str) -> str | None:
        with self.call("merge"):
            for commit in (ours, theirs):
                self._require(repository_id, commit)
            base = next((old for old in self._ancestors(ours) if old in set(self._ancestors(theirs))), None)
            merged = _merge(*(self.commits[commit].files for commit in (base, ours, theirs))) if base else None
            if merged is None:
                return None
            commit = self._write(FakeCommit(merged, (ours, theirs)), "merge")
            self.mirrored.add((repository_id, commit))
            return commit

    async def push(
        self, repository_id: int, branch: str, commit: str, expected: str | None, access: GitAccess, effect_key: str
    ) -> Effect:
        with self.call("push"):
            _check_branch(branch)
            heads = self.branches.setdefault(repository_id, {})
            seen = heads.get(branch)
            if seen != commit and seen != expected:
                raise Stale(f"{branch} is at {seen}, not at {expected}; read it again.")
            self._require(repository_id, commit)
            heads[branch] = commit
            state = EffectState.DEDUPLICATED if seen == commit else EffectState.CREATED
            return self._effect(effect_key, "branch.push", state, f"refs/heads/{branch}@{commit}")

    async def delete_branch(
        self, repository_id: int, branch: str, ours: str, access: GitAccess, effect_key: str
    ) -> Effect:
        with self.call("delete_branch"):
            _check_branch(branch)
            heads = self.branches.setdefault(repository_id, {})
            seen = heads.get(branch)
            if seen == ours:
                del heads[branch]
                return self._effect(effect_key, "branch.delete", EffectState.CREATED, f"refs/heads/{branch}@{ours}")
            if seen is None:
                gone = f"refs/heads/{branch}@{ours}"
                return self._effect(effect_key, "branch.delete", EffectState.DEDUPLICATED, gone, "already gone")
            note = f"moved on to {seen}, left alone"
            return self._effect(effect_key, "branch.delete", EffectState.SKIPPED, f"refs/heads/{branch}", note)

    async def discard(self, repository_id: int, sweep: str) -> None:
        with self.call("discard"):
            mine = [key for key in self.trees if key[0] == repository_id and f"{key[1]}.".startswith(f"{sweep}.")]
            for key in mine:
                del self.trees[key]
            prefix = f"refs/sweeper/{sweep}/"
            for home in [home for home in self.homes if f"{home}.".startswith(f"{_path(repository_id, sweep)}.")]:
                del self.homes[home]
            for record in [key for key in self.records if key[0] == repository_id and key[1].startswith(prefix)]:
                del self.records[record]

    async def traces(self) -> tuple[HostTrace, ...]:
        with self.call("traces"):
            found: dict[tuple[int, str], HostTrace] = {}
            for (repository_id, name), ref, commit in self._left():
                sweep = ids.sweep_id_of_workspace(name)
                if sweep is None:
                    continue
                trace = found.get((repository_id, sweep))
                trace = trace or HostTrace(host=self.host, repository_id=repository_id, sweep=sweep)
                more = {"commits": (*trace.commits, commit)} if ref else {"worktrees": (*trace.worktrees, name)}
                found[repository_id, sweep] = trace.model_copy(update=more)
            return tuple(found[key] for key in sorted(found))

    def _left(self) -> Iterator[tuple[tuple[int, str], str, str]]:
        """(repository id and workspace or sweep), and of a record its ref and commit."""
        yield from (((repository_id, name), "", "") for repository_id, name in sorted(self.trees))
        for (repository_id, ref), commit in sorted(self.records.items()):
            yield (repository_id, ref.split("/")[2]), ref, commit

    @contextmanager
    def call(self, method: str) -> Iterator[None]:
        self.calls.append(method)
        fault = next((fault for fault in self.faults if fault.method == method), None)
        if fault is not None:
            self.faults.remove(fault)
            if not fault.after:
                raise fault.error
        yield
        if fault is not None:
            raise fault.error

    def _effect(self, key: str, name: str, state: EffectState, ref: str, note: str = "") -> Effect:
        effect = Effect(key=key, name=name, state=state, ref=ref, note=note)
        self.effects.append(effect)
        return effect

    def _require(self, repository_id: int, commit: str) -> None:
        if (repository_id, commit) not in self.mirrored:
            raise NotFound(f"Commit {commit} is not in the mirror of this host; fetch it first.")

    def _write(self, commit: FakeCommit, seal: str) -> str:
        body = f"{_tree_id(commit.files)} {' '.join(commit.parents)} {seal}"
        key = hashlib.sha1(body.encode()).hexdigest()
        self.commits[key] = commit
        return key

    def _ancestors(self, commit: str) -> list[str]:
        found, todo = [], [commit]
        while todo:
            current = todo.pop(0)
            if current not in found:
                found.append(current)
                todo.extend(self.commits[current].parents)
        return found

    async def describe(self, repository_id: int, parent: str, commit: str) -> Patch:
        with self.call("describe"):
            return self._describe(commit, parent)

    def _describe(self, commit: str, parent: str) -> Patch:
        files = self.commits[commit].files
        diffs = _diff(self.commits[parent].files, files)
        lines = [line for diff in diffs.values() for line in diff.splitlines() if line[:1] in b"+-"]
        body = [line for line in lines if line[:3] not in (b"+++", b"---")]
        return Patch(
            commit=commit,
            tree=_tree_id(files),
            parent=parent,
            patch_id=hashlib.sha1(b"\n".join(lines)).hexdigest(),
            files=tuple(sorted(diffs)[:50]),
            files_changed=len(diffs),
            lines_changed=len(body),
            bytes_changed=sum(len(files.get(path, b"")) for path in diffs),
        )


def _path(repository_id: int, name: str) -> str:
    return f"/fake/{repository_id}/{name}"


def _tree_id(files: Tree) -> str:
    listing = {path: hashlib.sha1(data).hexdigest() for path, data in sorted(files.items())}
    return hashlib.sha1(json.dumps(listing).encode()).hexdigest()


def _check_name(name: str) -> None:
    if name.startswith(("-", ".")) or ".." in name or "/" in name or not name:
        raise BadInput(f"{name!r} cannot name a workspace; use letters, digits, '.', '_' and '-', no '..'.")


def _check_branch(branch: str) -> None:
    if branch.startswith("-") or ".." in branch or not branch:
        raise BadInput(f"{branch!r} is not a valid branch name; rename the branch.")


def _diff(old: Tree, new: Tree) -> dict[str, bytes]:
    diffs = {}
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            before, after = (tree.get(path, b"").decode("latin-1").splitlines(True) for tree in (old, new))
            names = (f"a/{path}" if path in old else "/dev/null", f"b/{path}" if path in new else "/dev/null")
            body = "".join(difflib.unified_diff(before, after, *names))
            diffs[path] = f"diff --git a/{path} b/{path}\n{body}".encode("latin-1")
    return diffs


def _changes(old: Tree, new: Tree, limit: int) -> Iterator[FileChange]:
    """A file that is gone and one that came with the same content are one that was renamed."""
    gone = {path: data for path, data in old.items() if path not in new}
    for path in sorted(new):
        if path not in old and (origin := next((was for was, data in gone.items() if data == new[path]), None)):
            del gone[origin]
            yield _file_change(path, new[path], new[path], limit).model_copy(update={"old_path": origin})
        elif new[path] != old.get(path):
            yield _file_change(path, old.get(path), new[path], limit)
    for path, data in gone.items():
        yield _file_change(path, data, None, limit)


def _file_change(path: str, old: bytes | None, new: bytes | None, limit: int) -> FileChange:
    sides = [data if data is None or len(data) <= limit else None for data in (old, new)]
    return FileChange(
        path=path,
        old_mode="" if old is None else "100644",
        new_mode="" if new is None else "100644",
        old=sides[0],
        new=sides[1],
        is_cut=sides != [old, new],
    )


def _merge(base: Tree, ours: Tree, theirs: Tree) -> Tree | None:
    """File by file: a file changed on both sides in different ways is a conflict."""
    merged = {}
    for path in base.keys() | ours.keys() | theirs.keys():
        before, mine, other = base.get(path), ours.get(path), theirs.get(path)
        if mine != before and other != before and mine != other:
            return None
        kept = other if mine == before else mine
        if kept is not None:
            merged[path] = kept
    return merged
