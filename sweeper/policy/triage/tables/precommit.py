"""What pre-commit says. A hook's kind is in its name: the hooks themselves print what their tools print."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

LINT = Words("pre-commit", FailureClass.LINT)
FORMAT = Words("pre-commit", FailureClass.FORMAT)
TYPE = Words("pre-commit", FailureClass.TYPE)
SETTINGS = Words("pre-commit", FailureClass.CONFIGURATION)

FORMATTERS = (
    r"(?:ruff[ -]format|black|isort|prettier|gofmt|rustfmt|clang-format|end-of-file|trailing|trim|fix end|"
    r"mixed-line|pretty|autopep8|yapf|shfmt|pyupgrade|cargo fmt|docformatter|taplo|blacken)"
)

ROWS = (
    FORMAT.last_word(rf"^(?P<message>(?i:{FORMATTERS})[^.]{{0,80}})\.{{3,}}(?:\(.{{0,40}}\))?Failed$", "a hook failed"),
    TYPE.last_word(r"^(?P<message>(?i:mypy|pyright|pytype|tsc)[^.]{0,80})\.{3,}Failed$", "a hook failed"),
    LINT.last_word(r"^(?P<message>[^.\s][^.]{0,120}(?:\.\w[^.]{0,60})?)\.{3,}(?:\(.{0,40}\))?Failed$", "a hook failed"),
    LINT.hint(r"^- hook id: (?P<message>\S+)$", "pre-commit names the hook"),
    FORMAT.error(r"^- files were modified by this hook$", "a hook changed files that were not formatted"),
    FORMAT.error(r"^Fixing (?P<file>[^\s:]+)$", "a hook changed a file that was not formatted"),
    SETTINGS.error(
        r"^An error has occurred: (?P<message>(?:InvalidConfigError|InvalidManifestError).*)",
        "the file of hooks is wrong",
    ),
    SETTINGS.error(r"^(?P<message>No hook with id `.{1,80}`.*)", "the file of hooks names one that is not there"),
)
