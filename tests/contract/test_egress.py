"""Package managers in a sandbox with a gate: they install from a registry, and again without it from the cache."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from adapters.egress import RegistryDownloads
from adapters.sandbox import Bubblewrap, Unsandboxed
from adapters.sandbox.layout import HOME_AT
from sweeper.errors import BadInput
from sweeper.model import Tool
from sweeper.policy.environment import EnvironmentPlan, environment_steps
from sweeper.ports import Gate, SandboxResult
from tests.support.registry import LoopbackRegistry, sdist, wheel
from tests.support.sandboxes import Room, limits, usable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
"""Package managers take their time on a busy machine."""

INSTALL = (
    'python3 -m pip install --target "$HOME/site" {} && PYTHONPATH="$HOME/site" python3 -c "import {}; print({}.WORD)"'
)


@pytest.fixture
async def room(tmp_path: Path) -> Room:
    return Room(await usable(Bubblewrap()), tmp_path)


@pytest.fixture
def registry() -> Iterator[LoopbackRegistry]:
    with LoopbackRegistry() as registry:
        registry.publish_python("needed", sdist("needed", "2.0", "WORD = 'needed'\n"), as_json=False)
        registry.publish_python("tiny", wheel("tiny", "1.0", "from needed import WORD\n", requires=["needed>=1"]))
        yield registry


@pytest.fixture
def downloads(registry: LoopbackRegistry, tmp_path: Path) -> RegistryDownloads:
    return RegistryDownloads(tmp_path / "cache", {"pypi": f"{registry.url}/simple", "npm": registry.url})


class Tree:
    """A home of its own in a room."""

    def __init__(self, room: Room, place: Path) -> None:
        self._room = room
        self.home = place
        self.home.mkdir()

    async def run(self, gate: Gate, script: str, env: Mapping[str, str] | None = None) -> SandboxResult:
        return await self._room.sh(script, home=str(self.home), gate=gate.directory, env={**gate.env, **(env or {})})


def install(name: str) -> str:
    return INSTALL.format(name, name, name)


async def test_pip_installs_a_wheel_and_a_source_distribution_then_both_offline(
    room: Room, registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    async with downloads.fetching() as gate:
        result = await Tree(room, tmp_path / "one").run(gate, install("tiny"))
        assert (result.exit_code, result.output.splitlines()[-1:]) == (0, [b"needed"])
    registry.stop()
    async with downloads.cached() as gate:
        result = await Tree(room, tmp_path / "other").run(gate, install("tiny"))
        assert (result.exit_code, result.output.splitlines()[-1:]) == (0, [b"needed"])
        assert gate.refused == ()


async def test_a_package_that_is_not_in_the_cache_fails_offline_and_is_named(
    room: Room, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    async with downloads.cached() as gate:
        result = await Tree(room, tmp_path / "one").run(gate, install("tiny"))
        assert (result.exit_code, gate.refused) == (1, ("/pypi/simple/tiny/",))


async def test_each_tree_gets_a_virtual_environment_without_any_network(
    room: Room, registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    (python, *_) = [tool for tool in room.sandbox.installed() if tool.name == "python"]
    plan = environment_steps([Tool(name="python", version=python.version)], room.sandbox.installed())
    assert isinstance(plan, EnvironmentPlan)
    tree = Tree(room, tmp_path / "one")
    async with downloads.cached() as gate:
        result = await tree.run(gate, "\n".join(["set -e", plan.exports(), *plan.commands]))
        assert (result.exit_code, result.output) == (0, b"")
    async with downloads.fetching() as gate:
        script = "pip install -q tiny; command -v pip; python -c 'import tiny; print(tiny.WORD)'"
        result = await tree.run(gate, f"set -e\n{plan.exports()}{script}")
        assert result.output.decode() == f"{HOME_AT}/venv/bin/pip\nneeded\n"
        bare = "python -c 'import tiny' 2>/dev/null || echo unknown"
        assert (await Tree(room, tmp_path / "other").run(gate, bare)).output == b"unknown\n"


async def test_npm_installs_by_the_lock_file_then_offline(
    room: Room, registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    if "npm" not in {tool.name for tool in room.sandbox.installed()}:
        pytest.skip("npm is not on this machine")
    integrity = registry.publish_npm("tiny", "1.0.0", "module.exports = 'tiny'\n")
    elsewhere = "https://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz"
    locked = {"version": "1.0.0", "resolved": elsewhere, "integrity": integrity}
    wants = {"dependencies": {"tiny": "1.0.0"}}
    lock = {"name": "x", "lockfileVersion": 3, "requires": True, "packages": {"": wants, "node_modules/tiny": locked}}
    room.write({"package.json": json.dumps({"name": "x", **wants}), "package-lock.json": json.dumps(lock)})
    script = "rm -rf node_modules && npm ci >&2 && node -p \"require('tiny')\""
    async with downloads.fetching() as gate:
        result = await Tree(room, tmp_path / "one").run(gate, script)
        assert (result.exit_code, result.output.splitlines()[-1:]) == (0, [b"tiny"])
    registry.stop()
    async with downloads.cached() as gate:
        result = await Tree(room, tmp_path / "other").run(gate, script)
        assert (result.exit_code, result.output.splitlines()[-1:]) == (0, [b"tiny"])


async def test_without_a_sandbox_the_gate_is_found_as_well(
    registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    room = Room(Unsandboxed(), tmp_path)
    async with downloads.fetching() as gate:
        result = await Tree(room, tmp_path / "one").run(gate, install("tiny"))
    assert (result.exit_code, result.output.splitlines()[-1:]) == (0, [b"needed"])


@pytest.mark.parametrize(
    ("script", "code", "limit"),
    [
        ("exit 7", 7, None),
        ("kill -9 $$", 137, None),
        ("no-such-program", 127, None),
        ("yes | head -n 1; exit 3", 3, None),
        ("exec head -c 9000000 /dev/zero >big", 153, "file_size"),
        ("exec sleep 600", None, "time"),
        ("exec yes", None, "output"),
    ],
)
async def test_a_command_ends_behind_a_gate_as_it_does_without(
    room: Room, downloads: RegistryDownloads, script: str, code: int | None, limit: str | None
) -> None:
    bounds = limits(seconds=8.0, file_bytes=1 << 20, output_bytes=3 << 20)
    async with downloads.cached() as gate:
        behind = await room.sh(script, gate=gate.directory, limits=bounds)
    assert (behind.exit_code, behind.limit) == (code, limit)


async def test_a_command_behind_a_gate_ignores_no_more_signals_and_has_no_child_it_did_not_start(
    room: Room, downloads: RegistryDownloads
) -> None:
    """What whoever started us has ignored (nohup does) is ignored inside as well, with and without a gate."""
    ignored = "grep SigIgn /proc/self/status"
    without = await room.text(ignored)
    async with downloads.cached() as gate:
        printed = await room.text(f"{ignored}; cat /proc/$$/task/$$/children; wait", gate=gate.directory)
    assert printed.split()[:2] == without.split()
    assert len(printed.split()) <= 3  # the program that prints the list is a child itself


async def test_what_one_command_leaves_at_home_is_there_for_the_next(room: Room, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert await room.text('echo kept >"$HOME/x"; echo "$HOME"', home=str(home)) == f"{HOME_AT}\n"
    assert await room.text('cat "$HOME/x"', home=str(home)) == "kept\n"
    assert await room.text('ls -A "$HOME"') == ""


async def test_a_directory_that_is_no_open_gate_is_refused(room: Room, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not the directory of an open gate"):
        await room.sh("true", gate=str(tmp_path))


@pytest.mark.parametrize("name", ["nowhere", "link"])
async def test_a_home_has_to_be_a_directory(room: Room, tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(BadInput, match="cannot be the home"):
        await room.sh("true", home=str(tmp_path / name))


async def test_the_tools_that_are_here_say_their_full_versions(room: Room) -> None:
    versions = {tool.name: tool.version for tool in room.sandbox.installed()}
    said = (await room.text("python3 --version")).split()[1]
    assert versions["python"] == said
    assert room.sandbox.installed() is room.sandbox.installed()
