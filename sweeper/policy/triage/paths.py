"""Names of files as a repository has them, whatever machine a tool ran on."""

import re

_CHECKOUTS = re.compile(
    r"(?:file://)?(?:"
    r"/home/runner/work/[^/\s]+/[^/\s]+|/Users/runner/work/[^/\s]+/[^/\s]+|/__w/[^/\s]+/[^/\s]+|/github/workspace|"
    r"[A-Za-z]:[\\/]a[\\/][^\\/\s]+[\\/][^\\/\s]+|/runner/_work/[^/\s]+/[^/\s]+|"
    r"/home/[^/\s]+/actions-runner/_work/[^/\s]+/[^/\s]+"
    r")[\\/]"
)
"""Where GitHub's runners, hosted and self-hosted ones, check repositories out."""

_DRIVE_PATH = re.compile(r"\w[\w.@-]*(?:\\[\w.@-]+)+")


def in_repository(name: str) -> str:
    """The name of a file, or of a test that begins with one, relative to the checkout, with slashes."""
    name = _CHECKOUTS.sub("", name).removeprefix("./")
    return name.replace("\\", "/") if _DRIVE_PATH.match(name) else name


def without_checkouts(text: str) -> str:
    """A text in which no file of a checkout is named by its full path."""
    return _CHECKOUTS.sub("", text) if "/" in text or "\\" in text else text


def is_absolute(name: str) -> bool:
    """Whether a machine's own path is part of it."""
    return name.startswith(("/", "~/")) or re.match(r"[A-Za-z]:[\\/]", name) is not None


def base_name(name: str) -> str:
    """The last part of a path, of whatever machine."""
    return re.split(r"[\\/]", name.rstrip("\\/"))[-1]
