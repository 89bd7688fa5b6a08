import re
from datetime import UTC, datetime

import pytest

from sweeper import errors
from sweeper.errors import BY_NAME, NON_RETRYABLE, RateLimited, Retry, SweeperError
from sweeper.worker import as_application_error

ALL = sorted(BY_NAME.values(), key=lambda cls: cls.__name__)
RETRY_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def _make(cls: type[SweeperError]) -> SweeperError:
    if issubclass(cls, RateLimited):
        return cls("Wait until noon.", retry_at=RETRY_AT)
    return cls("Wait until noon.")


def _descendants(cls: type[SweeperError]) -> set[type[SweeperError]]:
    return {cls, *(found for child in cls.__subclasses__() for found in _descendants(child))}


def test_every_class_is_known_by_its_name() -> None:
    assert set(BY_NAME.values()) == _descendants(SweeperError)
    assert all(cls.__name__ == name for name, cls in BY_NAME.items())


@pytest.mark.parametrize("cls", ALL)
def test_only_what_may_succeed_soon_is_retried(cls: type[SweeperError]) -> None:
    assert (cls.__name__ in NON_RETRYABLE) == (cls.retry is not Retry.SOON)


def test_a_subclass_goes_on_like_its_parent() -> None:
    assert {"MissingProgram", "BadInput", "NotFound", "PolicyDenied", "MergeRefused", "NonDeterminism"} <= set(
        NON_RETRYABLE
    )
    assert set(NON_RETRYABLE).isdisjoint({"Transient", "OutcomeUnknown", "OutOfReach"})


@pytest.mark.parametrize("cls", ALL)
def test_every_class_says_what_it_means_and_how_a_command_ends(cls: type[SweeperError]) -> None:
    assert cls.__doc__
    assert cls.__doc__.strip().endswith(".")
    assert cls.exit_code in {1, 2, 3, 4}


def test_the_drawing_shows_every_class_below_its_parent() -> None:
    drawn: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"    ((?:[│├└─ ]{4})*)([A-Z]\w+)\s{2,}\S", line):
            drawn.append((len(found[1]) // 4, found[2]))
    parents: dict[str, str] = {}
    path: list[str] = []
    for depth, name in drawn:
        path = [*path[:depth], name]
        if depth:
            parents[name] = path[depth - 1]
    expected = {name: cls.__bases__[0].__name__ for name, cls in BY_NAME.items() if cls is not SweeperError}
    assert parents == expected


@pytest.mark.parametrize("cls", ALL)
def test_temporal_is_told_type_sentence_and_retry(cls: type[SweeperError]) -> None:
    told = as_application_error(_make(cls))
    assert (told.type, told.message) == (cls.__name__, "Wait until noon.")
    assert told.non_retryable is (cls.retry is not Retry.SOON)


def test_a_rate_limit_tells_temporal_until_when() -> None:
    assert as_application_error(_make(RateLimited)).details == (RETRY_AT.isoformat(),)
    assert as_application_error(_make(errors.Transient)).details == ()
