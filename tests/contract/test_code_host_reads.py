"""What every code host tells a diagnosis: notes on jobs, the history around a run, other people's open fixes."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sweeper import ids
from sweeper.model import Annotation, PullFacts, RunHistory, RunRef
from sweeper.model.run import TIME_LIMIT
from tests.support.code_host_contract import KEY, MARKER_KEY, FakeScene, JobSpec, Scene, propose
from tests.support.github_loopback import loopback_scene

GREEN, RED = JobSpec("lint", "success", (("Run ruff", "success"),)), JobSpec("test")
OTHER_WORKFLOW = ".github/workflows/nightly.yml"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture(params=["fake", pytest.param("loopback", marks=pytest.mark.slow)])
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    if request.param == "fake":
        yield FakeScene()
        return
    async with loopback_scene(tmp_path) as (_, on_loopback):
        yield on_loopback


async def history(scene: Scene, run: RunRef) -> RunHistory:
    return await scene.host.read_history(await scene.host.read_run(run))


def note(message: str) -> Annotation:
    return Annotation(level="failure", message=message, path=".github", line=1, title="")


class TestAnnotations:
    async def test_they_come_as_they_were_noted(self, scene: Scene) -> None:
        noted = Annotation(level="warning", message="Cache is full", path="src/app.py", line=7, title="Cache")
        run = await scene.run("main", jobs=[JobSpec(annotations=(noted,)), GREEN])
        test, lint = await scene.host.read_jobs(run)

        assert await scene.host.read_annotations(run, test.id) == (noted,)
        assert await scene.host.read_annotations(run, lint.id) == ()

    async def test_a_job_that_is_not_known_has_none(self, scene: Scene) -> None:
        run = await scene.run("main")

        assert await scene.host.read_annotations(run, 1) == ()

    async def test_they_are_redacted_and_then_cut(self, scene: Scene) -> None:
        run = await scene.run("main", jobs=[JobSpec(annotations=(note("x" * 990 + f" {TOKEN}"),))])
        (job,) = await scene.host.read_jobs(run)

        (read,) = await scene.host.read_annotations(run, job.id)

        assert read.message == "x" * 990 + " [redacted"[: 1000 - 990]

    async def test_a_hundred_are_enough(self, scene: Scene) -> None:
        run = await scene.run("main", jobs=[JobSpec(annotations=tuple(note(f"number {n}") for n in range(101)))])
        (job,) = await scene.host.read_jobs(run)

        read = await scene.host.read_annotations(run, job.id)

        assert [one.message for one in read] == [f"number {n}" for n in range(100)]

    @pytest.mark.parametrize(
        ("conclusion", "message", "failed"),
        [
            ("cancelled", f"The job {TIME_LIMIT} of 20m0s", True),
            ("cancelled", "The run was canceled by @ann.", False),
            ("success", f"The job {TIME_LIMIT} of 20m0s", False),
        ],
    )
    async def test_a_time_limit_is_told_from_a_cancellation_by_its_note(
        self, scene: Scene, conclusion: str, message: str, failed: bool
    ) -> None:
        jobs = [GREEN, JobSpec(conclusion=conclusion, annotations=(note(message),))]
        run = await scene.run("main", conclusion, jobs)

        facts = await scene.host.read_run(run)

        assert (facts.hit_time_limit, facts.has_failed) == (failed, failed)


class TestPullOfARun:
    async def test_a_push_has_none(self, scene: Scene) -> None:
        assert (await scene.host.read_run(await scene.run("main"))).pull is None

    async def test_it_is_named_with_its_target(self, scene: Scene) -> None:
        base = await scene.commit("main")
        await scene.commit("feature")
        number = await scene.open_by("maintainer", "feature", "Mine")

        run = await scene.run_of_pull(number)

        expected = PullFacts(number=number, base_ref="main", base_sha=base)
        assert (await scene.host.read_run(run)).pull == expected
        assert (await scene.host.find_run(scene.repository, run.run_id)).pull == expected

    async def test_a_fork_names_none_so_it_is_found_by_its_commit(self, scene: Scene) -> None:
        base = await scene.commit("main")
        first = await scene.open_from_fork("stranger", "patch-1")
        await scene.open_from_fork("another", "patch-1")

        facts = await scene.host.read_run(await scene.run_of_pull(first))

        assert (facts.is_fork, facts.head_repository) == (True, "stranger/app")
        assert facts.pull == PullFacts(number=first, base_ref="main", base_sha=base)

    async def test_one_that_was_closed_is_not_named(self, scene: Scene) -> None:
        numbers = [await scene.open_from_fork("stranger", "patch-1")]
        await scene.commit("feature")
        numbers.append(await scene.open_by("maintainer", "feature", "Mine"))

        for number in numbers:
            await scene.close_by(number, "maintainer")
            assert (await scene.host.read_run(await scene.run_of_pull(number))).pull is None


class TestHistory:
    async def test_a_run_alone_has_none(self, scene: Scene) -> None:
        assert await history(scene, await scene.run("main")) == RunHistory()

    async def test_other_attempts_that_passed_are_numbered(self, scene: Scene) -> None:
        first = await scene.run("main")
        await scene.rerun(first, "failure")
        await scene.rerun(first, "success")
        last = await scene.rerun(first, "failure")

        assert (await history(scene, last)).green_attempts == (3,)
        assert (await history(scene, first)).green_attempts == (3,)

    async def test_the_newest_run_on_the_branchs_head_says_what_fails_there(self, scene: Scene) -> None:
        failed = await scene.run("main", jobs=[RED])
        await scene.commit("main")
        assert (await history(scene, failed)).head_failing_jobs is None

        await scene.run("main", "failure", [GREEN, RED])
        assert (await history(scene, failed)).head_failing_jobs == ("test",)

        await scene.run("main", "success", [GREEN])
        assert (await history(scene, failed)).head_failing_jobs == ()

    @pytest.mark.parametrize("conclusion", ["cancelled", "startup_failure", None])
    async def test_a_run_that_says_nothing_hides_none_that_does(self, scene: Scene, conclusion: str | None) -> None:
        failed = await scene.run("main")
        await scene.commit("main")
        quiet = [] if conclusion == "startup_failure" else [JobSpec(conclusion=conclusion)]
        await scene.run("main", conclusion, quiet)
        assert (await history(scene, failed)).head_failing_jobs is None

        await scene.run("main", "failure", [GREEN, RED])
        await scene.run("main", conclusion, quiet)
        assert (await history(scene, failed)).head_failing_jobs == ("test",)

    async def test_other_workflows_branches_and_forks_say_nothing_of_it(self, scene: Scene) -> None:
        await scene.run("main", "success", [GREEN], OTHER_WORKFLOW)
        await scene.commit("feature")
        await scene.run("feature", "success", [GREEN])
        await scene.run_of_pull(await scene.open_from_fork("stranger", "main"), "success")
        failed = await scene.run("main")

        assert await history(scene, failed) == RunHistory()

    async def test_the_last_green_commit_and_what_came_after_it(self, scene: Scene) -> None:
        await scene.run("main", "success", [GREEN])
        green = await scene.commit("main")
        before = datetime.now(UTC).replace(microsecond=0)
        await scene.run("main", "success", [GREEN])
        one = await scene.commit("main", message="Use a faster parser\n\nIt is faster.")
        await scene.run("main")
        two = await scene.commit("main", message=f"Push with {TOKEN}")
        failed = await scene.run("main")
        await scene.commit("main")
        await scene.run("main", "success", [GREEN])

        found = await history(scene, failed)

        assert found.last_green == green
        assert found.last_green_at is not None
        assert before <= found.last_green_at <= datetime.now(UTC)
        assert found.commits_since == (f"{one[:12]} Use a faster parser", f"{two[:12]} Push with [redacted]")

    async def test_a_commit_that_was_green_before_has_nothing_after_it(self, scene: Scene) -> None:
        sha = await scene.commit("main")
        await scene.run("main", "success", [GREEN])

        found = await history(scene, await scene.run("main"))

        assert (found.last_green, found.commits_since, found.head_failing_jobs) == (sha, (), ())

    async def test_a_pull_request_is_compared_with_its_target(self, scene: Scene) -> None:
        await scene.commit("feature")
        failed = await scene.run_of_pull(await scene.open_by("maintainer", "feature", "Mine"))
        fresh = await history(scene, failed)
        for _ in range(2):
            await scene.commit("main")
        await scene.run("main", "failure", [GREEN, RED])
        stale = await history(scene, failed)
        await scene.commit("main")
        await scene.run("main", "success", [GREEN])
        mended = await history(scene, failed)

        shown = [(found.base_failing_jobs, found.behind_base) for found in (fresh, stale, mended)]
        assert shown == [(None, 0), (("test",), 2), ((), 3)]


class TestOtherPulls:
    async def test_they_are_listed_newest_first_with_what_they_touch_and_what_is_green(self, scene: Scene) -> None:
        for branch in ("one", "two"):
            sha = await scene.commit(branch, {f"src/{branch}.py": "pass\n"})
        first = await scene.open_by("maintainer", "one", "Mine")
        second = await scene.open_by("maintainer", "two", "Mine")
        await scene.run("two", "failure", [RED, GREEN])

        two, one = await scene.host.open_pulls(scene.repository, "main", None)

        assert [two.number, one.number] == [second, first]
        assert (two.head_sha, two.green_jobs, one.green_jobs) == (sha, ("lint",), ())
        assert "src/two.py" in two.files
        assert "src/two.py" not in one.files
        assert two.url.endswith(f"/pull/{second}")

    async def test_a_job_counts_by_its_newest_run(self, scene: Scene) -> None:
        await scene.commit("one")
        await scene.open_by("maintainer", "one", "Mine")
        await scene.run("one", "success", [JobSpec(conclusion="success")])
        await scene.run("one", "failure", [RED])

        (one,) = await scene.host.open_pulls(scene.repository, "main", None)

        assert one.green_jobs == ()

    async def test_ours_closed_ones_and_those_to_another_base_are_left_out(self, scene: Scene) -> None:
        _, pull = await propose(scene)
        for branch in ("closed", "elsewhere", "sweeper/9-1", "copied"):
            await scene.commit(branch)
        await scene.close_by(await scene.open_by("maintainer", "closed", "Mine"), "maintainer")
        await scene.commit("develop")
        await scene.open_by("maintainer", "elsewhere", "Mine", "develop")
        await scene.open_by("maintainer", "sweeper/9-1", "Mine")
        copied = await scene.open_by("maintainer", "copied", ids.marker(KEY, MARKER_KEY, pull.run.repository_id))

        found = await scene.host.open_pulls(scene.repository, "main", None)

        assert [one.number for one in found] == [copied], "a copied marker makes nothing ours"

    async def test_a_forks_branch_in_our_namespace_is_somebody_elses(self, scene: Scene) -> None:
        number = await scene.open_from_fork("stranger", "sweeper/1-1")

        assert [one.number for one in await scene.host.open_pulls(scene.repository, "main", None)] == [number]

    async def test_what_was_there_before_the_failure_is_no_answer_to_it(self, scene: Scene) -> None:
        for branch in ("old", "new"):
            await scene.commit(branch)
        await scene.open_by("maintainer", "old", "Mine")
        await scene.run("new", "success", [JobSpec("test", "success")])
        now = await scene.pass_time(timedelta(hours=2))
        number = await scene.open_by("maintainer", "new", "Mine")

        (stale,) = await scene.host.open_pulls(scene.repository, "main", now - timedelta(hours=1))
        await scene.run("new", "success", [JobSpec("test", "success")])
        (fresh,) = await scene.host.open_pulls(scene.repository, "main", now - timedelta(hours=1))

        assert (stale.number, stale.green_jobs, fresh.green_jobs) == (number, (), ("test",))

    async def test_twenty_are_enough(self, scene: Scene) -> None:
        numbers = []
        for n in range(21):
            await scene.commit(f"branch-{n}")
            numbers.append(await scene.open_by("maintainer", f"branch-{n}", "Mine"))

        found = await scene.host.open_pulls(scene.repository, "main", None)

        assert [one.number for one in found] == numbers[:0:-1]


class TestDefaultBranch:
    async def test_a_file_is_read_at_its_head(self, scene: Scene) -> None:
        await scene.commit("main", {".github/sweeper.yml": "checks: []\n"})
        await scene.commit("feature", {".github/sweeper.yml": "checks: [evil]\n"})

        assert await scene.host.default_branch_file(scene.repository, ".github/sweeper.yml") == b"checks: []\n"
        assert await scene.host.default_branch_file(scene.repository, ".github/absent.yml") is None
