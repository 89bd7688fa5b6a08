"""Settings: environment over file, strict, and every mistake is one sentence."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from sweeper.config import Settings, load_settings
from sweeper.config.types import ListenAddress
from sweeper.errors import BadInput
from sweeper.model import Limits, MergeMode


@pytest.fixture(autouse=True)
def empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of its own, and nothing of ours in the environment."""
    for name in [name for name in os.environ if name.startswith("SWEEPER_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


def refusal(overrides: dict[str, object] | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        load_settings(overrides)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    settings = load_settings()
    assert settings.state_dir == tmp_path / "xdg" / "ci-sweeper"
    assert settings.github_url == "https://api.github.com"
    assert settings.webhook_secrets == ()
    sweep = settings.sweep_settings()
    assert (sweep.agents, sweep.max_attempts, sweep.merge_mode) == (("autofix",), 3, MergeMode.HAND_OVER)
    assert (sweep.poll_interval, sweep.checks_grace) == (timedelta(minutes=15), timedelta(minutes=2))
    assert sweep.timeouts.agent == timedelta(minutes=30)
    assert sweep.limits == Limits(files=20, lines=500, bytes=1_000_000)


ENVIRONMENT = {
    "STATE_DIR": "/srv/sweeper",
    "ARTIFACTS_URL": "s3://bucket/sweeper",
    "REVIEWERS": "ann, bob",
    "MUTE_TTL": "3d",
    "BACKOFF": "2h",
    "MAX_OPEN_PROPOSALS": "2",
    "MAX_SWEEPS_PER_HOUR": "9",
    "MAX_RUNNING_ATTEMPTS": "3",
    "STOP_GRACE": "5s",
    "RECONCILE_INTERVAL": "0s",
    "RECONCILE_LOOKBACK": "2d",
    "REPOSITORIES": "octo/*, ann/app",
    "ALERT_COMMAND": "mail -s stuck ops",
    "ALERT_URL": "https://hooks.example/secret",
    "LISTEN": "0.0.0.0:80",
    "ADMIN_LISTEN": "unix:/run/sweeper.sock",
    "GITHUB_URL": "http://127.0.0.1:9000/api/v3/",
    "GITHUB_TOKEN": "token-1",
    "APP_ID": "12",
    "APP_KEY_FILE": "/srv/key.pem",
    "WEBHOOK_SECRETS": "new, old,",
    "TEMPORAL_ADDRESS": "127.0.0.1:7233",
    "TEMPORAL_PROFILE": "prod",
    "TEMPORAL_CONFIG": "/srv/temporal.toml",
    "MARKER_KEY": "k" * 32,
    "AGENTS": "autofix, command",
    "AGENT_COMMAND": "mend --all",
    "AGENT_PATH": "/opt/agents/bin, /opt/more/bin",
    "AGENT_TIMEOUT": "90s",
    "MODEL": "openai:good",
    "MODEL_URL": "https://models.example/v1/",
    "MODEL_KEY": "key-1",
    "MODEL_PROVIDERS": "models.example",
    "PRICES": '{"good": {"input": 3, "output": "15.5"}}',
    "BUDGET": '{"model_calls": 7}',
    "BUDGET_REPOSITORY_DAY": '{"usd": 4}',
    "BUDGET_INSTALLATION_DAY": '{"wall": "2h"}',
    "MERGE_MODE": "merge",
    "MAX_ATTEMPTS": "5",
    "EVIDENCE_TTL": "36h",
    "PROPOSAL_TTL": "2d",
    "POLL_INTERVAL": "500ms",
    "CHECKS_GRACE": "0s",
    "CHECKS": "make lint\nmake test, again\n",
    "ALLOW_UNSANDBOXED": "true",
    "REPORT_ONLY": "1",
    "REGISTRIES": "pypi=https://ann:word@host/simple, npm=http://127.0.0.1:4873",
    "EGRESS": "models.example:443, [::1]:8080",
    "REDACT": "hunter-22, s3cret-value",
    "LIMITS": '{"files": 3}',
    "LOG_LEVEL": "debug",
    "HEARTBEAT": "2s",
    "BOT_NAME": "Mender",
    "BOT_EMAIL": "mender@example.org",
}


def test_every_setting_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(f"SWEEPER_{name}", value)
    settings = load_settings()
    assert {name.lower() for name in ENVIRONMENT} >= set(Settings.model_fields) - {"agent_preset"}
    assert settings.agent_path == (Path("/opt/agents/bin"), Path("/opt/more/bin"))
    assert settings.listen == ListenAddress(host="0.0.0.0", port=80)
    assert settings.admin_listen == ListenAddress(socket_path=Path("/run/sweeper.sock"))
    assert settings.github_url == "http://127.0.0.1:9000/api/v3"
    assert [secret.get_secret_value() for secret in settings.webhook_secrets] == ["new", "old"]
    assert (settings.app_id, settings.log_level, settings.allow_unsandboxed) == (12, "DEBUG", True)
    sweep = settings.sweep_settings()
    assert (sweep.agents, sweep.max_attempts, sweep.merge_mode) == (("autofix", "command"), 5, MergeMode.MERGE)
    assert (sweep.evidence_ttl, sweep.proposal_ttl) == (timedelta(hours=36), timedelta(days=2))
    assert (sweep.poll_interval, sweep.checks_grace) == (timedelta(milliseconds=500), timedelta())
    assert (sweep.timeouts.agent, sweep.report_only) == (timedelta(seconds=90), True)
    assert sweep.checks == ("make lint", "make test, again")
    assert sweep.limits == Limits(files=3)


def test_no_secret_shows_in_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "WEBHOOK_SECRETS", "MARKER_KEY"):
        monkeypatch.setenv(f"SWEEPER_{name}", "hunter2" * 6)
    assert "hunter2" not in repr(load_settings())


def test_the_environment_wins_over_the_file_and_options_over_both(
    empty_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (empty_place / "sweeper.toml").write_text('max_attempts = 2\nlisten = "127.0.0.1:1"\nreport_only = true\n')
    monkeypatch.setenv("SWEEPER_MAX_ATTEMPTS", "4")
    monkeypatch.setenv("SWEEPER_LISTEN", "127.0.0.1:2")
    settings = load_settings({"listen": "127.0.0.1:3"})
    assert (settings.max_attempts, settings.listen.port, settings.report_only) == (4, 3, True)


def test_an_empty_variable_counts_as_absent(empty_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (empty_place / "sweeper.toml").write_text("max_attempts = 2\n")
    monkeypatch.setenv("SWEEPER_MAX_ATTEMPTS", "")
    assert load_settings().max_attempts == 2


def test_the_file_may_use_lists_and_tables(empty_place: Path) -> None:
    (empty_place / "sweeper.toml").write_text(
        'webhook_secrets = ["a,b", "c"]\nchecks = ["make test"]\n[limits]\nfiles = 1\nlines = 2\n'
    )
    settings = load_settings()
    assert [secret.get_secret_value() for secret in settings.webhook_secrets] == ["a,b", "c"]
    assert settings.sweep_settings().checks == ("make test",)
    assert settings.sweep_settings().limits == Limits(files=1, lines=2)


def test_the_file_is_looked_for_by_variable_then_here_then_in_the_state_directory(
    empty_place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, named = tmp_path / "state", tmp_path / "named.toml"
    state.mkdir()
    monkeypatch.setenv("SWEEPER_STATE_DIR", str(state))
    (state / "sweeper.toml").write_text("max_attempts = 1\n")
    assert load_settings().max_attempts == 1
    (empty_place / "sweeper.toml").write_text("max_attempts = 2\n")
    assert load_settings().max_attempts == 2
    named.write_text("max_attempts = 4\n")
    monkeypatch.setenv("SWEEPER_CONFIG", str(named))
    assert load_settings().max_attempts == 4


def test_a_strangers_working_directory_does_not_configure_us(empty_place: Path) -> None:
    (empty_place / "sweeper.toml").write_text('allow_unsandboxed = true\nagents = "nonsense"\n')
    assert not load_settings(use_working_directory=False).allow_unsandboxed


def test_a_named_file_that_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEPER_CONFIG", "/nowhere/sweeper.toml")
    assert "/nowhere/sweeper.toml" in refusal()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("max_atempts = 2\n", "did you mean max_attempts?"),
        ("colour = 'blue'\n", "`colour`"),
        ("SWEEPER_LISTEN = '127.0.0.1:1'\n", "SWEEPER_LISTEN"),
        ("max_attempts =\n", "TOML"),
        ("[limits]\nfils = 1\n", "limits.fils"),
        ("[limits]\nfiles = 0\n", "limits.files"),
    ],
)
def test_a_mistake_in_the_file_is_named(empty_place: Path, text: str, named: str) -> None:
    (empty_place / "sweeper.toml").write_text(text)
    assert named in refusal()


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("AGENT_TIMEOUT", "5", "90s, 15m"),
        ("AGENT_TIMEOUT", "5 minutes", "90s, 15m"),
        ("AGENT_TIMEOUT", "-5m", "90s, 15m"),
        ("AGENT_TIMEOUT", "99999d", "3650d"),
        ("PROPOSAL_TTL", "0s", "greater than 0"),
        ("POLL_INTERVAL", "0m", "greater than 0"),
        ("MERGE_MODE", "always", "'hand_over' or 'merge'"),
        ("MAX_ATTEMPTS", "0", "SWEEPER_MAX_ATTEMPTS"),
        ("MAX_ATTEMPTS", "many", "SWEEPER_MAX_ATTEMPTS"),
        ("LISTEN", "8080", "HOST:PORT"),
        ("LISTEN", "localhost:http", "HOST:PORT"),
        ("LISTEN", "127.0.0.1:70000", "HOST:PORT"),
        ("ADMIN_LISTEN", "0.0.0.0:8471", "this machine alone"),
        ("ADMIN_LISTEN", ":8471", "this machine alone"),
        ("ADMIN_LISTEN", "sweeper.example.org:8471", "this machine alone"),
        ("AGENTS", "autofx", "did you mean autofix?"),
        ("AGENTS", ",", "SWEEPER_AGENTS"),
        ("AGENTS", "command", "SWEEPER_AGENT_COMMAND"),
        ("APP_ID", "12", "SWEEPER_APP_KEY_FILE"),
        ("APP_KEY_FILE", "key.pem", "SWEEPER_APP_ID"),
        ("MARKER_KEY", "short", "SWEEPER_MARKER_KEY"),
        ("GITHUB_URL", "github", "SWEEPER_GITHUB_URL"),
        ("LIMITS", "20", "SWEEPER_LIMITS"),
        ("LIMITS", "files=20", "JSON"),
        ("BOT_EMAIL", "Mender <m@x>", "SWEEPER_BOT_EMAIL"),
        ("LOG_LEVEL", "loud", "SWEEPER_LOG_LEVEL"),
        ("REPORT_ONLY", "maybe", "SWEEPER_REPORT_ONLY"),
        ("WEBHOOK_SECRET", "x", "did you mean SWEEPER_WEBHOOK_SECRETS?"),
        ("MERGEMODE", "merge", "did you mean SWEEPER_MERGE_MODE?"),
    ],
)
def test_a_mistake_in_the_environment_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, named: str
) -> None:
    monkeypatch.setenv(f"SWEEPER_{name}", value)
    assert named in refusal()


@pytest.mark.parametrize("name", ["TASK", "TEST_DATA", "SOMETHING_ELSE"])
def test_variables_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"SWEEPER_{name}", "x")
    load_settings()


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "WEBHOOK_SECRETS", "MARKER_KEY"])
def test_a_refused_secret_is_not_repeated(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"SWEEPER_{name}", "hunter2")
    monkeypatch.setenv("SWEEPER_MARKER_KEY", "hunter2")
    assert "hunter2" not in refusal()


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("[::1]:81", "::1", 81),
        (":82", "0.0.0.0", 82),
        ("localhost:83", "localhost", 83),
    ],
)
def test_addresses_to_listen_on(monkeypatch: pytest.MonkeyPatch, text: str, host: str, port: int) -> None:
    monkeypatch.setenv("SWEEPER_LISTEN", text)
    assert load_settings().listen == ListenAddress(host=host, port=port)


@pytest.mark.parametrize("text", ["127.0.0.1:0", "127.0.0.2:1", "[::1]:81", "localhost:83", "unix:/run/x.sock"])
def test_the_admin_side_may_listen_where_only_this_machine_reaches(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SWEEPER_ADMIN_LISTEN", text)
    load_settings()
