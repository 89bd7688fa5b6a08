"""Workflow files made to break their reader: refused with a reason, or read within bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.model import CheckPlan
from sweeper.policy.planning import check_plan
from sweeper.policy.planning.plan import MOST_CHECK_BYTES, MOST_REASON_BYTES
from tests.support.values import job, run_facts
from tests.unit.planning.plans import plan_of, refusal_of, steps_file

LONG = "x" * 20_000


def _bytes_plan(data: bytes) -> CheckPlan:
    return check_plan([job("test")], [None], data, run_facts())


def _bomb(levels: int) -> str:
    lines = ["a0: &a0 {KEY: value}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join([*lines, f"env: {{BOOM: *a{levels - 1}}}", "jobs: {test: {steps: [{run: pytest}]}}"])


def _many_jobs() -> str:
    rows = "&m {matrix: {a: [" + ",".join("1" * 16) + "], b: [" + ",".join("1" * 15) + "]}}"
    return f"x: {rows}\njobs:\n" + "\n".join(f"  j{n}: {{strategy: *m, steps: [{{run: a}}]}}" for n in range(20))


@pytest.mark.parametrize(
    ("workflow", "reason"),
    [
        ("- a list", "not valid YAML of a workflow"),
        ("just words", "not valid YAML of a workflow"),
        ("jobs: [a, list]", "not valid YAML of a workflow"),
        ("jobs: {test: {steps: {a: mapping}}}", "not valid YAML of a workflow"),
        ("jobs: {test: {steps: [{run: [a, list]}]}}", "not valid YAML of a workflow"),
        ("jobs: {test: {env: {A: [1]}, steps: [{run: pytest}]}}", "not valid YAML of a workflow"),
        ("jobs: {test: *nowhere}", "not valid YAML of a workflow"),
        ("jobs: {{}: 1}", "not valid YAML of a workflow"),
        ("a: 'never closed", "not valid YAML of a workflow"),
        ("a: !!python/object/apply:os.system [id]", "not valid YAML of a workflow"),
        ("a: !!timestamp 2026-13-45", "not valid YAML of a workflow"),
        ("a: !!float many", "not valid YAML of a workflow"),
        ("a: !!bool perhaps", "not valid YAML of a workflow"),
        ("[" * 500, "not valid YAML of a workflow"),
        (b"\xff\xfe\x00\xd8", "not valid YAML of a workflow"),
        (b"jobs: \x00", "not valid YAML of a workflow"),
        (steps_file('- {name: Run pytest, run: "pytest \\0"}'), "half a character"),
        (steps_file('- {name: Run pytest, run: "pytest \\ud800"}'), "half a character"),
        (steps_file('- {name: Run pytest, run: pytest, env: {"\\udfff": a}}'), "half a character"),
        (steps_file("- {name: Run pytest, run: 'a ${{ fromJSON(''\"\\ud800\"'') }}'}"), "'fromJSON' of expressions"),
        (steps_file("- {name: Run pytest, run: 'a ${{ fromJSON(''\"\\u0000\"'') }}'}"), "'fromJSON' of expressions"),
        ("# " + "x" * 200_000, "is larger than 128 KiB"),
        (_bomb(20), "unfolds to too many values"),
        ("a: &a [*a]", "unfolds to too many values"),
        (_many_jobs(), "unfolds to more than 2000 jobs"),
        (steps_file("- run: a\n" * 300), "it has more than 250 steps"),
        (steps_file("- run: pytest", before="env: {" + ", ".join(f"A{n}: x" for n in range(300)) + "}"), "250 names"),
        (steps_file(f"- {{run: a, env: {{X: {LONG}}}}}\n" * 4 + "- run: pytest"), "over 64 KiB"),
        (steps_file(f"- {{name: Run pytest, run: pytest {LONG}}}"), "no room for its scripts"),
        (steps_file(f"- {{name: Run pytest, run: '{'${{ env.X }}' * 9}'}}", top=f"env: {{X: {LONG}}}"), "64 KiB"),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_a_hostile_file_is_refused_with_a_reason(workflow: str | bytes, reason: str) -> None:
    data = workflow if isinstance(workflow, bytes) else workflow.encode()
    plan = _bytes_plan(data)
    assert plan.checks == ()
    assert reason in (plan.unverifiable or "")
    assert len(plan.unverifiable or "") < 600


@pytest.mark.parametrize("workflow", ["", "# only a comment", "null", "on: push"])
def test_an_empty_file_knows_no_job(workflow: str) -> None:
    assert "it is not in the workflow file" in refusal_of(workflow)


def test_a_plan_stays_small_however_many_jobs_fail() -> None:
    steps = "- run: make " + "x" * 900 + "\n- {name: Test, run: 'pytest ${{ matrix.n }}'}"
    file = steps_file(steps, before="strategy: {matrix: {n: [" + ", ".join(map(str, range(100))) + "]}}")
    plan = plan_of(file, *(job(f"test ({n})", failing="Test") for n in range(100)))
    assert 5 < len(plan.checks) < 20
    assert sum(len(check.model_dump_json()) for check in plan.checks) < MOST_CHECK_BYTES * 1.3
    assert "the plan has no room for its scripts" in plan.uncovered[0]
    assert sum(map(len, plan.uncovered)) < MOST_REASON_BYTES + 100
    assert plan.uncovered[-1].startswith("And ")


_WORDS = st.sampled_from(
    ["run:", "uses:", "if:", "env:", "with:", "${{", "}}", "-", "{", "}", "[", "]", "&a", "*a", "'", "\n", ":", "x"]
)


@given(st.lists(_WORDS, max_size=40).map(" ".join))
def test_no_step_makes_it_fail(text: str) -> None:
    plan = _bytes_plan(f"jobs:\n  test:\n    steps:\n      - {text}\n".encode())
    assert bool(plan.checks) != bool(plan.unverifiable)


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    assert _bytes_plan(data).unverifiable
