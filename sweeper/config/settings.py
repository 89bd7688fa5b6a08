"""Settings of the service, read once by the cli and passed down.

The environment (`SWEEPER_<NAME>`) wins over one TOML file with the same names in lower case: the file `SWEEPER_CONFIG`
names, else `sweeper.toml` in the working directory, else the one in the state directory. An empty variable counts as
absent. Whatever is wrong is a BadInput of one sentence that never shows a value.
"""

import os
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, Self

from platformdirs import user_state_path
from pydantic import BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from sweeper.config.agents import AgentSettings, base_url, hint
from sweeper.config.types import (
    AdminAddress,
    CommaList,
    Duration,
    LineList,
    ListenAddress,
    Place,
    PublicAddress,
    RegistryAddress,
    parse_json,
    parse_place,
    parse_registry,
    upper,
)
from sweeper.errors import BadInput
from sweeper.model import Budgets, Limits, MergeMode, Strict, SweepSettings, Timeouts
from sweeper.model.crowd import Caps

ENV_PREFIX = "SWEEPER_"
CONFIG_VARIABLE = "SWEEPER_CONFIG"
CONFIG_NAME = "sweeper.toml"


class LimitSettings(Strict):
    """The largest change that may be proposed; above it a human takes over."""

    files: int = Field(default=20, ge=1, le=50)
    lines: int = Field(default=500, ge=1)
    bytes: int = Field(default=1_000_000, ge=1)


class Settings(AgentSettings):
    """All that an operator can decide. Build it with `load_settings`."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_ignore_empty=True, extra="forbid", frozen=True)

    state_dir: Path = Field(default_factory=lambda: user_state_path("ci-sweeper"))
    listen: PublicAddress = ListenAddress(host="127.0.0.1", port=8470)
    admin_listen: AdminAddress = ListenAddress(host="127.0.0.1", port=8471)
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(upper)] = "INFO"

    github_url: Annotated[str, BeforeValidator(base_url)] = "https://api.github.com"
    github_token: SecretStr | None = None
    app_id: int | None = Field(default=None, ge=1)
    app_key_file: Path | None = None
    webhook_secrets: Annotated[tuple[SecretStr, ...], NoDecode, CommaList] = ()
    marker_key: SecretStr | None = Field(default=None, min_length=32)
    bot_name: str = Field(default="CI Sweeper", min_length=1)
    bot_email: str = Field(default="ci-sweeper@ci-sweeper.invalid", pattern=r"^[^\s<>@]+@[^\s<>@]+$")

    temporal_address: str | None = None
    temporal_profile: str | None = None

    checks: Annotated[tuple[str, ...], NoDecode, LineList] = ()
    allow_unsandboxed: bool = False
    registries: Annotated[
        tuple[Annotated[RegistryAddress, BeforeValidator(parse_registry)], ...], NoDecode, CommaList
    ] = ()
    """Where packages come from instead of the well-known registries; never visible to the code under test."""
    egress: Annotated[tuple[Annotated[Place, BeforeValidator(parse_place)], ...], NoDecode, CommaList] = ()
    """The only other places that a set-up step may reach."""
    redact: Annotated[tuple[SecretStr, ...], NoDecode, CommaList] = ()
    """Values that may stand in no text or artefact of ours, besides all that looks like a token."""
    artifacts_url: str | None = None
    """Where big texts are kept, as fsspec names places; None: in the state directory."""
    max_open_proposals: int = Field(default=5, ge=1)
    max_sweeps_per_hour: int = Field(default=60, ge=1)
    max_running_attempts: int = Field(default=4, ge=1, le=64)
    limits: Annotated[LimitSettings, NoDecode, BeforeValidator(parse_json)] = LimitSettings()

    merge_mode: MergeMode = MergeMode.HAND_OVER
    report_only: bool = False
    reviewers: Annotated[tuple[str, ...], NoDecode, CommaList] = ()
    mute_ttl: Duration = Field(default=timedelta(days=30), gt=timedelta(0))
    backoff: Duration = timedelta(hours=1)
    """How long a cause is left alone for which agents found no fix; twice as long each time after that."""
    evidence_ttl: Duration = Field(default=timedelta(hours=24), gt=timedelta(0))
    proposal_ttl: Duration = Field(default=timedelta(days=7), gt=timedelta(0))
    poll_interval: Duration = Field(default=timedelta(minutes=15), gt=timedelta(0))
    checks_grace: Duration = timedelta(minutes=2)
    heartbeat: Duration = Field(default=timedelta(seconds=5), ge=timedelta(seconds=1))
    stop_grace: Duration = timedelta(seconds=10)
    """How long what a worker has under way may go on when it is told to stop."""

    reconcile_interval: Duration = Field(default=timedelta(minutes=5), ge=timedelta(0))
    reconcile_lookback: Duration = timedelta(hours=24)
    repositories: Annotated[tuple[str, ...], NoDecode, CommaList] = ()
    alert_command: str | None = None
    alert_url: SecretStr | None = None

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if (self.app_id is None) != (self.app_key_file is None):
            raise ValueError("SWEEPER_APP_ID and SWEEPER_APP_KEY_FILE belong together; set both or neither")
        return self

    def sweep_settings(self) -> SweepSettings:
        """The part that a sweep carries with it, so that a later change of ours does not change running sweeps."""
        return SweepSettings(
            agents=self.agents,
            max_attempts=self.max_attempts,
            merge_mode=self.merge_mode,
            evidence_ttl=self.evidence_ttl,
            proposal_ttl=self.proposal_ttl,
            poll_interval=self.poll_interval,
            checks_grace=self.checks_grace,
            report_only=self.report_only,
            checks=self.checks,
            reviewers=self.reviewers,
            mute_ttl=self.mute_ttl,
            backoff=self.backoff,
            places=self.max_running_attempts,
            caps=Caps(open_proposals=self.max_open_proposals, sweeps_per_hour=self.max_sweeps_per_hour),
            limits=Limits(files=self.limits.files, lines=self.limits.lines, bytes=self.limits.bytes),
            budgets=Budgets(
                sweep=self.budget.allowance(),
                repository_day=self.budget_repository_day.allowance(),
                installation_day=self.budget_installation_day.allowance(),
            ),
            timeouts=Timeouts(agent=self.agent_timeout, heartbeat=self.heartbeat),
        )


class _OnlyThese(Settings):
    """Settings from the values given and nothing else."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment and files are not read."""
        return (init_settings,)


def only_settings(values: Mapping[str, object]) -> Settings:
    """Exactly these, defaults for the rest: for `demo` and `try`, which must not act on what a service is set to.

    Raises BadInput.
    """
    try:
        return _OnlyThese.model_validate(dict(values))
    except ValidationError as error:
        raise BadInput(_sentence(error)) from None


def load_settings(overrides: Mapping[str, object] | None = None, *, use_working_directory: bool = True) -> Settings:
    """Read the environment and the file. `overrides` (field name to value, from command options) win over both.

    With `use_working_directory` False a `sweeper.toml` lying there is passed over: for commands that run inside
    somebody else's repository, whose files must not configure us. Raises BadInput.
    """
    _refuse_misspelt_variables()
    path = _config_file(use_working_directory)
    from_file = _read_file(path) if path else {}
    unset = {name: value for name, value in from_file.items() if not os.environ.get(_variable(name))}
    try:
        return Settings.model_validate({**unset, **(overrides or {})})
    except ValidationError as error:
        raise BadInput(_sentence(error)) from None


def _variable(field: str) -> str:
    return ENV_PREFIX + field.upper()


def _config_file(use_working_directory: bool) -> Path | None:
    if named := os.environ.get(CONFIG_VARIABLE):
        if not Path(named).is_file():
            raise BadInput(f"{CONFIG_VARIABLE} names {named}, which is no file; correct or unset it.")
        return Path(named)
    state_dir = os.environ.get(_variable("state_dir"))
    places = [Path(state_dir) if state_dir else user_state_path("ci-sweeper")]
    if use_working_directory:
        places.insert(0, Path.cwd())
    return next((place / CONFIG_NAME for place in places if (place / CONFIG_NAME).is_file()), None)


def _read_file(path: Path) -> dict[str, object]:
    try:
        values = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read as TOML, {error}; correct it.") from None
    for name in values:
        if name not in Settings.model_fields:
            meant = hint(name, list(Settings.model_fields))
            raise BadInput(f"{path} has the unknown key `{name}`{meant}; correct or remove it.")
    return values


def _refuse_misspelt_variables() -> None:
    """Other programs may own SWEEPER_ variables; only what looks like a slip of the pen is refused."""
    known = [*map(_variable, Settings.model_fields), CONFIG_VARIABLE]
    for name in sorted(os.environ):
        if name.startswith(ENV_PREFIX) and name not in known and (meant := hint(name, known, 0.9)):
            raise BadInput(f"The environment has the unknown variable {name}{meant}; correct or unset it.")


def _sentence(error: ValidationError) -> str:
    """The first fault, by the names it has in both places. The value may be secret and is left out."""
    fault = error.errors(include_input=False, include_url=False, include_context=False)[0]
    text = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        text = f"it has no part called {fault['loc'][-1]!r}"
    if not fault["loc"]:
        return f"The settings do not fit together: {text}."
    field = str(fault["loc"][0])
    inner = "".join(f".{part}" for part in fault["loc"][1:] if isinstance(part, str))
    return f"The setting {_variable(field)} ({field}{inner} in {CONFIG_NAME}) cannot be used: {text}."
