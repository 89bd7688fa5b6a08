"""Formatters and linters of Python. Each one's options: its own `--help`."""

from adapters.agents.fixing.fixer import WITH_REST, Fixer, words

_RUFF = words("check format rule config linter clean server analyze version help")

PRE_COMMIT = (
    *(
        Fixer(
            name=f"{tool} run",
            tool=tool,
            subcommands=("run",),
            flags=words("--show-diff-on-failure"),
            fine=WITH_REST,
            again=True,  # hooks mend and fail; what fails a second time is left
        )
        for tool in ("pre-commit", "prek")
    ),
)

LINT = (
    Fixer(
        name="ruff check --fix",
        tool="ruff",
        subcommands=("check",),
        others=_RUFF,
        flags=words(
            "--fix --no-fix --fix-only --unsafe-fixes --no-unsafe-fixes --diff --watch -w --exit-zero -e "
            "--exit-non-zero-on-fix --statistics --add-noqa"
        ),
        options=words("--output-format --output-file -o"),
        adds=("--fix", "--no-unsafe-fixes"),  # unsafe ones stay off even where the configuration turns them on
        fine=WITH_REST,
    ),
    Fixer(
        name="autoflake --in-place",
        tool="autoflake",
        flags=words("-c --check -cd --check-diff -i --in-place -s --stdout"),
        adds=("--in-place",),
    ),
    Fixer(name="pyupgrade", tool="pyupgrade", fine=WITH_REST),  # has no checking form: it mends, and ends with 1
    Fixer(
        name="codespell --write-changes",
        tool="codespell",
        flags=words("-w --write-changes"),
        options=words("-i --interactive"),
        adds=("--write-changes",),
        fine=frozenset({0, 64, 65}),  # EX_USAGE and above, by how the misspellings left are counted
    ),
)

FORMAT = (
    Fixer(
        name="isort",
        tool="isort",
        flags=words("-c --check --check-only --diff -d --stdout"),
    ),
    Fixer(name="usort format", tool="usort", subcommands=("check", "diff", "format"), becomes=("format",)),
    Fixer(
        name="black",
        tool="black",
        flags=words("--check --diff --color --no-color"),
    ),
    Fixer(
        name="autopep8 --in-place",
        tool="autopep8",
        flags=words("-d --diff --exit-code -i --in-place"),
        adds=("--in-place",),
    ),
    Fixer(name="yapf --in-place", tool="yapf", flags=words("-d --diff -q --quiet -i --in-place"), adds=("--in-place",)),
    Fixer(
        name="docformatter --in-place",
        tool="docformatter",
        flags=words("-c --check -d --diff -i --in-place"),
        adds=("--in-place",),
        fine=frozenset({0, 3}),  # 3: something was to be formatted
    ),
    Fixer(
        name="ruff format",
        tool="ruff",
        subcommands=("format",),
        others=_RUFF,
        flags=words("--check --diff --exit-non-zero-on-format"),
        options=words("--output-format"),
    ),
)
