"""Formatters and linters of Go, Rust, C, Ruby, shell, Terraform, and of files that every project has."""

from adapters.agents.fixing.fixer import WITH_REST, Fixer, words

_RUSTFMT_MODES = words("--check -l --files-with-diff")

LINT = (
    Fixer(
        name="cargo clippy --fix",
        tool="cargo",
        subcommands=("clippy",),
        flags=words("--fix --allow-dirty --allow-staged"),
        # A warning that is an error ends the build before anything is mended.
        options=words("-D --deny -F --forbid --message-format"),
        adds=("--fix", "--allow-dirty", "--allow-staged"),
    ),
    Fixer(
        name="golangci-lint run --fix",
        tool="golangci-lint",
        subcommands=("run",),
        flags=words("--fix"),
        options=words("--out-format"),
        adds=("--fix",),
        fine=WITH_REST,
    ),
    Fixer(
        name="rubocop --autocorrect",
        tool="rubocop",
        flags=words("-a --autocorrect -A --autocorrect-all --parallel -P"),
        options=words("-f --format -o --out"),
        adds=("--autocorrect",),  # the safe ones alone
        fine=WITH_REST,
    ),
)

FORMAT = (
    *(
        Fixer(name=f"{tool} -w", tool=tool, flags=words("-l -d -w"), adds=("-w",))
        for tool in ("goimports", "gofumpt", "gofmt")
    ),
    Fixer(name="cargo fmt", tool="cargo", subcommands=("fmt",), flags=_RUSTFMT_MODES),
    Fixer(name="rustfmt", tool="rustfmt", flags=_RUSTFMT_MODES),
    Fixer(
        name="clang-format -i",
        tool="clang-format",
        flags=words("-n --dry-run -dry-run -Werror --Werror -i"),
        adds=("-i",),
    ),
    *(
        Fixer(name=f"{tool} fmt", tool=tool, subcommands=("fmt",), flags=words("-check --check -diff --diff -list"))
        for tool in ("terraform", "tofu")
    ),
    Fixer(name="shfmt -w", tool="shfmt", flags=words("-d --diff -l --list -w --write"), adds=("-w",)),
    Fixer(
        name="taplo format",
        tool="taplo",
        subcommands=("format", "fmt"),
        flags=words("--check --diff"),
    ),
    Fixer(name="yamlfmt", tool="yamlfmt", flags=words("-lint -dry -quiet -q")),
    Fixer(
        name="buf format -w",
        tool="buf",
        subcommands=("format",),
        flags=words("-d --diff --exit-code -w --write"),
        adds=("-w",),
    ),
    Fixer(name="stylua", tool="stylua", flags=words("-c --check")),
    Fixer(name="mix format", tool="mix", subcommands=("format",), flags=words("--check-formatted")),
    Fixer(name="zig fmt", tool="zig", subcommands=("fmt",), flags=words("--check")),
    Fixer(
        name="dart format",
        tool="dart",
        subcommands=("format",),
        flags=words("--set-exit-if-changed"),
        options=words("-o --output"),
    ),
    Fixer(name="dotnet format", tool="dotnet", subcommands=("format",), flags=words("--verify-no-changes")),
)
