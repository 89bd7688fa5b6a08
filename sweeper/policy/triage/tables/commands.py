"""What a failing script runs, most serious first: a script that formats, lints and tests is first of all a test."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import installed_by, run_by

TEST, TYPE, LINT = FailureClass.TEST, FailureClass.TYPE, FailureClass.LINT
FORMAT, BUILD = FailureClass.FORMAT, FailureClass.BUILD

NODE = r"(?:npm|yarn|pnpm|bun)(?: run(?:-script)?)?(?: -{1,2}[\w=./-]+){0,4} "
MAVEN = r"(?:\./)?mvnw?(?:\.cmd)?"
GRADLE = r"(?:\./|\.\\)?gradlew?(?:\.bat)?"
REST = r"[^\n;&|]{0,300}"

COMMANDS = (
    run_by("pytest", TEST, r"(?:python[\d.]* -m )?(?:pytest|py\.test)"),
    run_by("unittest", TEST, r"python[\d.]* -m unittest|manage\.py test|python[\d.]* -m doctest|setup\.py test"),
    run_by("jest", TEST, r"(?:npx )?jest"),
    run_by("vitest", TEST, r"(?:npx )?vitest"),
    run_by("mocha", TEST, r"(?:npx )?(?:mocha|karma start|ava|tap)"),
    run_by("playwright", TEST, r"(?:npx )?(?:playwright test|cypress run)"),
    run_by("node", TEST, r"node --test"),
    run_by("go test", TEST, r"go test|gotestsum"),
    run_by("cargo test", TEST, rf"cargo (?:\+\S+ )?(?:test|nextest{REST} run|nextest run)"),
    run_by("ctest", TEST, r"ctest"),
    run_by("maven", TEST, rf"{MAVEN}{REST} (?:test|verify|integration-test)"),
    run_by("gradle", TEST, rf"{GRADLE}{REST} (?::?[\w:]{{0,80}}:)?(?:test|check|build|connectedCheck)"),
    run_by("npm scripts", TEST, rf"{NODE}(?:t|tst|test(?:[:-][\w:-]+)?|e2e)"),
    run_by("make", TEST, rf"g?make{REST} (?:test|tests|check|unittest|unit-tests?|e2e|test-[\w-]+)"),
    run_by("rspec", TEST, r"(?:bundle exec )?(?:rspec|rake(?: test| spec)?)"),
    run_by("dotnet", TEST, r"dotnet test"),
    run_by("mypy", TYPE, r"(?:python[\d.]* -m )?(?:mypy|dmypy run)"),
    run_by("pyright", TYPE, r"(?:npx )?(?:based)?pyright"),
    run_by("tsc", TYPE, r"(?:npx )?(?:tsc --noEmit|vue-tsc|tsc -noEmit)"),
    run_by("npm scripts", TYPE, rf"{NODE}(?:type-?check|check-types|types|tsc)"),
    run_by("make", TYPE, rf"g?make{REST} (?:mypy|types|typecheck|type-check)"),
    run_by("docker build", BUILD, r"docker (?:buildx )?(?:build|bake)|docker[ -]compose (?:build|up)"),
    run_by("go build", BUILD, r"go (?:build|generate)"),
    run_by("cargo build", BUILD, r"cargo (?:\+\S+ )?(?:build|check|doc|run)"),
    run_by("maven", BUILD, rf"{MAVEN}{REST} (?:compile|package|install|deploy|test-compile)"),
    run_by("gradle", BUILD, rf"{GRADLE}{REST} (?::?[\w:]{{0,80}}:)?(?:assemble|compile\w*|jar|classes|publish\w*)"),
    run_by("cmake", BUILD, r"cmake|meson (?:setup|compile)|ninja|msbuild|xcodebuild|swift build"),
    run_by("tsc", BUILD, r"(?:npx )?(?:tsc|webpack|vite build|rollup|esbuild|next build)"),
    run_by("npm scripts", BUILD, rf"{NODE}(?:build(?:[:-][\w:-]+)?|compile|bundle|pack)"),
    run_by(
        "python build",
        BUILD,
        r"python[\d.]* (?:-m build|setup\.py (?:build\w*|bdist\w*|sdist|install|develop))|"
        r"cibuildwheel|maturin build|hatch build|uv build|poetry build",
    ),
    run_by("sphinx", BUILD, r"sphinx-build|mkdocs build"),
    run_by("nox", TEST, r"(?:python[\d.]* -m )?nox"),
    run_by("tox", TEST, r"(?:python[\d.]* -m )?tox"),
    run_by("golangci-lint", LINT, r"golangci-lint(?: run)?"),
    run_by("go vet", LINT, r"go vet|staticcheck"),
    run_by("clippy", LINT, r"cargo (?:\+\S+ )?clippy"),
    run_by("ruff", FORMAT, r"ruff format"),
    run_by("ruff", LINT, r"(?:python[\d.]* -m )?ruff(?: check)?"),
    run_by("flake8", LINT, r"(?:python[\d.]* -m )?(?:flake8|pycodestyle|pyflakes|bandit|codespell|vulture)"),
    run_by("pylint", LINT, r"(?:python[\d.]* -m )?pylint"),
    run_by("eslint", LINT, r"(?:npx )?(?:eslint|stylelint|biome (?:ci|check|lint)|oxlint)"),
    run_by("pre-commit", LINT, r"(?:python[\d.]* -m )?(?:pre-commit|prek)"),
    run_by("shellcheck", LINT, r"shellcheck|yamllint|actionlint|hadolint|markdownlint(?:-cli2)?"),
    run_by("rubocop", LINT, r"(?:bundle exec )?rubocop"),
    run_by("npm scripts", LINT, rf"{NODE}(?:lint(?:[:-][\w:-]+)?|eslint)"),
    run_by("make", LINT, rf"g?make{REST} (?:lint|style|vet|static-analysis)"),
    run_by("black", FORMAT, r"(?:python[\d.]* -m )?black"),
    run_by("isort", FORMAT, r"(?:python[\d.]* -m )?isort"),
    run_by("prettier", FORMAT, r"(?:npx )?(?:prettier|biome format|dprint check)"),
    run_by("gofmt", FORMAT, r"gofmt|goimports|gofumpt"),
    run_by("rustfmt", FORMAT, r"cargo (?:\+\S+ )?fmt|rustfmt"),
    run_by("clang-format", FORMAT, r"clang-format"),
    run_by("npm scripts", FORMAT, rf"{NODE}(?:format(?:[:-][\w:-]+)?|prettier(?:[:-][\w:-]+)?|fmt)"),
    run_by("make", FORMAT, rf"g?make{REST} (?:format|fmt|format-check|check-format)"),
    run_by("maven", BUILD, MAVEN),
    run_by("gradle", BUILD, GRADLE),
    installed_by(
        "pip",
        r"(?:python[\d.]* -m )?pip[\d.]* install|uv (?:sync|pip install|lock)|poetry (?:install|"
        r"lock)|pipenv install|conda (?:install|env)",
    ),
    installed_by("npm", r"npm (?:ci|i|install)|yarn(?: install)?|pnpm (?:i|install)|bun install"),
    installed_by("go modules", r"go (?:mod|get|work|install)"),
    installed_by("cargo", r"cargo (?:fetch|update|install)"),
    installed_by("bundler", r"bundle install|composer install|gem install"),
    installed_by("apt", r"(?:apt|apt-get|dnf|apk|brew|choco) (?:-\S+ )?(?:install|add|update)"),
    run_by("make", BUILD, r"g?make"),
)
