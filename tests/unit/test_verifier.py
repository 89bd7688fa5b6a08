"""The verifier's word on a change, on fakes."""

import pytest

from sweeper.model import Check, Limits, Part, PlanStep, Severity, TestedTree, VerdictKind
from sweeper.ports import SandboxRun
from tests.support.exam import FAILING, FILES, TESTS, ends, exam, is_fixed, names
from tests.support.proofs import REPO, Bench, FakeDownloads, FakeGate
from tests.support.sandbox import Reply


@pytest.fixture
def bench() -> Bench:
    return exam()


async def test_a_fix_is_green_twice_on_fresh_trees_and_says_what_held(bench: Bench) -> None:
    shown = await bench.reproduce(diagnosis=FAILING)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert (verdict.kind, verdict.reason) == (VerdictKind.FIXED, "")
    assert [result.exit_code for result in verdict.results] == [0, 0]
    assert verdict.results[0].tally is not None
    assert (verdict.results[0].tally.collected, verdict.results[0].tally.passed) == (2, 2)
    assert verdict.sandbox_held == ("everything",)
    assert (verdict.tree, verdict.patch_id) != ("", "")
    assert bench.workspaces.homes == {}


async def test_without_a_diagnosis_the_proof_is_as_before(bench: Bench) -> None:
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    assert (await bench.verify(fix)).kind is VerdictKind.FIXED
    missed = bench.commit({"app.py": "answer = 43\n"}, bench.base)
    verdict = await bench.verify(missed)
    assert (verdict.kind, verdict.reason) == (VerdictKind.NOT_FIXED, "check 'test' ended with exit code 1")


async def test_too_large_a_change_goes_to_a_human_as_not_fixed(bench: Bench) -> None:
    fix = bench.commit({f"app{n}.py": "answer = 42\n" for n in range(5)}, bench.base)
    verdict = await bench.verify(fix, limits=Limits(files=3))
    assert (verdict.kind, names(verdict.findings)) == (VerdictKind.NOT_FIXED, {"diff_too_large"})
    assert bench.sandbox.runs == []


async def test_a_change_of_its_own_exam_is_tampering_and_nothing_runs(bench: Bench) -> None:
    fix = bench.commit({".github/workflows/ci.yml": "on: push\n"}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING)
    assert verdict.kind is VerdictKind.TAMPERED
    assert "protected_path" in names(verdict.findings)
    assert bench.sandbox.runs == []


async def test_green_once_and_then_red_is_flaky(bench: Bench) -> None:
    codes = iter([0, 1])
    bench.sandbox.on("pytest", lambda run: Reply(next(codes)))
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    assert (await bench.verify(fix)).kind is VerdictKind.FLAKY


async def test_fewer_tests_than_before_prove_nothing(bench: Bench) -> None:
    shown = await bench.reproduce()
    fix = bench.commit({"app.py": "answer = 42  # hides a test\n"}, bench.base)
    verdict = await bench.verify(fix, reproduction=shown)
    assert (verdict.kind, names(verdict.findings)) == (VerdictKind.TAMPERED, {"fewer_tests"})


async def test_no_test_at_all_is_never_green(bench: Bench) -> None:
    shown = await bench.reproduce()
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    bench.tests("pytest", lambda tree: {}, exit_code=0)
    verdict = await bench.verify(fix, reproduction=shown)
    assert (verdict.kind, names(verdict.findings)) == (VerdictKind.TAMPERED, {"no_tests_ran"})


async def test_a_report_that_is_gone_proves_nothing(bench: Bench) -> None:
    shown = await bench.reproduce()
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    bench.sandbox.on("pytest", Reply(0, b"2 passed\n"))
    verdict = await bench.verify(fix, reproduction=shown)
    assert (verdict.kind, names(verdict.findings)) == (VerdictKind.TAMPERED, {"counts_gone"})


@pytest.mark.parametrize(
    ("code", "said", "kind"),
    [(1, b"0 failed\n", VerdictKind.NOT_FIXED), (0, b"FAILED: 3 errors\n", VerdictKind.FIXED)],
)
async def test_exit_codes_decide_and_words_do_not(bench: Bench, code: int, said: bytes, kind: VerdictKind) -> None:
    bench.sandbox.on("pytest", Reply(code, said))
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    assert (await bench.verify(fix)).kind is kind


async def test_a_report_of_failures_beside_a_green_exit_code_is_tampering(bench: Bench) -> None:
    shown = await bench.reproduce()
    bench.tests("pytest", lambda tree: dict.fromkeys(TESTS, "failed"), exit_code=0)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, reproduction=shown)
    assert (verdict.kind, names(verdict.findings)) == (VerdictKind.TAMPERED, {"report_disagrees"})


async def test_a_report_of_fewer_tests_than_are_collected_is_tampering(bench: Bench) -> None:
    shown = await bench.reproduce()
    bench.tests("pytest", lambda tree: dict.fromkeys(TESTS, "passed"), collected=9)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, reproduction=shown)
    assert (verdict.kind, names(verdict.findings)) == (VerdictKind.TAMPERED, {"report_disagrees"})


async def test_a_check_whose_program_is_missing_is_never_green(bench: Bench) -> None:
    bench.sandbox.on("pytest", Reply(127, b"bash: line 1: pytest: command not found\n"))
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix)
    assert verdict.kind is VerdictKind.UNVERIFIABLE
    assert "missing program 'pytest'" in verdict.reason


@pytest.mark.parametrize("end", [Reply(None, limit="output"), Reply(137), Reply(152), Reply(153)])
async def test_a_limit_is_neither_green_nor_red(bench: Bench, end: Reply) -> None:
    bench.sandbox.on("pytest", end)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    assert (await bench.verify(fix)).kind is VerdictKind.UNVERIFIABLE


# Files of the exam

CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef data():\n    return 1\n"


async def test_files_of_the_exam_decide_as_they_were(bench: Bench) -> None:
    shown = await bench.reproduce(diagnosis=FAILING)
    fix = bench.commit(
        {"app.py": "answer = 42\n", "tests/test_app.py": FILES["tests/test_app.py"] + "    assert answer < 50\n"},
        bench.base,
    )
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason
    assert verdict.restored == ("tests/test_app.py",)
    assert "exam_changed" in names(verdict.findings, Severity.SHOW)
    assert len(verdict.results) == 4


async def test_green_only_with_its_own_version_of_what_must_hold_is_tampering() -> None:
    """The code is not mended: what every test is given says something else now."""
    bench = Bench({**FILES, "conftest.py": CONFTEST})
    bench.tests("pytest", lambda tree: {TESTS[0]: "passed" if b"return 2" in tree["conftest.py"] else "failed"})
    shown = await bench.reproduce(diagnosis=FAILING)
    fix = bench.commit({"app.py": "answer = 43\n", "conftest.py": CONFTEST.replace("1", "2")}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert verdict.kind is VerdictKind.TAMPERED
    assert verdict.reason == "green only with its own version of conftest.py, not as the exam was"


async def test_an_old_test_that_cannot_pass_with_the_fix_is_shown_to_the_reviewer(bench: Bench) -> None:
    bench.tests(
        "pytest",
        lambda tree: {
            TESTS[0]: "passed" if tree["app.py"].split()[2] in tree["tests/test_app.py"] else "failed",
            TESTS[1]: "passed",
        },
    )
    shown = await bench.reproduce(diagnosis=FAILING)
    other = FILES["tests/test_app.py"].replace("== 42", "== 41")
    fix = bench.commit({"tests/test_app.py": other}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason
    assert "green_with_its_own_exam_only" in names(verdict.findings, Severity.SHOW)


async def test_a_fix_must_hold_with_its_own_version_too(bench: Bench) -> None:
    shown = await bench.reproduce(diagnosis=FAILING)
    broken = FILES["tests/test_app.py"] + "    assert answer == 7\n"
    fix = bench.commit({"app.py": "answer = 42\n", "tests/test_app.py": broken}, bench.base)
    bench.tests(
        "pytest", lambda tree: {**ends(tree), TESTS[1]: "failed" if b"== 7" in tree["tests/test_app.py"] else "passed"}
    )
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert verdict.kind in (VerdictKind.NOT_FIXED, VerdictKind.WORSE)
    assert verdict.reason.startswith("with its own version of tests/test_app.py")


# The rest of the job


def long_job() -> Bench:
    install = PlanStep(name="Install", command="make deps")
    lint = PlanStep(name="Lint", command="ruff check")
    bench = Bench(FILES, Check(name="test", command="pytest", before=(install,), after=(lint,)))
    bench.tests("pytest", ends)
    bench.on("deps", lambda tree: 1 if b"syntax" in tree["app.py"] else 0)
    bench.on("ruff", lambda tree: 1 if b"import os" in tree["app.py"] else 0)
    return bench


async def test_a_step_after_the_check_must_be_no_redder() -> None:
    bench = long_job()
    shown = await bench.reproduce()
    assert shown.results[2].part is Part.AFTER
    fix = bench.commit({"app.py": "import os\nanswer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, reproduction=shown)
    assert (verdict.kind, verdict.reason) == (VerdictKind.WORSE, "step 'Lint' is redder than without the change")


async def test_a_step_that_was_red_before_is_not_charged_to_the_fix() -> None:
    bench = long_job()
    bench.sandbox.on("ruff", Reply(1))
    shown = await bench.reproduce()
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    assert (await bench.verify(fix, reproduction=shown)).kind is VerdictKind.FIXED


async def test_a_step_before_the_check_must_pass_as_it_did() -> None:
    bench = long_job()
    shown = await bench.reproduce()
    fix = bench.commit({"app.py": "answer = 42  # syntax\n"}, bench.base)
    verdict = await bench.verify(fix, reproduction=shown)
    assert verdict.kind is VerdictKind.WORSE
    assert "'Install'" in verdict.reason


async def test_a_step_that_needs_the_network_with_the_change_is_unverifiable() -> None:
    bench = long_job()
    bench.downloads = FakeDownloads(FakeGate(refused=("registry.example:443",)))
    fix = bench.commit({"app.py": "answer = 42  # syntax\n"}, bench.base)
    verdict = await bench.verify(fix)
    assert (verdict.kind, verdict.reason) == (
        VerdictKind.UNVERIFIABLE,
        "step 'Install' needs_network(registry.example:443)",
    )
    assert bench.downloads.opened == ["cached"]


async def test_downloads_are_asked_for_again_only_by_a_change_of_dependencies() -> None:
    bench = long_job()
    bench.downloads = FakeDownloads()
    fix = bench.commit({"app.py": "answer = 42\n", "requirements.txt": "one==1\n"}, bench.base)
    verdict = await bench.verify(fix)
    assert bench.downloads.opened == ["fetching", "cached", "cached"]
    assert any("dependencies of its own" in sentence for sentence in verdict.unchecked)


async def test_a_test_that_also_fails_without_the_change_is_not_charged_to_it(bench: Bench) -> None:
    """It failed neither in CI nor because of the change: it fails on this machine."""
    third = "tests.test_app.test_machine"
    bench.tests("pytest", lambda tree: {**ends(tree), third: "failed"})
    shown = await bench.reproduce(diagnosis=FAILING)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason
    assert "also_red_without_the_fix" in names(verdict.findings, Severity.SHOW)
    assert any("with and without the change" in sentence for sentence in verdict.unchecked)


async def test_a_test_that_fails_only_with_the_change_is_charged_to_it(bench: Bench) -> None:
    third = "tests.test_app.test_machine"
    bench.tests("pytest", lambda tree: {**ends(tree), third: "failed" if is_fixed(tree) else "passed"})
    shown = await bench.reproduce(diagnosis=FAILING)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert verdict.kind is VerdictKind.NOT_FIXED


# What CI merges


async def test_a_pull_request_is_proved_on_the_merge_that_ci_builds() -> None:
    bench = Bench(FILES)
    bench.on("pytest", lambda tree: 0 if is_fixed(tree) or "feature.py" not in tree else 1)
    head = bench.base
    target = bench.commit({"feature.py": "new\n"}, head, "target")
    merged = await bench.workspaces.merge(REPO, head, target)
    tested = TestedTree(commit=head, merged_with=target)
    shown = await bench.reproduce(merged, tested=tested)
    assert shown.is_red
    missed = bench.commit({"app.py": "answer = 43\n"}, head)
    assert (await bench.verify(missed, reproduction=shown, tested=tested)).kind is VerdictKind.NOT_FIXED
    fix = bench.commit({"app.py": "answer = 42\n"}, head)
    assert (await bench.verify(fix, reproduction=shown, tested=tested)).kind is VerdictKind.FIXED
    rival = bench.commit({"feature.py": "mine\n", "app.py": "answer = 42\n"}, head)
    verdict = await bench.verify(rival, reproduction=shown, tested=tested)
    assert (verdict.kind, "conflicts" in verdict.reason) == (VerdictKind.NOT_FIXED, True)


async def test_on_a_newer_target_the_targets_own_exam_counts(bench: Bench) -> None:
    """The target has dropped a test meanwhile and changed another: the fix is not blamed for that."""
    shown = await bench.reproduce(diagnosis=FAILING)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    target = bench.commit({"tests/test_app.py": "def test_answer():\n    assert answer\n"}, bench.base, "target")
    bench.tests("pytest", lambda tree: {TESTS[0]: "passed" if is_fixed(tree) else "failed"})
    merged = await bench.workspaces.merge(REPO, target, fix)
    verdict = await bench.verify(fix, commit=merged, diagnosis=FAILING, reproduction=shown, exam_from=target)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason


async def test_what_goes_into_the_history_stays_small(bench: Bench) -> None:
    many = {f"tests/conftest{n}/conftest.py": "x = 1\n" for n in range(60)}
    base = bench.commit(many, bench.base)
    bench.base = base
    fix = bench.commit({**{path: "x = 2\n" for path in many}, "app.py": "answer = 42\n"}, base)
    verdict = await bench.verify(fix, diagnosis=FAILING, limits=Limits(files=100, lines=1000))
    assert len(verdict.restored) <= 30
    assert len(verdict.findings) <= 30
    assert len(verdict.unchecked) <= 10
    assert len(verdict.model_dump_json()) < 16 << 10


def writing(bench: Bench, path: str, *, also_without: bool) -> None:
    """pytest that passes with the fix and has the code under test write a file of the tree on its way."""

    def run(run: SandboxRun) -> Reply:
        tree = bench.workspaces.tree_at(run.workspace)
        if is_fixed(tree) or also_without:
            tree[path] = b"written\n"
        return Reply(0 if is_fixed(tree) else 1)

    bench.sandbox.on("pytest", run)


async def test_a_test_that_changed_while_the_checks_ran_proves_nothing(bench: Bench) -> None:
    writing(bench, "tests/test_app.py", also_without=False)
    shown = await bench.reproduce()
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, reproduction=shown, diagnosis=FAILING)
    assert (verdict.kind, names(verdict.findings)) == (VerdictKind.TAMPERED, {"exam_touched_while_run"})
    assert "tests/test_app.py was written" in verdict.reason


async def test_what_the_checks_always_write_is_not_held_against_a_fix(bench: Bench) -> None:
    writing(bench, "tests/test_app.py", also_without=True)
    shown = await bench.reproduce()
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, reproduction=shown, diagnosis=FAILING)
    assert (verdict.kind, verdict.findings) == (VerdictKind.FIXED, ())


async def test_other_files_that_only_the_fixed_code_writes_are_shown_once(bench: Bench) -> None:
    bench.base = bench.commit({"docs/version.txt": "1\n"}, bench.base)
    writing(bench, "docs/version.txt", also_without=False)
    shown = await bench.reproduce()
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, reproduction=shown, diagnosis=FAILING)
    assert verdict.kind is VerdictKind.FIXED
    assert [(one.name, one.place) for one in verdict.findings] == [("files_touched_while_run", "docs/version.txt")]
