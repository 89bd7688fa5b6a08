"""The verifier holds green runs against the names of tests, not only their number."""

from collections.abc import Mapping

import pytest

from sweeper.errors import NotFound
from sweeper.model import ArtifactRef, Severity, VerdictKind
from tests.support.exam import FAILING, FILES, TESTS, ends, exam, names
from tests.support.proofs import Bench
from tests.support.scene_doubles import MemoryArtifacts
from tests.support.workspaces import Tree


class Emptied(MemoryArtifacts):
    """A store that has nothing of what was put into it before."""

    async def get(self, ref: ArtifactRef) -> bytes:
        raise NotFound(f"{ref.digest} is not in the store any more")


@pytest.fixture
def bench() -> Bench:
    return exam()


THIRD = "tests.test_app.test_third"


async def test_another_test_in_the_place_of_the_red_one_is_tampering(bench: Bench) -> None:
    shown = await bench.reproduce(diagnosis=FAILING)
    bench.tests("pytest", lambda tree: {THIRD: "passed", TESTS[1]: "passed"})
    fix = bench.commit({"app.py": "answer = 43\n"}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert (verdict.kind, names(verdict.findings)) == (VerdictKind.TAMPERED, {"failing_test_gone"})
    assert "tests/test_app.py::test_answer (gone)" in verdict.reason


async def test_the_second_green_run_is_held_against_names_as_well(bench: Bench) -> None:
    shown = await bench.reproduce(diagnosis=FAILING)
    runs = iter((ends, ends))  # the first, and its collection
    swapped = {THIRD: "passed", TESTS[1]: "passed"}
    bench.tests("pytest", lambda tree: run(tree) if (run := next(runs, None)) else swapped)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert (verdict.kind, names(verdict.findings)) == (VerdictKind.TAMPERED, {"failing_test_gone"})


async def test_names_are_kept_outside_of_the_history(bench: Bench) -> None:
    many = {f"tests.test_many.test_number_{n}": "passed" for n in range(3000)}
    bench.tests("pytest", lambda tree: {**ends(tree), **many})
    shown = await bench.reproduce(diagnosis=FAILING)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason
    assert len(shown.model_dump_json()) + len(verdict.model_dump_json()) < 8 << 10
    kept = [result.tally.names for result in shown.results if result.tally and result.tally.names]
    assert len(kept) == len(shown.results)
    assert b"tests/test_many.py::test_number_2999" in await bench.artifacts.get(kept[0])


async def test_names_that_the_store_has_no_more_are_said_and_numbers_decide(bench: Bench) -> None:
    shown = await bench.reproduce(diagnosis=FAILING)
    bench.artifacts = Emptied()
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason
    assert any("not kept any more" in sentence for sentence in verdict.unchecked)


async def test_what_the_untouched_tree_reports_otherwise_too_is_not_held_against_a_fix(bench: Bench) -> None:
    bench.tests("pytest", ends, collected=9)
    fix = bench.commit({"app.py": "answer = 42\n"}, bench.base)
    verdict = await bench.verify(fix)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason


async def test_a_test_that_its_own_file_renames_is_shown_and_not_charged(bench: Bench) -> None:
    """Green with its own version of the failing test alone, and that one has another name."""

    def named(tree: Tree) -> Mapping[str, str]:
        is_renamed = b"test_third" in tree["tests/test_app.py"]
        return {THIRD if is_renamed else TESTS[0]: "passed" if is_renamed else "failed", TESTS[1]: "passed"}

    bench.tests("pytest", named)
    shown = await bench.reproduce(diagnosis=FAILING)
    renamed = FILES["tests/test_app.py"].replace("test_answer", "test_third")
    fix = bench.commit({"app.py": "answer = 42\n", "tests/test_app.py": renamed}, bench.base)
    verdict = await bench.verify(fix, diagnosis=FAILING, reproduction=shown)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason
    assert "tests_removed_by_the_change" in names(verdict.findings, Severity.SHOW)
    assert any("not seen to pass by that name" in sentence for sentence in verdict.unchecked)
