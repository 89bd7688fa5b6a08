"""Trees that a check cannot be run on as they are, and configuration that would judge itself, as people met them.

Worktrees whose submodules were empty, so that everything failed; files of Git LFS that were pointers;
a request of a wrong shape that was half obeyed instead of refused; fixes that edit a workflow file.
"""

from pathlib import Path

import pytest

from sweeper.errors import BadInput
from sweeper.model import Limits
from sweeper.policy.repository_config import read_config, tightened
from tests.support.commands import environment, sweeper
from tests.support.values import job
from tests.unit.planning.plans import check_of, plan_of, steps_file
from tests.unit.tampering.changes import rejected


def _with_checkout(inputs: str) -> str:
    return steps_file("- {uses: actions/checkout@v4, with: {" + inputs + "}}\n- run: pytest")


class TestC35:
    @pytest.mark.parametrize("value", ["true", "recursive", "'${{ github.event_name == ''push'' }}'"])
    def test_submodules_that_the_check_needs_are_not_missed_in_silence(self, value: str) -> None:
        plan = plan_of(_with_checkout(f"submodules: {value}"))
        assert "checks out submodules, which are not fetched here" in (plan.unverifiable or "")

    def test_a_checkout_without_them_needs_none(self) -> None:
        assert check_of(_with_checkout("submodules: false")).command == "pytest"


class TestC36:
    def test_files_of_lfs_that_the_check_needs_are_not_taken_for_their_pointers(self) -> None:
        plan = plan_of(_with_checkout("lfs: true"))
        assert "checks out files of Git LFS, which are not fetched here" in (plan.unverifiable or "")

    def test_pointers_will_do_where_ci_had_no_more(self) -> None:
        assert check_of(_with_checkout("lfs: false")).command == "pytest"


class TestC18:
    @pytest.mark.parametrize(
        ("data", "named"),
        [
            (b"checks: [pytest]\nignore: ['*']", "line 2: there is no setting 'ignore'"),
            (b"checks:\n  - {run: pytest}", "line 2: 'checks' has to hold texts"),
            (b"limits: {files: lots}", "line 1: 'limits.files' has to be a whole number above 0"),
        ],
    )
    def test_what_is_half_wrong_is_refused_whole_and_the_place_named(self, data: bytes, named: str) -> None:
        with pytest.raises(BadInput, match=r"^\.github/sweeper\.yml") as refused:
            read_config(data)
        assert named in str(refused.value)

    def test_a_job_that_cannot_be_checked_is_named_beside_those_that_can(self) -> None:
        file = _with_checkout("lfs: false") + "  other:\n    container: x\n    steps: [{run: pytest}]\n"
        plan = plan_of(file, job("test"), job("other"))
        assert [check.job for check in plan.checks] == ["test"]
        assert plan.uncovered == ("job 'other' cannot be checked: it runs in a container, which is not started here",)


class TestC44:
    def test_no_configuration_opens_the_files_that_judge_a_fix(self) -> None:
        generous = read_config(b"protected: []\nlimits: {files: 1000000, lines: 1000000, bytes: 1000000000}")
        limits = tightened(Limits(), generous)
        assert limits == Limits()
        assert generous.protected == ()
        assert "protected_path" in rejected(".github/workflows/ci.yml", "on: push\n", "on: []\n")


@pytest.mark.slow
class TestAsACommand:
    """What a person or a script sees of a plan, by its exit code and on the last line."""

    def test_a_plan_is_one_document_and_a_sentence_says_what_is_wrong(self, tmp_path: Path) -> None:
        workflows = tmp_path / "app" / ".github" / "workflows"
        workflows.mkdir(parents=True)
        (workflows / "ci.yml").write_text(_with_checkout("submodules: true"))
        env = environment(tmp_path / "state")
        report = sweeper("plan", tmp_path / "app", "--json", env=env).document_as(1)
        assert "checks out submodules" in str(report["plans"])
        (workflows / "ci.yml").write_text(_with_checkout("submodules: false"))
        assert "check   pytest" in sweeper("plan", tmp_path / "app", env=env).stdout
        assert sweeper("plan", tmp_path / "app", "--json", env=env).document_as(0)["source"] == str(tmp_path / "app")
        refused = sweeper("plan", tmp_path, "--json", env=env).document_as(2)
        assert "There is no workflow file in" in str(refused["error"])
        assert sweeper("plan", "no-repository", "7", "--json", env=env).code == 2
        assert not (tmp_path / "state").exists()
