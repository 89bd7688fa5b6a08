"""Every cheat is rejected or named as one for the verifier or a human; no honest fix is rejected.

Entries that can be run are run in the sandbox: what is said to be red is red, and what is said to be green is green.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap
from sweeper.model import Severity
from tests.security.cheats import CHEATS, Cheat
from tests.security.cheats.case import Case
from tests.security.honest import HONEST, Honest
from tests.security.selection import commit, part, slices
from tests.security.whole import BEYOND_A_LOOK, HONEST_RUN, judged
from tests.support.sandboxes import Room, usable

ENV = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
NOT_REJECTED = [cheat for cheat in CHEATS if cheat.needs]


def _names(cases: tuple[Case, ...] | list[Case]) -> list[str]:
    return [case.name for case in cases]


def test_the_corpora_are_large_enough_and_have_no_doubles() -> None:
    rejected = [cheat for cheat in CHEATS if not cheat.needs]
    assert len(rejected) >= 60
    assert len(HONEST) >= 30
    doubles = [name for name, count in Counter(_names([*CHEATS, *HONEST])).items() if count > 1]
    assert doubles == []


@pytest.mark.parametrize("cheat", [cheat for cheat in CHEATS if not cheat.needs], ids=lambda cheat: cheat.name)
def test_a_cheat_is_rejected_for_what_it_does(cheat: Cheat) -> None:
    assert cheat.found in cheat.rejected_for()


@pytest.mark.parametrize("cheat", NOT_REJECTED, ids=lambda cheat: cheat.name)
def test_a_cheat_that_no_look_can_reject_is_shown_where_there_is_something_to_show(cheat: Cheat) -> None:
    assert cheat.rejected_for() == set()
    shown = {finding.name for finding in cheat.findings() if finding.severity is Severity.SHOW}
    assert shown >= ({cheat.found} if cheat.found else set())


@pytest.mark.parametrize("fix", HONEST, ids=lambda fix: fix.name)
def test_an_honest_fix_is_not_rejected_and_the_reviewer_is_told_what_to_look_at(fix: Honest) -> None:
    assert fix.rejected_for() == set()
    assert {finding.name for finding in fix.findings()} >= set(fix.shown)


@pytest.mark.parametrize("case", [*CHEATS, *HONEST], ids=lambda case: case.name)
def test_each_finding_names_a_place_of_the_change(case: Case) -> None:
    paths = {*case.after, *case.moved.values(), "files", "lines", "bytes"}
    for finding in case.findings():
        path, _, line = finding.place.rpartition(":")
        assert finding.place in paths or (path in paths and line.isdecimal())
        assert 0 < len(finding.detail) < 200


RUNS = [case for case in (*CHEATS, *HONEST) if case.is_run]
AT_ONCE = 12
WHOLE = 3
"""Entries of a kind that a run of `make test` takes through the whole verifier; `make security-report` takes all."""


def test_each_entry_is_in_one_of_the_parts_and_commits_differ() -> None:
    found = [case.name for one in slices(RUNS, AT_ONCE) for case in one]
    assert sorted(found) == sorted(case.name for case in RUNS)
    assert max(len(one) for one in slices(RUNS, AT_ONCE)) <= AT_ONCE
    assert part(RUNS, AT_ONCE, "one") == part(RUNS, AT_ONCE, "one")
    assert len({part(RUNS, AT_ONCE, str(seed))[0].name for seed in range(200)}) == len(slices(RUNS, AT_ONCE))


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_what_no_look_can_tell_the_whole_verifier_does_not_believe(tmp_path: Path) -> None:
    sandbox = await usable(Bubblewrap())
    found = await judged(part(BEYOND_A_LOOK, WHOLE, commit()), tmp_path, sandbox)
    assert [(one.case.name, one.answer) for one in found if not one.is_refused] == []


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_the_whole_verifier_believes_an_honest_fix(tmp_path: Path) -> None:
    sandbox = await usable(Bubblewrap())
    found = await judged(part(HONEST_RUN, WHOLE, commit()), tmp_path, sandbox)
    assert [(one.case.name, one.answer) for one in found if not one.is_fixed] == []


def _write(room: Room, name: str, files: Mapping[str, str | bytes | None], case: Case) -> str:
    """Lay a tree out in a folder of its own; answers with the line of shell that runs the check as a job does."""
    texts = {f"{name}/{path}": data for path, data in files.items() if isinstance(data, str)}
    room.write({**texts, f"commands/{name}": case.command})
    for path, mode in case.modes.items():
        if mode == "100755" and path in files:
            (room.path / name / path).chmod(0o755)
    return f'(cd {name} && sh -e ../commands/{name}) >commands/{name}.log 2>&1 </dev/null; echo "{name} $?"'


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_entries_are_red_before_and_green_after(tmp_path: Path) -> None:
    room = Room(await usable(Bubblewrap()), tmp_path)
    room.write({"commands/none": ""})
    lines, expected, known = [], {}, set()
    for number, case in enumerate(part(RUNS, AT_ONCE, commit())):
        key = repr((sorted(case.before.items()), case.command))
        if key not in known:
            known.add(key)
            lines.append(_write(room, f"before-{number}", case.before, case))
            expected[f"before-{number}"] = (case.name, "red")
        lines.append(_write(room, f"after-{number}", case.tree, case))
        expected[f"after-{number}"] = (case.name, "green")
    result = await room.sh("\n".join(lines), env=ENV)
    codes = dict(line.split() for line in result.output.decode().splitlines())
    found = {name: (case, "green" if codes.get(name) == "0" else "red") for name, (case, _) in expected.items()}
    wrong = [name for name in expected if found[name] != expected[name] or codes.get(name, "127") in ("126", "127")]
    assert [(expected[name], (room.path / "commands" / f"{name}.log").read_text()[-800:]) for name in wrong] == []
