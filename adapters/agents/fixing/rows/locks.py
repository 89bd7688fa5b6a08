"""Lock files that no longer fit what they lock. What is locked stays as it is where that fits; the rest is resolved."""

from adapters.agents.fixing.fixer import LOCK, Fixer, words

_CARGO = ("build", "test", "check", "clippy", "run", "doc", "bench", "fetch", "metadata", "nextest run", "package")
_UV_PLACE = words("--directory= --project=")

ROWS = (
    Fixer(
        name="uv lock",
        tool="uv",
        subcommands=("lock", "sync", "run", "export", "tree"),
        becomes=("lock",),
        needs=words("--locked --check"),
        keeps=_UV_PLACE,
        classes=LOCK,
        downloads=True,
    ),
    Fixer(
        name="poetry lock",
        tool="poetry",
        subcommands=("check", "lock"),
        becomes=("lock",),  # since 2.0 it keeps what is locked
        needs=words("--lock --check"),
        keeps=words("--directory= -C= --project= -P="),
        classes=LOCK,
        downloads=True,
    ),
    Fixer(
        name="poetry lock",
        tool="poetry",
        subcommands=("install", "sync"),
        becomes=("lock",),
        keeps=words("--directory= -C= --project= -P="),
        classes=LOCK,
        symptom=r"changed significantly since poetry\.lock",
        downloads=True,
    ),
    Fixer(
        name="npm install --package-lock-only",
        tool="npm",
        subcommands=("ci", "clean-install"),
        becomes=("install",),
        adds=("--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"),
        keeps=words("--prefix= -C= --legacy-peer-deps --force"),
        classes=LOCK,
        symptom=r"can only install packages when your package\.json and|Missing: .* from lock file|Invalid: lock file",
        downloads=True,
    ),
    Fixer(
        name="pnpm install --lockfile-only",
        tool="pnpm",
        subcommands=("install", "i"),
        becomes=("install",),
        adds=("--lockfile-only", "--no-frozen-lockfile", "--ignore-scripts"),
        keeps=words("--dir= -C="),
        classes=LOCK,
        symptom=r"ERR_PNPM_OUTDATED_LOCKFILE|ERR_PNPM_LOCKFILE_CONFIG_MISMATCH",
        downloads=True,
    ),
    Fixer(
        name="yarn install --mode=update-lockfile",
        tool="yarn",
        subcommands=("install",),
        becomes=("install",),
        adds=("--mode=update-lockfile", "--no-immutable"),
        keeps=words("--cwd="),
        classes=LOCK,
        symptom=r"YN0028|lockfile would have been (?:modified|created) by this install",
        downloads=True,
    ),
    Fixer(
        name="cargo update --workspace",
        tool="cargo",
        subcommands=_CARGO,
        becomes=("update", "--workspace"),  # only what the lock file lacks
        needs=words("--locked --frozen"),
        keeps=words("--manifest-path="),
        classes=LOCK,
        symptom=r"lock file .*needs to be updated|cannot update the lock file",
        downloads=True,
    ),
    Fixer(
        name="go mod tidy",
        tool="go",
        subcommands=("mod tidy",),
        flags=words("-diff"),
        classes=LOCK,
        downloads=True,
    ),
    Fixer(
        name="go mod tidy",
        tool="go",
        subcommands=("build", "test", "vet", "list"),
        becomes=("mod", "tidy"),
        keeps=words("-C="),
        classes=LOCK,
        symptom=r"updates to go\.mod needed|missing go\.sum entry",
        downloads=True,
    ),
    Fixer(name="pip-compile", tool="pip-compile", flags=words("-n --dry-run"), classes=LOCK, downloads=True),
    Fixer(name="uv pip compile", tool="uv", subcommands=("pip compile",), classes=LOCK, downloads=True),
)
