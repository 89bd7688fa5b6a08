"""`.github/sweeper.yml`: what it may say, and how a mistake in it is told."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.errors import BadInput
from sweeper.model import Limits
from sweeper.policy.repository_config import (
    CONFIG_PATH,
    ChangeLimits,
    RepositoryConfig,
    config_schema,
    read_config,
    tightened,
)

PUBLISHED = Path(__file__).parents[3] / ".github" / "schemas" / "sweeper-config-1.json"

WHOLE = b"""
setup:
  - pip install -e .[test]
checks: [pytest -q, "3.11"]
protected:
  - docs/**
limits: {files: 3, lines: 100}
"""


def test_reads_all_it_may_say() -> None:
    assert read_config(WHOLE) == RepositoryConfig(
        setup=("pip install -e .[test]",),
        checks=("pytest -q", "3.11"),
        protected=("docs/**",),
        limits=ChangeLimits(files=3, lines=100),
    )


@pytest.mark.parametrize("data", [None, b"", b"# nothing yet\n", b"{}"])
def test_nothing_said_is_all_defaults(data: bytes | None) -> None:
    assert read_config(data) == RepositoryConfig()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\nchekcs: [a]", ", line 2: there is no setting 'chekcs', did you mean 'checks'?"),
        (b"limits:\n  fils: 1", ", line 2: there is no setting 'fils', did you mean 'files'?"),
        (b"colour: red", ", line 1: there is no setting 'colour', there are setup, checks, protected, limits."),
        (b"setup: []\nunprotected: [x]", ", line 2: there is no setting 'unprotected', did you mean 'protected'?"),
        (b"checks: make", ", line 1: 'checks' has to be a list of commands or paths, one after a dash each; correct"),
        (b"checks:\n", ", line 1: 'checks' has to be a list"),
        (b"checks:\n  - a\n  - 3.1", ", line 3: 'checks' has to hold texts; quote what looks like a number"),
        (b"checks:\n- a\n- true", ", line 3: 'checks' has to hold texts"),
        (b"checks: {a: b}", ", line 1: 'checks' has to be a list"),
        (b"checks: ['']", ", line 1: 'checks' is refused"),
        (b"limits:\n  files: 0", ", line 2: 'limits.files' has to be a whole number above 0; correct it."),
        (b"limits:\n  lines: many", ", line 2: 'limits.lines' has to be a whole number"),
        (b"limits:\n  bytes: 1.5", ", line 2: 'limits.bytes' has to be a whole number"),
        (b"limits: {files: true}", ", line 1: 'limits.files' has to be a whole number"),
        (b"limits: 3", ", line 1: 'limits' has to be a mapping"),
        (b"- a", ", line 1: 'the file' has to be a mapping"),
        (b"checks: [a]\nsetup: []\nchecks: [b]", ", line 3: 'checks' is set a second time; keep one of them."),
        (b"limits: {files: 1, files: 2}", ", line 1: 'limits.files' is set a second time"),
        (b"checks:\n  a: b: c", ", line 2, is not valid YAML; correct it."),
        (b"checks: [" + b"a," * 101 + b"a]", ", line 1: 'checks' is refused"),
        (b"checks: [" + b"x" * 4001 + b"]", ", line 1: 'checks' is refused"),
        (b"x" * 200_000, " is larger than 128 KiB; correct it."),
        (b"a: &a [*a]", " unfolds to too many values; correct it."),
        (b"[" * 900, " is not valid YAML; correct it."),
        (b"1: 2", ", line 1: '1.0' is refused"),
        (b"[1]: 2", ", line 1, is not valid YAML"),
        (b"zzz: 1\nchecks: 5", ", line 1: there is no setting 'zzz'"),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place_and_a_way_out(data: bytes, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_config(data)
    assert str(refused.value).startswith(CONFIG_PATH + said)
    assert len(str(refused.value)) < 300


@given(st.binary(max_size=200) | st.text("checks:[]{}-&*a \n'\"", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        assert isinstance(read_config(data), RepositoryConfig)
    except BadInput as refused:
        message = str(refused)
        assert message.startswith(CONFIG_PATH)


def test_limits_can_only_become_less() -> None:
    limits = Limits(files=20, lines=500, bytes=1000)
    asked = RepositoryConfig(limits=ChangeLimits(files=3, lines=9999))
    assert tightened(limits, asked) == Limits(files=3, lines=500, bytes=1000)
    assert tightened(limits, RepositoryConfig()) == limits


def test_the_published_schema_is_the_models_own() -> None:
    assert json.loads(PUBLISHED.read_text()) == config_schema()
