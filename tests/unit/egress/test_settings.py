"""The operator's registries and places, as they are written and as they are refused."""

import pytest

from sweeper.config import only_settings
from sweeper.errors import BadInput


def test_registries_and_places_are_read() -> None:
    settings = only_settings(
        {
            "registries": "pypi=https://ann:word@host/simple, npm=http://host:4873",
            "egress": "Host.example:443, [::1]:80",
        }
    )
    assert [(item.kind, item.url.get_secret_value()) for item in settings.registries] == [
        ("pypi", "https://ann:word@host/simple"),
        ("npm", "http://host:4873"),
    ]
    assert [(place.host, place.port) for place in settings.egress] == [("host.example", 443), ("::1", 80)]
    assert "word" not in repr(settings)


@pytest.mark.parametrize("text", ["pypi", "pypi=", "pypi=host/word", "=https://word", "p y=https://word"])
def test_a_registry_that_cannot_be_read_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(BadInput, match=r"SWEEPER_REGISTRIES .* is KIND=URL") as error:
        only_settings({"registries": text})
    assert "word" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["host", "host:", "*.host:443", "host:0", "host:70000", "::1:80", "https://host:443", "host:443/x", "[x]:1"]
)
def test_a_place_that_leaves_something_open_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"SWEEPER_EGRESS .* exactly host:port"):
        only_settings({"egress": text})
