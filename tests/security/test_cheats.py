"""Every cheat is rejected or named as one for the verifier or a human; no honest fix is rejected.

Entries that can be run are run in the sandbox: what is said to be red is red, and what is said to be green is green.
"""

from collections import Counter
from pathlib import Path

import pytest

from adapters.sandbox import Bubblewrap
from sweeper.model import Severity
from tests.security.cheats import CHEATS, Cheat
from tests.security.cheats.case import Case
from tests.security.honest import HONEST, Honest
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


@pytest.fixture(scope="module")
def seen_red() -> dict[str, int | None]:
    """Exit codes of trees before their change; many entries start from the same one."""
    return {}


@pytest.fixture
async def sandbox() -> Bubblewrap:
    return await usable(Bubblewrap())


async def _run(sandbox: Bubblewrap, place: Path, files: dict[str, str | bytes], case: Case) -> tuple[int | None, str]:
    place.mkdir()
    room = Room(sandbox, place)
    room.write({path: data if isinstance(data, str) else data.decode() for path, data in files.items()})
    for path in (path for path, mode in case.modes.items() if mode == "100755" and path in files):
        (room.path / path).chmod(0o755)
    result = await room.sh(case.command, env=ENV)
    return result.exit_code, result.output.decode(errors="replace")


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in (*CHEATS, *HONEST) if case.is_run], ids=lambda case: case.name)
async def test_it_is_red_before_and_green_after(
    case: Case, tmp_path: Path, sandbox: Bubblewrap, seen_red: dict[str, int | None]
) -> None:
    key = repr((sorted(case.before.items()), case.command))
    if key not in seen_red:
        before = {path: data for path, data in case.before.items() if data is not None}
        seen_red[key], _ = await _run(sandbox, tmp_path / "before", before, case)
    code, output = await _run(sandbox, tmp_path / "after", case.tree, case)
    assert (seen_red[key] not in (0, None), code) == (True, 0), output
