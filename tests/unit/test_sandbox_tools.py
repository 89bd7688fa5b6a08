"""Which directories of the host a sandboxed command gets to see."""

import os
from pathlib import Path

import pytest

from adapters.sandbox.tools import SYSTEM_PATH, HostView, Tools, find_tools


class Machine:
    """A home directory with installations in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = self.directory(root / "home" / "ann")
        self.prefix = self.python(self.home / "project" / ".venv")
        (self.prefix / "pyvenv.cfg").touch()
        self.state = self.directory(self.home / "state")

    def directory(self, path: Path) -> Path:
        path.mkdir(parents=True, exist_ok=True)
        return path

    def program(self, path: Path) -> Path:
        self.directory(path.parent)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    def python(self, prefix: Path) -> Path:
        self.program(prefix / "bin" / "python3.12")
        self.directory(prefix / "lib" / "python3.12")
        return prefix

    def tools(self, *path: Path | str, base: Path | None = None) -> Tools:
        entries = tuple(str(entry) for entry in path)
        return find_tools(HostView(entries, self.prefix, base or Path("/usr"), self.home, (self.state,)))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path.resolve())


def shown(tools: Tools) -> set[Path]:
    return {tool.target for tool in tools.directories}


def test_the_running_interpreter_comes_first_and_the_system_last(machine: Machine) -> None:
    tools = machine.tools("/usr/bin")
    assert tools.search_path[0] == str(machine.prefix / "bin")
    assert set(SYSTEM_PATH) <= set(tools.search_path)
    assert shown(tools) == {machine.prefix}


def test_the_base_installation_of_a_virtual_environment_is_shown(machine: Machine) -> None:
    base = machine.python(machine.home / ".pyenv" / "versions" / "3.12.1")
    (machine.prefix / "bin" / "python3").symlink_to(base / "bin" / "python3.12")
    assert shown(machine.tools(base=base)) == {machine.prefix, base}


def test_a_link_on_the_way_to_the_interpreter_is_kept_under_both_its_names(machine: Machine) -> None:
    real = machine.python(machine.home / "pythons" / "3.12.1")
    alias = machine.home / "pythons" / "3.12"
    alias.symlink_to(real)
    (machine.prefix / "bin" / "python3").symlink_to(alias / "bin" / "python3.12")
    assert {alias, real} <= shown(machine.tools(base=real))


def test_a_toolchain_on_the_path_is_shown_whole(machine: Machine) -> None:
    node = machine.root / "opt" / "node"
    machine.program(node / "bin" / "node")
    machine.directory(node / "lib" / "node_modules")
    tools = machine.tools(node / "bin")
    assert node in shown(tools)
    assert str(node / "bin") in tools.search_path
    assert tools.which("node") == str(node / "bin" / "node")


def test_a_plain_directory_of_programs_is_shown_without_its_parent(machine: Machine) -> None:
    scripts = machine.root / "srv" / "secret-things" / "bin"
    machine.program(scripts / "tool")
    assert scripts in shown(machine.tools(scripts))
    assert scripts.parent not in shown(machine.tools(scripts))


def test_dot_local_is_never_shown_whole_although_it_looks_like_an_installation(machine: Machine) -> None:
    local = machine.python(machine.home / ".local")
    machine.directory(local / "share" / "keyrings")
    found = shown(machine.tools(local / "bin"))
    assert local / "bin" in found
    assert local not in found


def test_a_link_in_dot_local_shows_the_installation_it_leads_to(machine: Machine) -> None:
    tool = machine.python(machine.home / ".local" / "share" / "uv" / "tools" / "black")
    (tool / "pyvenv.cfg").touch()
    machine.program(tool / "bin" / "black")
    machine.directory(machine.home / ".local" / "bin")
    (machine.home / ".local" / "bin" / "black").symlink_to(tool / "bin" / "black")
    tools = machine.tools(machine.home / ".local" / "bin")
    assert tool in shown(tools)
    assert tools.which("black") == str(machine.home / ".local" / "bin" / "black")


@pytest.mark.parametrize("entry", ["", ".", "bin", "/nowhere/at/all"])
def test_entries_that_name_no_fixed_directory_are_left_out(machine: Machine, entry: str) -> None:
    tools = machine.tools(entry)
    assert entry not in tools.search_path
    assert shown(tools) == {machine.prefix}


def test_shims_are_left_out_because_they_do_not_work_inside(machine: Machine) -> None:
    shims = machine.directory(machine.home / ".pyenv" / "shims")
    assert str(shims) not in machine.tools(shims).search_path


def test_a_directory_anybody_may_write_is_left_out(machine: Machine) -> None:
    open_to_all = machine.directory(machine.root / "open" / "bin")
    open_to_all.chmod(0o777)
    assert str(open_to_all) not in machine.tools(open_to_all).search_path


@pytest.mark.parametrize("entry", ["home/ann", "home", "home/ann/state/bin", "home/ann/state"])
def test_the_home_what_is_above_it_and_the_state_are_never_shown(machine: Machine, entry: str) -> None:
    place = machine.directory(machine.root / entry)
    tools = machine.tools(place)
    assert str(place) not in tools.search_path
    assert shown(tools) == {machine.prefix}


def test_bin_in_the_home_shows_itself_and_not_the_home(machine: Machine) -> None:
    machine.directory(machine.home / "lib" / "python3.12")
    own = machine.program(machine.home / "bin" / "tool").parent
    assert shown(machine.tools(own)) == {machine.prefix, own}


def test_an_installation_that_contains_the_state_is_not_shown_whole(machine: Machine) -> None:
    machine.python(machine.home / "conda")
    state = machine.directory(machine.home / "conda" / "state")
    view = HostView((str(machine.home / "conda" / "bin"),), machine.prefix, Path("/usr"), machine.home, (state,))
    assert shown(find_tools(view)) == {machine.prefix, machine.home / "conda" / "bin"}


def test_a_link_that_leads_to_the_home_shows_nothing(machine: Machine) -> None:
    link = machine.root / "opt-bin"
    link.symlink_to(machine.home)
    assert shown(machine.tools(link)) == {machine.prefix}


def test_a_program_that_links_to_nowhere_visible_is_not_found(machine: Machine) -> None:
    hidden = machine.program(machine.state / "hidden")
    scripts = machine.directory(machine.root / "opt" / "bin")
    (scripts / "hidden").symlink_to(hidden)
    assert machine.tools(scripts).which("hidden") is None


def test_a_program_that_is_nowhere_is_not_found(machine: Machine) -> None:
    assert machine.tools().which("no-such-program") is None
    assert machine.tools().which("sh") is not None


def test_this_process_can_be_looked_at(tmp_path: Path) -> None:
    view = HostView.of_this_process((tmp_path,))
    assert view.private == (tmp_path,)
    assert view.path == tuple(os.environ["PATH"].split(os.pathsep))
    assert tmp_path not in shown(find_tools(view))
