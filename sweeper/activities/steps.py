"""What the steps of one job share, as GitHub's runner hands it from one to the next.

Environment files (GITHUB_ENV, GITHUB_PATH, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY), outputs by step id, RUNNER_TEMP:
GitHub's "Workflow commands for GitHub Actions". They lie in the job's home directory and are written by foreign code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sweeper.model import Check, PlanStep
from sweeper.policy.environment import EnvironmentPlan

PARITY = {"CI": "true", "GITHUB_ACTIONS": "true", "RUNNER_OS": "Linux", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
FILES = ".job"
REPORT, COLLECTED = "report.xml", "collected.txt"
_ENTER = f"""\
job="$HOME/{FILES}/$1"
mkdir -p "$HOME/{FILES}" "$HOME/temp" && rm -rf "$job" && mkdir "$job" || exit 1
export GITHUB_WORKSPACE="$PWD" RUNNER_TEMP="$HOME/temp"
export GITHUB_ENV="$job/env" GITHUB_PATH="$job/path" GITHUB_OUTPUT="$job/output" GITHUB_STEP_SUMMARY="$job/summary"
for file in env path output summary; do : >"$job/$file"; done
eval "$4"
shell="$(command -v "$6" || echo "$6")"
PATH="$5$PATH"
options="${{PYTEST_ADDOPTS:+$PYTEST_ADDOPTS }}"
case "$3" in
report) export PYTEST_ADDOPTS="$options--junitxml='$job/{REPORT}' -o junit_family=xunit2" ;;
collect) export PYTEST_ADDOPTS="$options--collect-only -q -o verbosity_test_cases=-1" && exec >"$job/{COLLECTED}" ;;
esac
cd -- "$2" || exit 1
shift 6
exec "$shell" "$@"
"""
"""Paths are known only inside, so the files are made and named there; then the step itself takes over the process.

What an earlier step put there is removed first: a report that lies ready would be taken for the check's own. The
shell is found before paths of earlier steps count, so that none of them can stand in for it. Node ids are printed
however often the command itself says `-q` (`verbosity_test_cases`, pytest 8.1); an older pytest ignores that setting,
and told twice to be quiet it says how many tests a file has.
"""

PLAIN, WITH_REPORT, COLLECT_ONLY = "plain", "report", "collect"


@dataclass(frozen=True)
class FileCommands:
    """What one step wrote into its environment files."""

    env: dict[str, str]
    path: list[str]
    outputs: dict[str, str]


def left_at(number: int, name: str) -> str:
    """Where a step's file lies below the home directory."""
    return f"{FILES}/{number}/{name}"


def failing_step(check: Check) -> PlanStep:
    """The check itself as a step of its job."""
    return PlanStep(
        name=check.step or check.name,
        command=check.command,
        shell=check.shell,
        working_directory=check.working_directory,
        env=check.env,
    )


@dataclass
class JobState:
    """What earlier steps left for later ones. `shared`: variables that every step of the job has, so not its own."""

    shared: Mapping[str, str]
    tools: EnvironmentPlan
    env: dict[str, str] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, check: Check, tools: EnvironmentPlan) -> "JobState":
        """Before the first step."""
        steps = (failing_step(check), *check.before, *check.after)
        common = set(check.env.items()).intersection(*(step.env.items() for step in steps))
        return cls(shared=dict(common), tools=tools)

    def env_of(self, step: PlanStep) -> dict[str, str]:
        """GITHUB_ENV wins over what the workflow and the job set, a step's own `env` over both."""
        own = {name: value for name, value in step.env.items() if self.shared.get(name) != value}
        return {**PARITY, **self.shared, **self.env, **own}

    def enter(self, argv: Sequence[str], number: int, directory: str, mode: str) -> tuple[str, ...]:
        """The command as the `number`th of its job. `mode`: what a test tool is asked for besides."""
        path = "".join(f"{entry}:" for entry in self.path)
        return ("/bin/sh", "-c", _ENTER, "job", str(number), directory, mode, self.tools.exports(), path, *argv)

    def take(self, step_id: str, files: FileCommands) -> None:
        """What a step has written. The newest entry of the path comes first."""
        self.env |= files.env
        self.path = [*reversed(files.path), *self.path]
        if step_id:
            self.outputs[step_id] = files.outputs
