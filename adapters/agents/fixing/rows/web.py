"""Formatters and linters of JavaScript, styles and Markdown."""

from adapters.agents.fixing.fixer import WITH_REST, Fixer, words

_BIOME = words("check ci lint format rage start stop migrate init search explain lsp-proxy version clean")
_BIOME_FLAGS = words("--write --apply --fix --unsafe --apply-unsafe")
_BIOME_OPTIONS = words("--reporter --max-diagnostics")
_ESLINT_FIXES = words("--fix --fix-dry-run --quiet")
_REPORTS = words("-f --format --formatter -o --output-file")

LINT = (
    Fixer(
        name="eslint --fix",
        tool="eslint",
        flags=_ESLINT_FIXES,
        options=_REPORTS | words("--max-warnings"),
        adds=("--fix",),
        fine=WITH_REST,
    ),
    Fixer(
        name="oxlint --fix",
        tool="oxlint",
        flags=words("--fix --fix-suggestions --fix-dangerously --quiet"),
        options=_REPORTS | words("--max-warnings"),
        adds=("--fix",),
        fine=WITH_REST,
    ),
    *(
        Fixer(name=f"{tool} --fix", tool=tool, flags=words("--fix"), adds=("--fix",), fine=WITH_REST)
        for tool in ("standard", "xo", "ts-standard")
    ),
    Fixer(
        name="stylelint --fix",
        tool="stylelint",
        flags=words("--fix -q --quiet"),
        options=_REPORTS | words("--mw --max-warnings"),
        adds=("--fix",),
        fine=frozenset({0, 2}),  # 2: problems are left
    ),
    *(
        Fixer(name=f"{tool} --fix", tool=tool, flags=words("--fix -f"), adds=("--fix",), fine=WITH_REST)
        for tool in ("markdownlint", "markdownlint-cli2")
    ),
    Fixer(
        name="biome check --write",
        tool="biome",
        subcommands=("check", "ci"),
        others=_BIOME,
        becomes=("check",),
        flags=_BIOME_FLAGS | words("--error-on-warnings"),
        options=_BIOME_OPTIONS,
        adds=("--write",),
        fine=WITH_REST,
    ),
    Fixer(
        name="biome lint --write",
        tool="biome",
        subcommands=("lint",),
        others=_BIOME,
        flags=_BIOME_FLAGS | words("--error-on-warnings"),
        options=_BIOME_OPTIONS,
        adds=("--write",),
        fine=WITH_REST,
    ),
    Fixer(
        name="deno lint --fix",
        tool="deno",
        subcommands=("lint",),
        flags=words("--fix"),
        adds=("--fix",),
        fine=WITH_REST,
    ),
)

FORMAT = (
    Fixer(
        name="prettier --write",
        tool="prettier",
        flags=words("-c --check -l --list-different -w --write"),
        adds=("--write",),
    ),
    Fixer(
        name="biome format --write",
        tool="biome",
        subcommands=("format",),
        others=_BIOME,
        flags=_BIOME_FLAGS,
        options=_BIOME_OPTIONS,
        adds=("--write",),
    ),
    Fixer(
        name="dprint fmt",
        tool="dprint",
        subcommands=("check", "fmt"),
        becomes=("fmt",),
        flags=words("--list-different"),
    ),
    Fixer(name="deno fmt", tool="deno", subcommands=("fmt",), flags=words("--check --fail-fast")),
)
