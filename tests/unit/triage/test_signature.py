import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.model import ArtifactRef, CheckPlan, Diagnosis
from sweeper.policy.triage import diagnose
from sweeper.policy.triage.signature import normal_file, normal_test, normalised
from tests.support.values import job, run_facts

FAILURE = """\
{root}/tests/test_a.py:{line}: AssertionError
E   AssertionError: assert 'http://localhost:{port}/{uuid}' == '/tmp/pytest-{n}/x.txt' after {seconds}s at 0x{hex}
FAILED {prefix}tests/test_a.py::test_one[{case}] - AssertionError: port {port} at {stamp}
=========== 1 failed in {seconds}s ===========
##[error]Process completed with exit code 1.
"""
STILL = {
    "root": "/home/runner/work/app/app",
    "prefix": "",
    "line": 12,
    "port": 8080,
    "uuid": "0b1e9a3c-52fd-4a44-9d4a-7d9a0b6a1c11",
    "n": 0,
    "seconds": "1.25",
    "hex": "7fea0d9b9480",
    "case": "a",
    "stamp": "2026-03-01T12:00:00.123Z",
}


def _diagnose(log: str, name: str = "test") -> Diagnosis:
    evidence = job(name).model_copy(update={"log": ArtifactRef(digest="sha256:0", size=len(log))})
    return diagnose(run_facts(), [evidence], [log.encode()], CheckPlan())


_DIGITS = st.integers(1, 99_999)


@pytest.mark.slow
@given(
    root=st.sampled_from(["/home/runner/work/app/app", "/__w/app/app", r"D:\a\app\app", "/build/agent7/src"]),
    line=_DIGITS,
    port=_DIGITS,
    uuid=st.uuids().map(str),
    n=_DIGITS,
    seconds=st.floats(0.01, 5000).map("{:.2f}".format),
    hex=st.text("0123456789abcdef", min_size=6, max_size=12),
    stamp=st.datetimes().map(lambda at: at.isoformat() + "Z"),
    name=st.text("abc ()", min_size=1, max_size=9),
)
def test_it_is_stable_over_places_times_and_ids(name: str, **changes: object) -> None:
    found = _diagnose(FAILURE.format(**{**STILL, **changes}), name)
    assert found.signature == _diagnose(FAILURE.format(**STILL)).signature


def test_it_is_the_same_for_every_python_that_runs_unittest() -> None:
    older, newer = "FAIL: test_sum (tests.test_a.TestSum)\n", "FAIL: test_sum (tests.test_a.TestSum.test_sum)\n"
    assert _diagnose(older).signature == _diagnose(newer).signature
    assert _diagnose(older).signature != _diagnose(newer.replace("test_sum", "test_other")).signature


def test_the_order_in_which_tests_fail_makes_no_difference() -> None:
    one, two = "FAILED a.py::one - KeyError: 'x'\n", "FAILED a.py::two - TypeError: y\n"
    assert _diagnose(one + two).signature == _diagnose(two + one).signature


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("FAILED a.py::one - KeyError: 'x'", "FAILED a.py::two - KeyError: 'x'"),
        ("FAILED a.py::one - KeyError: 'x'", "FAILED a.py::one - TypeError: no"),
        ("FAILED a.py::one[1]", "FAILED a.py::one[2]"),
        ("a.py:1:1: E501 Line too long", "a.py:1:1: F401 unused"),
        ("a.py:1:1: E501 Line too long", "b.py:1:1: E501 Line too long"),
        ("src/a/__init__.py:1: error: no  [return]", "src/b/__init__.py:1: error: no  [return]"),
        ("E   ModuleNotFoundError: No module named 'numpy'", "E   ModuleNotFoundError: No module named 'yaml'"),
        ("FAILED a.py::one - KeyError: 'x'", "Killed"),
        ("words that nobody knows", "FAILED a.py::one"),
    ],
)
def test_different_causes_differ(one: str, other: str) -> None:
    ended = "\n##[error]Process completed with exit code 1.\n"
    assert _diagnose(one + ended).signature != _diagnose(other + ended).signature


def test_where_nothing_is_known_workflow_job_and_step_stand_for_the_cause() -> None:
    def unknown(name: str, text: str = "strange words", **changes: object) -> str:
        log = f"{text}\n##[error]Process completed with exit code 1.\n".encode()
        evidence = job(name).model_copy(update={"log": ArtifactRef(digest="sha256:0", size=len(log))})
        return diagnose(run_facts(**changes), [evidence], [log], CheckPlan()).signature

    assert unknown("test") == unknown("test", "other words")
    assert unknown("test (3.9, linux)") == unknown("test (3.12, linux)")
    assert len({unknown("test"), unknown("lint"), unknown("test", workflow_path=".github/workflows/b.yml")}) == 3


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("took 1.5s, 2 min", "took #"),
        ("at 2026-07-30 10:55:18.246Z", "at #"),
        ("since 2000-01-01T00:00:00Z", "since #"),
        ("object at 0x7fea0d9b9480", "object at <id>"),
        ("request ID 93C2:95E39:1954C51:58FD1F0", "request ID <id>"),
        ("commit 875566c48cb911f1856de267e01d4c68 is bad", "commit <id> is bad"),
        ("/home/runner/work/app/app/src/a.py:3:7: wrong", "src/a.py:# wrong"),
        ("open '/opt/x/y/z.txt'", "open 'z.txt'"),
        ("in /tmp/pytest-of-runner/pytest-0/test_a0", "in <tmp>"),
        ("dir tmpab12cd_x here", "dir <tmp> here"),
        ("python3 and utf8 and x64 stay", "python3 and utf8 and x64 stay"),
        ("effaced and defaced stay", "effaced and defaced stay"),
    ],
)
def test_what_differs_from_run_to_run_is_taken_out(text: str, normal: str) -> None:
    assert re.sub(r":?#:?", "#", normalised(text)) == re.sub(r":?#:?", "#", normal)


@given(st.text(max_size=300))
def test_taking_it_out_never_fails_and_ends(text: str) -> None:
    assert len(normalised(text)) <= 160


def test_files_and_tests_are_named_as_in_the_repository() -> None:
    assert normal_file("/home/runner/work/app/app/src/a.py") == normal_file("./src/a.py") == "src/a.py"
    assert normal_file("/opt/python/lib/json.py") == "json.py"
    assert normal_file(r"crates\core\src\lib.rs") == "crates/core/src/lib.rs"
    assert normal_test("/__w/app/app/tests/a.py::t[0x7fea]") == "tests/a.py::t[<id>]"
    assert normal_test("test_case_12") == "test_case_12"
