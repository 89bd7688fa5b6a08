"""The state directory is private, and its secrets are made once, whole."""

import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sweeper.config import load_settings
from sweeper.config.state_dir import StateDir, admin_token, make_secret, marker_key, prepare_state_dir
from sweeper.errors import BadInput


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def prepare(root: Path) -> StateDir:
    return prepare_state_dir(load_settings({"state_dir": root}, use_working_directory=False))


def test_it_is_made_private_with_two_different_secrets(tmp_path: Path) -> None:
    state = prepare(tmp_path / "deep" / "state")
    assert mode(state.root) == 0o700
    assert mode(state.marker_key_file) == mode(state.admin_token_file) == 0o600
    assert len(bytes.fromhex(state.marker_key_file.read_text())) == 32
    assert state.marker_key_file.read_text() != state.admin_token_file.read_text()
    assert sorted(path.name for path in state.root.iterdir()) == ["admin-token", "marker-key"]


def test_a_second_start_keeps_the_secrets(tmp_path: Path) -> None:
    settings = load_settings({"state_dir": tmp_path / "state"}, use_working_directory=False)
    first = marker_key(settings, prepare_state_dir(settings))
    assert marker_key(settings, prepare_state_dir(settings)) == first


def test_many_processes_starting_at_once_agree(tmp_path: Path) -> None:
    together = threading.Barrier(8)

    def start(_: int) -> str:
        together.wait()
        return admin_token(prepare(tmp_path / "state")).get_secret_value()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(start, range(8)))) == 1
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["admin-token", "marker-key"]


def test_who_finds_no_secret_but_is_second_to_make_one_keeps_the_first(tmp_path: Path) -> None:
    make_secret(tmp_path / "secret")
    first = (tmp_path / "secret").read_text()
    make_secret(tmp_path / "secret")
    assert (tmp_path / "secret").read_text() == first
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_open_rights_are_tightened(tmp_path: Path) -> None:
    root = tmp_path / "state"
    root.mkdir(mode=0o755)
    state = prepare(root)
    state.marker_key_file.chmod(0o644)
    prepare(root)
    assert (mode(root), mode(state.marker_key_file)) == (0o700, 0o600)


def test_a_key_from_the_settings_wins(tmp_path: Path) -> None:
    settings = load_settings({"state_dir": tmp_path, "marker_key": "k" * 32}, use_working_directory=False)
    assert marker_key(settings, prepare_state_dir(settings)) == b"k" * 32


def test_the_key_file_moved_into_the_settings_is_the_same_key(tmp_path: Path) -> None:
    plain = load_settings({"state_dir": tmp_path / "state"}, use_working_directory=False)
    state = prepare_state_dir(plain)
    moved = load_settings({"marker_key": state.marker_key_file.read_text()}, use_working_directory=False)
    assert marker_key(plain, state) == marker_key(moved, state)


@pytest.mark.parametrize("content", ["", "abc\n"])
def test_a_broken_secret_is_refused_and_kept(tmp_path: Path, content: str) -> None:
    state = prepare(tmp_path / "state")
    state.marker_key_file.write_text(content)
    with pytest.raises(BadInput, match="marker-key"):
        prepare(state.root)
    assert state.marker_key_file.read_text() == content


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("mine")
    for root in (tmp_path / "state", tmp_path / "state" / "below"):
        with pytest.raises(BadInput, match="SWEEPER_STATE_DIR"):
            prepare(root)
    assert (tmp_path / "state").read_text() == "mine"


def test_a_directory_shared_by_all_users_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(BadInput, match="SWEEPER_STATE_DIR"):
        prepare(shared)
    assert mode(shared) == 0o1777
    assert not list(shared.iterdir())
