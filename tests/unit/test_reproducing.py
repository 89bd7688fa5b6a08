"""Showing a failure on the untouched tree."""

from collections.abc import Iterator

import pytest

from sweeper.errors import BadInput
from sweeper.model import Check, Part, PlanStep, TestedTree, Tool
from sweeper.ports import SandboxRun
from tests.support.proofs import Bench, FakeDownloads, FakeGate, asked
from tests.support.sandbox import Reply
from tests.support.values import diagnosis

INSTALL = PlanStep(name="Install", command="make deps")


def answers(*codes: int) -> Iterator[Reply]:
    return (Reply(code, b"said\n") for code in codes)


async def test_a_failure_that_shows_each_time_is_reproduced() -> None:
    bench = Bench({"app.py": "41"})
    bench.on("pytest", lambda tree: 0 if tree["app.py"] == b"42" else 1)
    shown = await bench.reproduce()
    assert (shown.is_red, shown.is_flaky, shown.problem) == (True, False, None)
    assert [result.exit_code for result in shown.results] == [1, 1]
    assert shown.commit == bench.base
    assert shown.tree


@pytest.mark.parametrize(
    ("codes", "is_flaky"), [((1, 1), False), ((1, 0, 1), True), ((0, 1, 0), True), ((0, 0), False)]
)
async def test_a_failure_that_shows_only_sometimes_is_flaky(codes: tuple[int, ...], is_flaky: bool) -> None:
    bench, replies = Bench({"app.py": "41"}), answers(*codes)
    bench.sandbox.on("pytest", lambda run: next(replies))
    shown = await bench.reproduce()
    assert shown.is_flaky is is_flaky
    assert len(shown.results) == len(codes)
    assert shown.is_red is (1 in codes)


async def test_a_plain_check_starts_one_sandbox_each_time() -> None:
    bench = Bench({"app.py": "41"})
    bench.on("pytest", lambda tree: 1)
    await bench.reproduce()
    assert len(bench.sandbox.runs) == 2


async def test_each_try_has_a_fresh_tree_and_a_fresh_home_and_nothing_is_left() -> None:
    bench = Bench({"app.py": "41"})

    def litter(run_home: str, path: str) -> None:
        assert "litter" not in bench.workspaces.tree_at(path)
        assert bench.workspaces.homes[run_home] == {}
        bench.workspaces.tree_at(path)["litter"] = b"x"
        bench.workspaces.homes[run_home]["installed"] = b"x"

    def reply(run: SandboxRun) -> Reply:
        assert run.home is not None
        litter(run.home, run.workspace)
        return Reply(1)

    bench.sandbox.on("pytest", reply)
    await bench.reproduce()
    assert bench.workspaces.homes == {}


async def test_a_missing_program_is_named_and_never_a_failure() -> None:
    bench = Bench({"app.py": "41"})
    bench.sandbox.on("pytest", Reply(127, b"bash: line 1: pytest: command not found\n"))
    shown = await bench.reproduce()
    assert shown.problem == "missing program 'pytest': it was looked for in /usr/bin:/bin"


@pytest.mark.parametrize("end", [Reply(None, limit="time"), Reply(137), Reply(152), Reply(153)])
async def test_a_limit_is_no_failure(end: Reply) -> None:
    bench = Bench({"app.py": "41"})
    bench.sandbox.on("pytest", end)
    shown = await bench.reproduce()
    assert shown.problem is not None
    assert "limit" in shown.problem


async def test_steps_before_and_after_run_in_the_job_of_the_check() -> None:
    lint = PlanStep(name="Lint", command="ruff check")
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", before=(INSTALL,), after=(lint,)))
    for command, code in (("deps", 0), ("pytest", 1), ("ruff", 1)):
        bench.sandbox.on(command, Reply(code))
    shown = await bench.reproduce()
    assert [(r.part, r.step, r.exit_code) for r in shown.results] == [
        (Part.BEFORE, "Install", 0),
        (Part.CHECK, "", 1),
        (Part.AFTER, "Lint", 1),
        (Part.CHECK, "", 1),
    ]


async def test_a_step_that_fails_before_the_check_leaves_it_unverifiable() -> None:
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", before=(INSTALL,)))
    bench.sandbox.on("deps", Reply(1, b"no matching distribution\n"))
    shown = await bench.reproduce()
    assert shown.problem == "step 'Install' fails here before the failing one"
    assert all(result.part is Part.BEFORE for result in shown.results)


async def test_what_was_asked_of_the_network_is_the_reason_when_it_was_not_given() -> None:
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", before=(INSTALL,)))
    bench.downloads = FakeDownloads(FakeGate(refused=("registry.example:443",)))
    bench.sandbox.on("deps", Reply(1))
    shown = await bench.reproduce()
    assert shown.problem == "needs_network(registry.example:443)"
    assert bench.downloads.opened == ["fetching", "cached"]


async def test_downloads_are_fetched_once_and_then_come_from_the_cache() -> None:
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", before=(INSTALL,)))
    bench.downloads = FakeDownloads()
    bench.sandbox.on("deps", Reply(0)).on("pytest", Reply(1))
    shown = await bench.reproduce()
    assert shown.is_red
    assert bench.downloads.opened == ["fetching", "cached", "cached"]
    assert bench.sandbox.runs[-1].env["HTTPS_PROXY"] == "http://127.0.0.1:3128"


async def test_a_check_that_installs_where_nobody_sees_it_is_run_once_more_to_fetch() -> None:
    check = Check(name="test", command="make coverage", before=(INSTALL,))
    bench = Bench({"app.py": "41"}, check)
    bench.downloads = FakeDownloads(FakeGate(refused=("/pypi/simple/coverage",)))
    bench.sandbox.on("deps", Reply(0)).on("make coverage", Reply(1))
    shown = await bench.reproduce()
    assert shown.is_red
    assert bench.downloads.opened == ["fetching", "cached", "fetching", "cached", "cached"]
    assert sum("make coverage" in run.argv[-1] for run in bench.sandbox.runs) == 4


async def test_a_plain_check_opens_no_way_out() -> None:
    bench = Bench({"app.py": "41"})
    bench.downloads = FakeDownloads()
    bench.on("pytest", lambda tree: 1)
    await bench.reproduce()
    assert bench.downloads.opened == []
    assert {run.gate for run in bench.sandbox.runs} == {None}


async def test_a_merge_that_does_not_come_about_any_more_is_a_conflict() -> None:
    bench = Bench({"app.py": "41"})
    ours, theirs = bench.commit({"app.py": "1"}, bench.base, "a"), bench.commit({"app.py": "2"}, bench.base, "b")
    shown = await bench.reproduce(ours, tested=TestedTree(commit=ours, merged_with=theirs))
    assert shown.problem is not None
    assert shown.problem.startswith("conflict: ")
    assert bench.sandbox.runs == []


async def test_commands_run_as_in_ci() -> None:
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", env={"LEVEL": "3"}))
    bench.on("pytest", lambda tree: 1)
    await bench.reproduce()
    env = bench.sandbox.runs[0].env
    assert env["CI"] == env["GITHUB_ACTIONS"] == "true"
    assert (env["TZ"], env["LC_ALL"], env["RUNNER_OS"], env["LEVEL"]) == ("UTC", "C.UTF-8", "Linux", "3")


async def test_steps_hand_variables_paths_and_outputs_to_later_ones() -> None:
    first = PlanStep(name="First", command="first", id="one", env={"A": "step"})
    second = PlanStep(name="Second", command="second ${{ steps.one.outputs.version }}", env={"OWN": "own"})
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", before=(first, second), env={"A": "check"}))

    def writes(run: SandboxRun) -> Reply:
        number, _ = asked(run)
        home = bench.workspaces.homes[run.home or ""]
        home[f".job/{number}/env"] = b"MODE=fast\nLONG<<END\na\nb\nEND\nOWN=job\n"
        home[f".job/{number}/path"] = b"/opt/one\n/opt/two\n"
        home[f".job/{number}/output"] = b"version=1.2\n"
        return Reply(0)

    bench.sandbox.on("second", Reply(0)).on("pytest", Reply(1)).on("printf", Reply(0, b"/w\n/h")).on("first", writes)
    await bench.reproduce()
    second_run = next(run for run in bench.sandbox.runs if "second 1.2" in " ".join(run.argv))
    assert (second_run.env["MODE"], second_run.env["LONG"], second_run.env["OWN"]) == ("fast", "a\nb", "own")
    assert "/opt/two:/opt/one:" in second_run.argv
    check = bench.sandbox.runs[-1]
    assert (check.env["OWN"], check.env["A"]) == ("job", "check")


async def test_an_environment_file_beyond_all_bounds_is_not_read() -> None:
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", before=(INSTALL,)))

    def floods(run: SandboxRun) -> Reply:
        bench.workspaces.homes[run.home or ""][".job/0/env"] = b"A=" + b"x" * (1 << 20)
        return Reply(0)

    bench.sandbox.on("deps", floods).on("pytest", Reply(1))
    await bench.reproduce()
    assert "A" not in bench.sandbox.runs[-1].env


async def test_what_no_sandbox_can_pass_on_leaves_it_unverifiable() -> None:
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", before=(INSTALL,)))
    bench.sandbox.error = BadInput("The environment variable 'my-var' cannot be set; rename it")
    assert (await bench.reproduce()).problem == "The environment variable 'my-var' cannot be set; rename it"


async def test_large_files_that_are_pointers_are_told_of() -> None:
    bench = Bench({"app.py": "41", ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    bench.on("pytest", lambda tree: 1)
    shown = await bench.reproduce()
    assert any("needs LFS" in sentence for sentence in shown.unchecked)
    judged = await bench.reproduce(diagnosis=diagnosis())
    assert judged.problem is not None
    assert "needs LFS" in judged.problem


async def test_the_tests_of_a_report_are_counted_and_collected_once_more() -> None:
    bench = Bench({"app.py": "41"})
    bench.tests("pytest", lambda tree: {"t.test_a": "passed", "t.test_b": "failed"})
    shown = await bench.reproduce()
    tally = shown.results[0].tally
    assert tally is not None
    assert (tally.collected, tally.passed, tally.failed, tally.source) == (2, 1, 1, "report file")
    assert [asked(run)[1] for run in bench.sandbox.runs] == ["report", "collect", "report"]


async def test_a_tool_that_is_not_installed_is_named() -> None:
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", tools=(Tool(name="python", version="9.9"),)))
    shown = await bench.reproduce()
    assert shown.problem is not None
    assert "python 9.9" in shown.problem
    assert bench.sandbox.runs == []


async def test_an_expression_that_cannot_be_known_here_leaves_it_unverifiable() -> None:
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest ${{ hashFiles('**') }}"))
    bench.sandbox.on("printf", Reply(0, b"/w\n/h"))
    shown = await bench.reproduce()
    assert shown.problem is not None
    assert "hashFiles" in shown.problem


async def test_a_job_that_calls_a_package_manager_gets_an_environment_of_its_own_first() -> None:
    pip = PlanStep(name="Install", command="pip install -r requirements.txt")
    bench = Bench({"app.py": "41"}, Check(name="test", command="pytest", before=(pip,)))
    bench.sandbox.on("pip install", Reply(0)).on("pytest", Reply(1)).on("-m venv", Reply(0))
    shown = await bench.reproduce()
    assert [result.step for result in shown.results][:2] == ["Set up tools", "Install"]
    assert all("/venv/bin" in " ".join(run.argv) for run in bench.sandbox.runs)


async def test_a_check_that_installs_by_itself_is_run_once_to_fetch() -> None:
    bench = Bench({"app.py": "41"}, Check(name="test", command="pip install -e . && pytest"))
    bench.downloads = FakeDownloads()
    bench.sandbox.on("pytest", Reply(1)).on("-m venv", Reply(0))
    shown = await bench.reproduce()
    assert shown.is_red
    assert bench.downloads.opened == ["fetching", "cached", "cached"]
    assert sum("&& pytest" in run.argv[-1] for run in bench.sandbox.runs) == 3


ELSEWHERE = diagnosis(tests=("tests/test_app.py::test_answer",), error_lines=("E   assert 41 == 42",))
SAME = b"FAILED tests/test_app.py::test_answer - assert 41 == 42\n=== 1 failed in 0.1s ===\n"
OTHER = b"FAILED tests/test_web.py::test_login - ConnectionError\n=== 1 failed in 0.1s ===\n"


async def test_red_with_the_failure_of_ci_is_reproduced() -> None:
    bench = Bench({"app.py": "41"})
    bench.sandbox.on("pytest", Reply(1, SAME))
    shown = await bench.reproduce(diagnosis=ELSEWHERE)
    assert (shown.problem, shown.is_red, shown.unchecked) == (None, True, ())


async def test_red_for_another_reason_than_in_ci_is_no_reproduction() -> None:
    bench = Bench({"app.py": "41"})
    bench.sandbox.on("pytest", Reply(1, OTHER))
    shown = await bench.reproduce(diagnosis=ELSEWHERE)
    assert shown.problem == "fails here for another reason than in CI: === 1 failed in 0.1s ==="


async def test_red_that_cannot_be_compared_is_accepted_and_said() -> None:
    bench = Bench({"app.py": "41"})
    bench.sandbox.on("pytest", Reply(1, b"it did not work\n"))
    shown = await bench.reproduce(diagnosis=ELSEWHERE)
    assert (shown.problem, shown.is_red) == (None, True)
    assert len(shown.unchecked) == 1
