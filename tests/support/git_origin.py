"""A real bare repository that plays the other side, written to as people do: from a clone of their own."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from sweeper.model import GitAccess

_ENV = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
    "LC_ALL": "C",
}


def git(*argv: str, cwd: Path, stdin: bytes | None = None) -> str:
    """What a person's git prints; fails the test when git fails. Trees of the sandbox user are trusted here."""
    command = ["git", "-c", "safe.directory=*", *argv]
    done = subprocess.run(command, cwd=cwd, env=_ENV, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip("\n")


class GitOrigin:
    """A remote repository under `root`, with a clone in which commits are made."""

    def __init__(self, root: Path) -> None:
        self.path = root / "origin.git"
        self.clone = root / "clone"
        root.mkdir(parents=True, exist_ok=True)
        git("init", "-q", "--bare", "-b", "main", str(self.path), cwd=root)
        git("init", "-q", "-b", "main", str(self.clone), cwd=root)
        # Whatever .gitattributes a test commits, the bytes it gives are the bytes of the blob.
        (self.clone / ".git" / "info" / "attributes").write_text("* -text !ident !filter\n")

    @property
    def access(self) -> GitAccess:
        """How to reach it."""
        return GitAccess(url=f"file://{self.path}")

    def commit(self, files: Mapping[str, str | bytes | None], branch: str = "main", parent: str | None = None) -> str:
        """Put a commit with these changes (None deletes) on top of `parent` (None: nothing) and push the branch."""
        if parent is None:
            git("checkout", "-q", "--orphan", f"new-{branch}", cwd=self.clone)
            git("rm", "-rfq", "--ignore-unmatch", ".", cwd=self.clone)
        else:
            git("checkout", "-q", "--detach", parent, cwd=self.clone)
        for path, content in files.items():
            self._write(path, content)
        return self.commit_as_it_lies(branch)

    def commit_as_it_lies(self, branch: str = "main") -> str:
        """Commit whatever the clone holds right now, ignored files included."""
        git("add", "-A", "-f", ".", cwd=self.clone)
        git("commit", "-q", "--allow-empty", "-m", "change", cwd=self.clone)
        git("push", "-q", "-f", str(self.path), f"HEAD:refs/heads/{branch}", cwd=self.clone)
        return git("rev-parse", "HEAD", cwd=self.clone)

    def tag(self, name: str, commit: str, message: str | None = None) -> None:
        """Tag a commit, annotated if there is a message."""
        options = ["-a", "-m", message] if message else []
        git("tag", *options, name, commit, cwd=self.clone)
        git("push", "-q", str(self.path), f"refs/tags/{name}", cwd=self.clone)

    def branch(self, name: str) -> str | None:
        """Where a branch is."""
        return git("for-each-ref", "--format=%(objectname)", f"refs/heads/{name}", cwd=self.path) or None

    def _write(self, path: str, content: str | bytes | None) -> None:
        target = self.clone / path
        if content is None:
            target.unlink()
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
