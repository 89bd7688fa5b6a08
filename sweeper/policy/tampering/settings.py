"""Configuration that asks for less than before: read as values where the format can be read, else by line."""

import re
from collections.abc import Iterator, Sequence

from sweeper.model import Finding
from sweeper.policy.tampering.exam import Exam
from sweeper.policy.tampering.places import is_checker_config, is_manifest, is_script
from sweeper.policy.tampering.seen import Seen, reject, show
from sweeper.policy.tampering.values import Values, by_flag, by_line, read

WIDEST_DEFAULT = 120  # no tool allows more where nothing is set
_FLOORS = re.compile(  # lower is weaker
    r"(fail[_-]under|statements|branches|functions|lines|minimum|target|threshold|max_examples|cov-fail-under|score)$",
    re.I,
)
_CEILINGS = re.compile(  # higher is weaker
    r"(line[_-]?length|max[_-][\w-]+|print-?width|complexity|max|warnings|timeout|retries|reruns|column_limit|confidence)$",
    re.I,
)
_IGNORES = re.compile(  # longer is weaker
    r"(ignore\w*|ignore-\w+|ignores|extend-ignore|disable|disable_error_code|per-file-ignores\b.*|exclude\w*|extend-exclude"
    r"|force-exclude|omit|exclude_lines|exclude_also|skip|skips|skip_files|norecursedirs|collect_ignore\w*|allow\w*"
    r"|\w*IgnorePatterns|disabled_checks|globalIgnores|skip_covered|unfixable|filterwarnings|lint\.\w+\.allow)$",
    re.I,
)
_CHOSEN = re.compile(  # shorter is weaker
    r"(select|extend-select|enable|extend-enable|enable_error_code|testpaths|python_files|python_classes|files|include|source"
    r"|packages|testMatch|reporters|plugins|load-plugins|types_or|python_functions|env_?list|lib|required_plugins)$"
)
_STRICT = re.compile(  # true is strong
    r"(strict\w*|disallow_\w+|warn_\w+|check_untyped_defs|no_implicit\w+|no[A-Z]\w+|xfail_strict|branch|bail|exact\w*|preview"
    r"|failOn\w+|strict-\w+|always_run|pass_filenames|show_error_codes|error_on_\w+|fail_on_\w+|require_\w+|extra_checks)$"
)
_LAX = re.compile(  # true is weak
    r"(ignore_\w+|ignore[A-Z]\w+|skip\w*|allow_\w+|allow[A-Z]\w+|passWithNoTests|continue_on_\w+|follow_imports_for_stubs|implicit_\w+"
    r"|local_partial_types|continue-on-error|exit-zero|fix-only|isolatedModules|noEmitOnError|suppress\w+|dangerously\w+)$"
)
_QUIET = ("off", "0", "warn", "warning", "1", "allow", "ignore", "none", "silent", "skip", "basic", "false")
_ADDOPTS = re.compile(
    r"(^|\s)(-k|--ignore(-glob)?|--deselect|-m|-p|--co|--collect-only|--no-cov|-x|--maxfail|--lf|--reruns|--pyargs|--confcutdir|--noconftest|-c|-o|-W|--disable\S*|--continue-on-collection-errors|--import-mode|--runxfail|--sw)(?=[\s=]|$)"
)
_MANUAL = re.compile(r"^repos\..*(stages|exclude|types|entry|args|verbose|fail_fast)\b")
_TOOLS = re.compile(
    r"^(tool\.(pytest|ruff|mypy|black|flake8|pylint|isort|coverage|pyright|tox|bandit|nox|poe|hatch\.envs|pdm\.scripts)"
    r"|tool:pytest|flake8|mypy|pytest|coverage|pylint|isort|pycodestyle|testenv|tox|jest|eslintConfig|mocha|nyc|ava|c8|vitest|lints|scripts)\b"
)
_ADDED = re.compile(r"scripts\.(?!pre|post|test|lint|check)")  # one more script that no check calls
_NEUTRAL = re.compile(
    r"(markers|target-version|python_version|known[_-]\w+|src|pythonpath|asyncio\w*|mypy_path|minversion|cache\w*|quote-style"
    r"|docstring\w*|indent\w*|profile|log_\w+|junit\w*|namespace_packages|explicit_package_bases|preset|testEnvironment|transform\.?.*)$"
)


def by_settings(files: Sequence[Seen], exam: Exam) -> Iterator[Finding]:
    """Values that ask for less, and any other change of what a checker is told."""
    for seen in files:
        if is_script(seen.path):
            yield from _weaker(seen, by_flag(seen.old), by_flag(seen.new))
        if not (is_checker_config(seen.path) or is_checker_config(seen.old_path) or is_manifest(seen.path)):
            continue
        if is_checker_config(seen.old_path) and (seen.is_gone or seen.path != seen.old_path):
            found = show if exam.is_about_settings else reject
            yield found("checker_config_removed", seen.before(None), "a checker's configuration is not where it was")
        if seen.is_gone:
            continue
        old, new = _values(seen)
        if exam.is_about_settings:
            old, new = _without_moved(old, new)
        weaker = list(_weaker(seen, old, new))
        yield from weaker
        if not weaker:
            yield from _otherwise(seen, exam)


def _otherwise(seen: Seen, exam: Exam) -> Iterator[Finding]:
    """Not weaker by any table. In a manifest a checker's table can come to the exam by itself, so it is held here."""
    if not is_manifest(seen.path):
        yield show("checker_config_changed", seen.path, "how checks are made changed")
        return
    old, new = read(seen.old_path, seen.old), read(seen.path, seen.new)
    if old is None or new is None:
        yield show("manifest_changed", seen.path, "dependencies or settings changed; the file cannot be read as values")
        return
    changed = [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]
    for key in (key for key in changed if _TOOLS.match(key)):
        is_honest = exam.is_about_settings or _NEUTRAL.search(key) or (key not in old and _ADDED.match(key))
        found = show if is_honest else reject
        yield found("checker_config_changed", _place(seen, key), f"{key[:80]} changed")
    if any(not _TOOLS.match(key) for key in changed):
        yield show("manifest_changed", seen.path, "dependencies or settings of the project changed")


def _values(seen: Seen) -> tuple[Values, Values]:
    old, new = read(seen.old_path, seen.old), read(seen.path, seen.new)
    return (by_line(seen.old), by_line(seen.new)) if old is None or new is None else (old, new)


def _without_moved(old: Values, new: Values) -> tuple[Values, Values]:
    """Without keys that went to an inner or an outer table as they were, as tools ask for when they grow."""
    came: dict[tuple[str, object], list[str]] = {}
    for key, value in new.items():
        if key not in old:
            came.setdefault((key.rpartition(".")[2], value), []).append(key)
    moved: set[str] = set()
    for key, value in old.items():
        table, _, last = key.rpartition(".")
        for other in came.get((last, value), [])[:4] if key not in new else []:
            place = other.rpartition(".")[0]
            if place.startswith(table) or table.startswith(place):
                moved |= {key, other}
    return {k: v for k, v in old.items() if k not in moved}, {k: v for k, v in new.items() if k not in moved}


def _weaker(seen: Seen, old: Values, new: Values) -> Iterator[Finding]:
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            name = _weakness(key, old.get(key), new.get(key))
            if name:
                yield reject(name, _place(seen, key), f"{key[:80]} asks for less than before")


def _weakness(key: str, old: str | tuple[str, ...] | None, new: str | tuple[str, ...] | None) -> str | None:
    last = key if "per-file-ignores" in key else key.rpartition(".")[2]
    for judge in (_by_number, _by_list, _by_switch, _by_rule):
        if name := judge(last, key, old, new):
            return name
    return None


def _by_number(last: str, _: str, old: object, new: object) -> str | None:
    before, after = _number(old), _number(new)
    if _FLOORS.search(last) and before is not None and (after is None or after < before):
        return "threshold_lowered"
    if _CEILINGS.search(last) and before is not None and after is not None and after > before:
        return "threshold_lowered"
    if not _CEILINGS.search(last):
        return None
    is_unbounded = re.search(r"(warnings|complexity)$", last) and before is not None and after is None
    is_wide = before is None and after is not None and after > WIDEST_DEFAULT
    if is_unbounded or is_wide:
        return "threshold_lowered"
    return None


def _number(value: object) -> float | None:
    try:
        return float(str(value).strip("% "))
    except ValueError:
        return None


def _words(value: object) -> set[str]:
    parts = value if isinstance(value, tuple) else re.split(r"[\s,|]+", str(value)) if value is not None else []
    return {part.strip() for part in parts if part.strip()} - {"None", "False", "false"}


def _by_list(last: str, key: str, old: object, new: object) -> str | None:
    gone, came = _words(old) - _words(new), _words(new) - _words(old)
    if last == "filterwarnings":
        weak = any("ignore" in word or "default" in word for word in came) or "error" in gone
        return "lint_ignore" if weak else None
    if last == "addopts":
        return _by_options(" ".join(_sequence(old)), " ".join(_sequence(new)))
    if key.startswith("repos") or last in ("true", "false"):
        return None
    if _IGNORES.search(last) and came and came != {"true"}:
        return "lint_ignore"
    if (
        _CHOSEN.search(last)
        and gone
        and not (came and last in ("lib",))
        and not key.startswith(("project", "tool.poetry"))
    ):
        return "checks_narrowed"
    if _CHOSEN.search(last) and old is None and last in ("testpaths", "python_files", "testMatch", "files", "include"):
        return "checks_narrowed" if came else None
    return None


def _sequence(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value or ""),)


def _by_options(old: str, new: str) -> str | None:
    def counts(text: str) -> list[str]:
        return sorted(found[2] for found in _ADDOPTS.finditer(text))

    if len(counts(new)) > len(counts(old)) or (counts(new) and new != old):
        return "tests_deselected"
    floors = [[float(n) for n in re.findall(r"fail-under[= ](\d+(?:\.\d+)?)", text)] for text in (old, new)]
    if floors[0] and (not floors[1] or min(floors[1]) < min(floors[0])):
        return "threshold_lowered"
    dropped = {word for word in old.split() if word.startswith("-")} - set(new.split())
    return (
        "checks_narrowed"
        if any(re.match(r"--(strict|cov|doctest|error|flake|mypy|ruff)", word) for word in dropped)
        else None
    )


def _by_switch(last: str, _: str, old: object, new: object) -> str | None:
    before, after = str(old).lower(), str(new).lower()
    if _STRICT.search(last) and before in ("true", "yes", "1", "on") and after not in ("true", "yes", "1", "on"):
        return "strictness_off"
    if _STRICT.search(last) and after in ("false", "no", "off") and before not in ("false", "no", "off"):
        return "strictness_off"
    if _LAX.search(last) and after in ("true", "yes", "1", "on") and before not in ("true", "yes", "1", "on"):
        return "strictness_off"
    if last == "follow_imports" and after in ("skip", "silent"):
        return "strictness_off"
    return None


def _by_rule(last: str, key: str, old: object, new: object) -> str | None:
    before, after = str(old).lower(), str(new).lower()
    if re.search(r"\brules\b|\blints\b|overrides|^rules?\.", key) and after in _QUIET and before != after:
        return "lint_ignore"
    if re.search(r"typeCheckingMode|extends|level|severity", last) and after in _QUIET and before != after:
        return "strictness_off"
    if last == "pytest11" or ".pytest11." in f".{key}.":
        return "plugin_added"
    if _MANUAL.match(key) and re.search(r"\.(stages|exclude)$", key) and new is not None:
        return "checks_narrowed"
    if key.startswith("repos.") and key.endswith(".id") and new is None:
        return "command_replaced"
    return None


def _place(seen: Seen, key: str) -> str:
    words = [word for word in re.split(r"[.:]", key) if word]
    last = words[-1] if words else key
    for number, line in (*seen.added, *seen.removed):
        if last in line:
            return seen.at(number) if (number, line) in seen.added else seen.before(number)
    return seen.path
