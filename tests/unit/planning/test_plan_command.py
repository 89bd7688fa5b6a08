"""`sweeper plan`, on a directory and on a run."""

from pathlib import Path

import pytest

from sweeper.cli.failing_run import RunReader
from sweeper.cli.plan import PlanReport, Wanted, lines, of_path, of_run
from sweeper.errors import BadInput
from tests.support.code_host import FakeCodeHost
from tests.support.code_host_state import FakeJob

CI = """
jobs:
  test:
    runs-on: ubuntu-latest
    strategy: {matrix: {python: ["3.11", "3.12"]}}
    steps:
      - uses: actions/checkout@v4
      - {uses: actions/setup-python@v5, with: {python-version: "${{ matrix.python }}"}}
      - {name: Install, run: pip install -e .}
      - {name: Tests, run: "pytest\\n\\x1b[31m", env: {MODE: "a b"}}
  site:
    runs-on: ubuntu-latest
    steps: [{run: make site}, {uses: some/publisher@v1}]
  shared: {uses: ./.github/workflows/other.yml}
  dynamic:
    strategy: {matrix: "${{ fromJSON(needs.list.outputs.rows) }}"}
    steps: [{run: pytest}]
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / ".github" / "workflows" / "ci.yml").write_text(CI.replace("\\x1b", "\\e"))
    (tmp_path / ".github" / "workflows" / "docs.yaml").write_text(
        'jobs: {docs: {steps: [{run: "mkdocs build # ${{ github.ref_name }}"}]}}'
    )
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic/x\n")
    return tmp_path


def _by_job(report: PlanReport) -> dict[str, str | None]:
    return {
        planned.jobs[0]: planned.plan.checks[0].command if planned.plan.checks else planned.plan.unverifiable
        for planned in report.plans
    }


def test_each_job_of_a_directory_is_planned_as_if_its_last_script_had_failed(repository: Path) -> None:
    report = of_path(repository, Wanted())
    commands = _by_job(report)
    assert commands["test (3.11)"] == commands["test (3.12)"] == "pytest\n\x1b[31m"
    assert commands["site"] == "make site"
    assert "it calls the workflow" in (commands["shared"] or "")
    assert "fromJSON(needs.list.outputs.rows)" in (commands["dynamic"] or "")
    assert commands["docs"] == "mkdocs build # topic/x"
    assert {planned.assumed for planned in report.plans} == {True}
    assert report.has_check


def test_a_job_a_step_or_a_file_may_be_chosen(repository: Path) -> None:
    assert list(_by_job(of_path(repository, Wanted(job="test (3.12)")))) == ["test (3.12)"]
    by_step = of_path(repository, Wanted(job="test (3.11)", step="Install"))
    assert [(planned.step, planned.assumed) for planned in by_step.plans] == [("Install", False)]
    assert _by_job(by_step) == {"test (3.11)": "pip install -e ."}
    assert list(_by_job(of_path(repository, Wanted(workflow=".github/workflows/docs.yaml")))) == ["docs"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(job="nowhere"), "There is no job 'nowhere'; there are 'test (3.11)', 'test (3.12)', 'site'"),
        (Wanted(step="nothing"), "No job has a step 'nothing'"),
        (Wanted(workflow="gone.yml"), "There is no workflow file gone.yml in"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(repository: Path, wanted: Wanted, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        of_path(repository, wanted)
    assert said in str(refused.value)


def test_a_directory_without_workflow_files_or_with_broken_ones_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no workflow file in"):
        of_path(tmp_path, Wanted())
    with pytest.raises(BadInput, match="is no directory"):
        of_path(tmp_path / "gone", Wanted())
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / ".github" / "workflows" / "ci.yml").write_text("jobs: [")
    with pytest.raises(BadInput, match=r"^\.github/workflows/ci\.yml cannot be read: "):
        of_path(tmp_path, Wanted())


def test_the_repositorys_own_checks_are_shown_and_mistakes_in_them_told(repository: Path) -> None:
    config = repository / ".github" / "sweeper.yml"
    config.write_text("checks: [make check]")
    assert {planned.plan.source for planned in of_path(repository, Wanted()).plans} == {".github/sweeper.yml"}
    config.write_text("cheks: [make check]")
    with pytest.raises(BadInput, match="did you mean 'checks'"):
        of_path(repository, Wanted())


def test_people_read_commands_and_reasons_and_nothing_that_steers_a_terminal(repository: Path) -> None:
    text = "\n".join(lines(of_path(repository, Wanted()).plans))
    assert ".github/workflows/ci.yml: 'test (3.11)', as if step 'Tests' had failed" in text
    assert (
        "  tools   python 3.11\n  before  pip install -e .\n  check   pytest\n          [31m\n  env     MODE='a b'\n"
        in text
    )
    assert "    Step 'Install' runs before the check." in text
    assert "  unverifiable: job 'dynamic' cannot be checked: " in text
    assert "  from workflow file\n\n" not in text
    assert "\x1b" not in text


class TestOfRun:
    """As a sweep would plan it."""

    @pytest.fixture
    def github(self) -> FakeCodeHost:
        github = FakeCodeHost("octo/app", 4711)
        github.files[(".github/workflows/ci.yml", None)] = CI.encode()
        return github

    async def test_the_failing_jobs_of_a_run_make_one_plan(self, github: FakeCodeHost) -> None:
        failed = [
            FakeJob(f"test ({v})", steps=(("Install", "success"), ("Tests", "failure"))) for v in ("3.11", "3.12")
        ]
        run = github.add_run(jobs=(*failed, FakeJob("site", conclusion="success"), FakeJob("shared / x")))
        report = await of_run(RunReader(github), "octo/app", run.run_id, None)
        (planned,) = report.plans
        assert planned.jobs == ("test (3.11)", "test (3.12)", "shared / x")
        assert [check.tools[0].version for check in planned.plan.checks] == ["3.11", "3.12"]
        assert len(planned.plan.uncovered) == 1
        assert "  not covered: job 'shared / x' cannot be checked: " in "\n".join(lines(report.plans))

    async def test_one_of_them_may_be_chosen(self, github: FakeCodeHost) -> None:
        run = github.add_run(jobs=(FakeJob("site", steps=(("Run make site", "failure"),)), FakeJob("test (3.11)")))
        report = await of_run(RunReader(github), "octo/app", run.run_id, "site")
        assert _by_job(report) == {"site": "make site"}
        with pytest.raises(BadInput, match="There is no job 'x'; there are 'site'"):
            await of_run(RunReader(github), "octo/app", run.run_id, "x")

    async def test_without_a_workflow_file_the_log_is_read(self, github: FakeCodeHost) -> None:
        github.files.clear()
        log = b"##[group]Run pytest -q\n##[endgroup]\n##[error]Process completed with exit code 1.\n"
        run = github.add_run(jobs=(FakeJob("test", log=log),))
        report = await of_run(RunReader(github), "octo/app", run.run_id, None)
        assert (report.plans[0].plan.source, _by_job(report)) == ("job log", {"test": "pytest -q"})

    async def test_the_default_branchs_configuration_counts(self, github: FakeCodeHost) -> None:
        github.files[(".github/sweeper.yml", None)] = b"checks: [make check]"
        run = github.add_run(jobs=(FakeJob("shared / x"),))
        assert (await of_run(RunReader(github), "octo/app", run.run_id, None)).plans[
            0
        ].plan.source == ".github/sweeper.yml"

    async def test_a_green_run_has_nothing_to_check(self, github: FakeCodeHost) -> None:
        run = github.add_run(conclusion="success", jobs=(FakeJob("test", conclusion="success"),))
        assert (await of_run(RunReader(github), "octo/app", run.run_id, None)).plans == ()
