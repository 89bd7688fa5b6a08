"""What an earlier tree installed, wrote or poisoned decides nothing about a later one; what is missing is said."""

from datetime import timedelta
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap
from sweeper.activities.job_runs import Tree
from sweeper.model import Check, CheckPlan, PlanStep, Reproduction, VerdictKind
from tests.support.git_origin import git
from tests.support.proving import REPO, RealBench
from tests.support.sandboxes import usable
from tests.support.values import diagnosis

pytestmark = pytest.mark.slow

INSTALL = """\
python3 -m venv --without-pip "$HOME/v"
cp -r shop "$HOME"/v/lib/python3*/site-packages/
echo "$HOME/v/bin" >>"$GITHUB_PATH"
"""
POISON = """\
mkdir -p "$HOME/v" "$HOME/.cache/pip" "$HOME/.config/pip" ~/.local/lib/python3.11/site-packages
echo 'import os; os._exit(0)' | tee ~/.local/lib/python3.11/site-packages/sitecustomize.py >usercustomize.py
echo poison | tee "$HOME/.cache/pip/x" "$HOME/.config/pip/pip.conf" "$HOME/v/pyvenv.cfg" /tmp/poison /dev/shm/poison
exit 0
"""
CHECK = Check(
    name="check",
    command="python3 -c 'import shop; raise SystemExit(shop.answer != 42)' && sh extra.sh",
    working_directory="elsewhere",
    before=(PlanStep(name="Install", command="sh install.sh"),),
)


def shop(answer: int, extra: str = "exit 0\n") -> dict[str, str]:
    return {"shop/__init__.py": f"answer = {answer}\n", "install.sh": INSTALL, "elsewhere/extra.sh": extra}


@pytest.fixture
async def bench(tmp_path: Path) -> RealBench:
    made = RealBench(tmp_path, await usable(Bubblewrap()), timedelta(seconds=100))
    made.plan = CheckPlan(checks=(CHECK,))
    return made


async def test_an_environment_made_for_another_tree_decides_nothing(bench: RealBench) -> None:
    base = bench.commit(shop(41))
    shown = await bench.reproduce(base)
    assert (shown.problem, shown.is_red) == (None, True)
    right = await bench.verify(base, bench.commit(shop(42), base), shown)
    assert right.kind is VerdictKind.FIXED, right.reason
    wrong = await bench.verify(base, bench.commit(shop(43), base), shown)
    assert wrong.kind is VerdictKind.NOT_FIXED


async def test_what_one_tree_poisons_is_not_there_for_the_next(bench: RealBench) -> None:
    base = bench.commit(shop(41))
    shown = Reproduction(commit=base)
    await bench.verify(base, bench.commit(shop(42, POISON), base), shown)
    wrong = await bench.verify(base, bench.commit(shop(43), base), shown)
    assert wrong.kind is VerdictKind.NOT_FIXED
    right = await bench.verify(base, bench.commit(shop(42), base), shown)
    assert right.kind is VerdictKind.FIXED, right.reason


async def test_tests_are_counted_by_report_and_by_collection_in_the_sandbox(bench: RealBench) -> None:
    bench.plan = CheckPlan(checks=(Check(name="check", command="python3 -m pytest -q -p no:cacheprovider"),))
    test = "from app import answer\n\n\ndef test_answer():\n    assert answer == 42\n\n\ndef test_more():\n    pass\n"
    base = bench.commit({"app.py": "answer = 41\n", "test_app.py": test})
    shown = await bench.reproduce(base)
    tally = shown.results[0].tally
    assert tally is not None
    assert (tally.collected, tally.passed, tally.failed, tally.source) == (2, 1, 1, "report file")
    verdict = await bench.verify(base, bench.commit({"app.py": "answer = 42\n"}, base), shown)
    assert verdict.kind is VerdictKind.FIXED, verdict.reason


@pytest.mark.timeout(300)
async def test_names_of_more_tests_than_an_output_holds_are_read_whole(bench: RealBench) -> None:
    check = Check(name="check", command="python3 -m pytest -q -p no:cacheprovider")
    test = (
        "import pytest\n\n\n@pytest.mark.parametrize('text', [f'{n}-' + 'x' * 300 for n in range(5000)])\n"
        "def test_many(text):\n    assert text\n"
    )
    base = bench.commit({"test_many.py": test.replace("text', [", "text', ids=str, argvalues=[")})
    await bench.store.fetch(REPO, [base], bench.origin.access)
    run = await bench.runner.run(check, Tree(REPO, "sweep-1-1.many", base, 100.0))
    assert run.names is not None
    assert (run.names.is_listed, len(run.names.collected), run.names.unmatched) == (True, 5000, ())
    assert len(run.names.text()) > 1 << 20


async def test_empty_submodules_are_the_reason_when_another_failure_shows(bench: RealBench) -> None:
    bench.plan = CheckPlan(checks=(Check(name="check", command="cat lib/data"),))
    base = bench.commit({"app.py": "x\n"})
    git("update-index", "--add", "--cacheinfo", f"160000,{base},lib", cwd=bench.origin.clone)
    git("commit", "-q", "-m", "submodule", cwd=bench.origin.clone)
    git("push", "-q", "-f", str(bench.origin.path), "HEAD:refs/heads/main", cwd=bench.origin.clone)
    base = git("rev-parse", "HEAD", cwd=bench.origin.clone)
    shown = await bench.reproduce(base, diagnosis())
    assert shown.problem is not None
    assert "lib" in shown.problem
    assert "Submodules are not checked out" in shown.problem


async def test_pointers_of_large_files_stay_pointers_and_are_told(bench: RealBench) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"
    bench.plan = CheckPlan(checks=(Check(name="check", command="head -c 7 big.bin; exit 1"),))
    base = bench.commit({".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "big.bin": pointer})
    shown = await bench.reproduce(base)
    assert any("needs LFS" in sentence for sentence in shown.unchecked)
    assert await bench.store.read(REPO, base, "big.bin", 1000) == pointer.encode()
    assert b"version" in b"".join(bench.artifacts.stored.values())
