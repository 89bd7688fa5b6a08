"""What may not be in a change whatever it says: protected paths, modes, links, shadows, left-overs, secrets, tricks."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from sweeper.model import Finding, Patch
from sweeper.policy.limits import DIFF_TOO_LARGE
from sweeper.policy.redaction import redact_text
from sweeper.policy.tampering.exam import Exam
from sweeper.policy.tampering.places import (
    LOCKS,
    PROGRAMS,
    SCRATCH,
    SHADOWED,
    STARTUP,
    base,
    is_checker_config,
    is_like,
    is_protected,
    is_vendored,
)
from sweeper.policy.tampering.seen import LONGEST_LINE, Seen, reject, show

_GITLINK, _SYMLINK, _REGULAR = "160000", "120000", ("100644", "100755")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad\U000e0000-\U000e007f]")
_WORD = re.compile(r"\w+")
_ATTRIBUTES = re.compile(
    r"linguist-(generated|vendored)|-diff\b|\bdiff=|-text\b|\bbinary\b|\bfilter=|export-ignore|merge="
)
_SEARCH_PATH = re.compile(
    r"^\s*(export\s+)?(PATH|PYTHONPATH|PYTEST_ADDOPTS|PYTEST_PLUGINS|PYTHONSTARTUP|NODE_OPTIONS|NODE_PATH|LD_\w+|BASH_ENV|PYTHONWARNINGS)\s*[:?+]?="
)
_CODE = ("python", "js", "go", "rust", "java", "c", "ruby", "shell")


def by_size(patch: Patch, exam: Exam) -> Iterator[Finding]:
    """Over the limits a human takes over."""
    limits = exam.limits
    for what, value, limit in (
        ("files", patch.files_changed, limits.files),
        ("lines", patch.lines_changed, limits.lines),
        ("bytes", patch.bytes_changed, limits.bytes),
    ):
        if value > limit:
            yield reject(DIFF_TOO_LARGE, what, f"{value}, at most {limit} allowed")


def by_path(files: Sequence[Seen], exam: Exam) -> Iterator[Finding]:
    """Where a change lies, and what its name would mean to a tool."""
    names = {base(seen.path) for seen in files}
    for seen in files:
        for path in {seen.path, seen.old_path}:
            if is_protected(path, exam.protected):
                yield reject("protected_path", path, "a fix must not edit its own exam")
        yield from _by_name(seen, names, exam)


def _by_name(seen: Seen, names: set[str], exam: Exam) -> Iterator[Finding]:
    path, name = seen.path, base(seen.path)
    folders = path.casefold().split("/")
    if name in (".gitmodules", ".lfsconfig") or ".git" in folders or {".githooks", ".husky"} & set(folders):
        yield reject("git_settings", path, "what git runs or fetches is no part of a fix")
    if not seen.is_gone and (name in STARTUP or name.endswith((".pth", ".egg-link"))):
        yield reject("startup_file", path, "Python runs it before any check")
    if seen.is_new and not seen.is_gone and _shadows(folders):
        yield reject("shadows_tool", path, "its name takes the place of a checker or of the standard library")
    if is_vendored(path) and not seen.is_gone:
        yield reject("vendored", path, "it lies in a folder that is made or taken over, not written")
    if seen.is_new and not seen.is_gone and is_like(path, SCRATCH):
        yield reject("scratch_file", path, "a left-over of the work and no part of a fix")
    if name in LOCKS and not names.intersection(LOCKS[name]):
        yield show("lock_without_manifest", path, "locked versions changed and what was asked for did not")
    if seen.is_new and is_checker_config(path):
        found = show if exam.is_about_settings else reject
        yield found("checker_config_added", path, "a new configuration takes the place of the one in use")


def _shadows(folders: list[str]) -> bool:
    first, name = folders[0], folders[-1]
    stem = name.partition(".")[0]
    is_importable = name.endswith((".py", ".so", ".pyd", ".pyc")) or name == stem
    at_root = len(folders) == 1 or (len(folders) == 2 and first in ("src", "tests", "test", "lib", "python"))
    if at_root and stem in SHADOWED and is_importable:
        return True
    if len(folders) > 1 and (first in SHADOWED or (first in ("src", "lib") and folders[1] in SHADOWED)):
        return name.endswith((".py", ".so"))
    in_programs = len(folders) == 1 or any(folder in ("bin", ".bin", "tools", "scripts") for folder in folders[:-1])
    if in_programs and "." not in name and name in PROGRAMS:
        return True
    return any(folder.endswith((".dist-info", ".egg-info")) for folder in folders)


def by_mode(files: Sequence[Seen]) -> Iterator[Finding]:
    """What kind of entry a change makes of a path."""
    for seen in files:
        old, new = seen.change.old_mode, seen.change.new_mode
        if _GITLINK in (old, new):
            yield reject("submodule", seen.path, "a submodule is code nobody sees here")
        elif new == _SYMLINK:
            yield from _symlink(seen)
        elif new and new not in _REGULAR:
            yield reject("odd_mode", seen.path, f"mode {new[:12]} is not one that git gives a file")
        elif old == _SYMLINK and new:
            yield show("symlink", seen.path, "a link became a file")
        elif old in _REGULAR and new in _REGULAR and old != new:
            yield show("mode_changed", seen.path, f"mode {new}, {old} before")
        elif (
            not old
            and new == "100755"
            and seen.language not in ("shell", "python")
            and (seen.change.new or b"")[:2] != b"#!"
        ):
            yield show("mode_changed", seen.path, "a new file that can be run")


def _symlink(seen: Seen) -> Iterator[Finding]:
    target = seen.new.strip()
    folder = [part for part in seen.path.split("/")[:-1] if part]
    for part in target.split("/"):
        if part == ".." and not folder:
            yield reject("symlink", seen.path, "it leads out of the repository")
            return
        if part == "..":
            folder.pop()
        elif part not in ("", "."):
            folder.append(part)
    if target.startswith(("/", "~")) or ".git" in folder or "\\" in target:
        yield reject("symlink", seen.path, "it leads out of the repository")
    else:
        yield show("symlink", seen.path, f"a link to {target[:80]}")


def by_content(files: Sequence[Seen]) -> Iterator[Finding]:
    """What a reviewer could not see, or should never have to."""
    for seen in files:
        if seen.change.is_cut:
            yield reject("too_large_to_judge", seen.path, "a file that is not read cannot be judged")
        elif seen.is_binary and not seen.is_gone:
            yield reject("binary", seen.path, "a binary file cannot be reviewed")
        elif seen.change.new_mode != _SYMLINK:
            yield from _by_lines(seen)


def _by_lines(seen: Seen) -> Iterator[Finding]:
    is_attributes, name = base(seen.path) == ".gitattributes", base(seen.path)
    is_environment = name.startswith((".env", ".envrc", ".npmrc", ".yarnrc")) or seen.language == "shell"
    known = _foreign(seen.old) if seen.language in _CODE else set()
    for number, line in seen.added:
        place = seen.at(number)
        if redact_text(line) != line:
            yield reject("secret", place, "it looks like a credential")
        if _BIDI.search(line):
            yield reject("hidden_text", place, "characters that make text read otherwise than it runs")
        elif _INVISIBLE.search(line) and seen.language in _CODE:
            yield reject("hidden_text", place, "characters that cannot be seen")
        if seen.language in _CODE and any(_is_mixed(word) for word in _foreign(line) - known):
            yield reject("hidden_text", place, "a word of letters that only look like others")
        if is_attributes and _ATTRIBUTES.search(line):
            yield reject("git_settings", place, "it hides changes from reviewers or changes what git writes")
        if is_environment and _SEARCH_PATH.search(line):
            yield reject("search_path", place, "it decides which program or module is found")
        if len(line) >= LONGEST_LINE and name not in LOCKS and not name.endswith((".svg", ".ipynb")):
            found = reject if seen.language in _CODE else show
            yield found("long_line", place, "a line nobody can review")


def _foreign(text: str) -> set[str]:
    return set() if text.isascii() else {word for word in _WORD.findall(text) if not word.isascii()}


def _is_mixed(word: str) -> bool:
    """Latin with Cyrillic or Greek look-alikes in one word, or wide and mathematical forms of Latin letters."""
    scripts = {unicodedata.name(letter, "?").partition(" ")[0] for letter in word[:200] if letter.isalpha()}
    return bool(scripts & {"MATHEMATICAL", "FULLWIDTH"}) or (
        "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
    )
